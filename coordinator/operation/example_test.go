package operation_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
)

// answerer is the handler of the server in the example.
func answerer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"asked_by": %q}`, r.Header.Get("Idempotency-Key"))
}

// checkedBinding returns a binding compiled by package template.
func checkedBinding(b template.Binding) (*template.Bound, error) {
	checked, err := template.Check(&template.Workflow{Name: "example", Operations: map[string]template.Binding{"op": b}}, template.Known{})
	if err != nil {
		return nil, err
	}
	return checked.Bindings["op"], nil
}

// carryOut makes a call of an operation like an engine.
func carryOut[In, Out any](op template.Op[In, Out], input any) (any, error) {
	c := &operation.Call{Request: call.Request{Run: "run-1", Node: "step", Attempt: 2, Input: input}}
	c.Begin(context.Background())
	return op.Implementation().(operation.Caller).Call(c)
}

// A Go function becomes an operation: its input is decoded from the step's input, and its result is the step's output.
func ExampleDefine() {
	type order struct {
		Item     string `json:"item"`
		Quantity int    `json:"quantity"`
	}
	pack := operation.Define("pack", func(_ context.Context, o order) (string, error) {
		return fmt.Sprintf("%d boxes of %s", o.Quantity, o.Item), nil
	})
	fmt.Println(pack.Name())
	fmt.Println(carryOut(pack, map[string]any{"item": "tea", "quantity": 3}))
	// Output:
	// pack
	// 3 boxes of tea <nil>
}

// A pure function is called without a separate goroutine, and its answer is journaled with its request.
func ExampleDefinePure() {
	double := operation.DefinePure("double", func(n int) (int, error) { return 2 * n, nil })
	fmt.Println(carryOut(double, 21))
	// Output: 42 <nil>
}

// Workflows can distinguish errors by their codes; a permanent error is not retried.
func ExampleError() {
	charge := operation.Define("charge", func(_ context.Context, cents int) (string, error) {
		if cents > 100_00 {
			return "", &operation.Error{Code: "declined", Message: "too much for this card", Permanent: true}
		}
		return "", errors.New("the bank is busy")
	})
	for _, cents := range []int{200_00, 5_00} {
		_, err := carryOut(charge, cents)
		failure, _ := operation.FailureOf(err)
		fmt.Println(failure.Code, failure.Message, failure.Retryable)
	}
	// Output:
	// declined too much for this card false
	// error the bank is busy true
}

// CallOf returns the call. Its key is the same for every attempt, so a server that honours the key does the work once.
func ExampleCallOf() {
	send := operation.Define("send", func(ctx context.Context, _ any) (string, error) {
		c := operation.CallOf(ctx)
		return fmt.Sprintf("attempt %d of %s", c.Attempt, c.Key()), nil
	})
	fmt.Println(carryOut(send, nil))
	// Output: attempt 2 of run-1/step <nil>
}

func ExampleBind() {
	bound, err := checkedBinding(template.Binding{Command: &template.Command{
		Argv: []string{"tr", "a-z", "A-Z"}, Stdin: "{{ input.word }}", Output: "text",
	}})
	if err != nil {
		panic(err)
	}
	caller, err := operation.Bind(bound)
	if err != nil {
		panic(err)
	}
	call := &operation.Call{Request: call.Request{Run: "run-1", Node: "shout", Attempt: 1, Input: map[string]any{"word": "sluice"}}}
	call.Begin(context.Background())
	fmt.Println(caller.Call(call))
	// Output: SLUICE <nil>
}

func ExampleBind_http() {
	server := httptest.NewServer(http.HandlerFunc(answerer))
	defer server.Close()
	bound, err := checkedBinding(template.Binding{HTTP: &template.HTTP{URL: "{{ participant.endpoint }}/quote", Body: "{{ input }}"}})
	if err != nil {
		panic(err)
	}
	caller, err := operation.Bind(bound)
	if err != nil {
		panic(err)
	}
	call := &operation.Call{
		Request: call.Request{Run: "run-1", Node: "solicit", Participant: "ann", Attempt: 1},
		About:   map[string]any{"endpoint": server.URL},
	}
	call.Begin(context.Background())
	out, err := caller.Call(call)
	fmt.Println(out.(map[string]any)["body"], err)
	// Output: map[asked_by:run-1/solicit/ann] <nil>
}
