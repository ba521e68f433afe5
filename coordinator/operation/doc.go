// Package operation defines the operations that steps call: Go functions with types, and the bindings of documents (command, http).
//
//	var Split = operation.Define("split", func(ctx context.Context, text string) ([]string, error) {
//		return strings.Fields(text), nil
//	})
//
// A Go function receives its input decoded into its own type, and shares no memory with other steps. If it returns an error, the call
// is retried by the timing of the step, unless the error is Permanent; Error adds a code. A panic, also in a method of the output,
// fails only the call, with code panic. CallOf(ctx) returns the call. The call's Key is the idempotency key: the same for every
// automatic retry, also after a crash.
package operation
