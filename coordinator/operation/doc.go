// Package operation is what steps call: Go functions with types, and the bindings that documents name (command, http).
//
//	var Split = operation.Define("split", func(ctx context.Context, text string) ([]string, error) {
//		return strings.Fields(text), nil
//	})
//
// A Go function gets its input decoded into its own type and shares no memory with other steps. An error it returns is
// retried as far as the step's timing says, unless it is Permanent; Error carries a code. A panic fails the call with code
// panic, and only the call; so does one in a method of what it returns. What CallOf(ctx) gives says which request is being made; its Key is the idempotency key, the same
// for every automatic retry and after a crash.
package operation
