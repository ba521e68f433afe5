package operation_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
)

// answerer is a server for the example.
func answerer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"asked_by": %q}`, r.Header.Get("Idempotency-Key"))
}

// checkedBinding gives a binding as package template compiles it.
func checkedBinding(b template.Binding) (*template.Bound, error) {
	checked, err := template.Check(&template.Workflow{Name: "example", Operations: map[string]template.Binding{"op": b}}, template.Known{})
	if err != nil {
		return nil, err
	}
	return checked.Bindings["op"], nil
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
