package sluice_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"slices"
	"time"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/kinds"
)

// must returns v, or panics if err is not nil. It keeps the examples short. They are in reading order.
func must[T any](v T, err error) T {
	if err != nil {
		log.Panic(err)
	}
	return v
}

// A workflow may also be a document. Its operations are bound in the document, or are Go functions of the program.
func Example_document() {
	ctx := context.Background()
	workflow := must(template.Parse("shout.yaml", must(os.ReadFile("testdata/workflows/shout.yaml"))))
	engine := must(sluice.Open(ctx, "", coordinator.Config{Operations: []coordinator.Operation{split, upper}}))
	defer engine.Shutdown(ctx)

	run := must(engine.Start(ctx, workflow, "from a document"))
	var words []string
	err := must(run.Wait(ctx)).Decode(&words)
	fmt.Println(words, err)
	// Output:
	// [FROM A DOCUMENT] <nil>
}

// The tools of a playbook are also operations of the program. Package kinds reads documents of every kind.
func Example_playbook() {
	ctx := context.Background()
	double := operation.Define("double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	checked := must(kinds.Load("grow.yaml", []byte(`
apiVersion: sluice/v1
kind: Playbook
metadata: {name: grow}
workload: {from: 1}
workflow:
  - step: grow
    tool: {kind: double, input: "{{ args.n ?? workload.from }}"}
    next:
      arcs:
        - {step: grow, when: '{{ event.name == "step.done" && event.result < 20 }}', args: {n: "{{ event.result }}"}}
        - {step: release, when: '{{ event.name == "step.done" }}', args: {n: "{{ event.result }}"}}
  - step: release
    spec: {policy: {admit: {rules: [{when: "{{ ctx.approved == true }}", then: {allow: true}}, {else: {then: {allow: false}}}]}}}
    tool: {kind: double, input: "{{ args.n }}"}
`), template.Known{Operation: func(name string) bool { return name == "double" }}))
	engine := must(sluice.Open(ctx, "", coordinator.Config{Operations: []coordinator.Operation{double}}))
	defer engine.Shutdown(ctx)

	run := must(engine.Start(ctx, checked.Workflow, map[string]any{"from": 3}))
	if err := run.Patch(ctx, map[string]any{"approved": true}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(must(run.Wait(ctx)).Output)
	// Output:
	// 48
}

// The result of a run that did not complete has the failure that ended the run. Codes distinguish failures.
func Example_errors() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	pay := operation.Define("pay", func(_ context.Context, cents int) (string, error) {
		return "", &operation.Error{Code: "declined", Message: fmt.Sprintf("no cover for %d", cents), Permanent: true}
	})
	workflow := flow.MustDefine("shop", flow.Call("pay", pay, flow.Input[int]()))

	run := must(engine.Start(ctx, workflow, 3900))
	result := must(run.Wait(ctx))
	failure, ok := errors.AsType[*journal.Failure](result.Err())
	fmt.Println(result.Status, ok, failure.Code, failure.Message)
	// Output:
	// failed true declined no cover for 3900
}

// The step configures the number of attempts of a failed call and the delays between them. The idempotency key stays the same.
func Example_retry() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	fetch := operation.Define("fetch", func(ctx context.Context, url string) (string, error) {
		call := operation.CallOf(ctx)
		fmt.Println("attempt", call.Attempt, "with key", call.Key())
		if call.Attempt < 3 {
			return "", errors.New("the line is busy")
		}
		return "a page", nil
	})
	page := flow.Call("page", fetch, flow.Input[string](),
		flow.Timeout(time.Minute), // of each attempt
		flow.Retry(template.Retry{MaxAttempts: 5, Backoff: time.Millisecond, Multiplier: 2}))

	run := must(engine.Start(ctx, flow.MustDefine("read", page, flow.Output(page)), "/", coordinator.WithID("read-1")))
	fmt.Println(must(run.Wait(ctx)).Output)
	// Output:
	// attempt 1 with key read-1/page
	// attempt 2 with key read-1/page
	// attempt 3 with key read-1/page
	// a page
}

// An If on the status of a step catches its failure. After it, Coalesce reads the result, which may be missing.
func Example_catch() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	solicit := operation.Define("solicit", func(context.Context, any) (int, error) {
		return 0, operation.Permanent(errors.New("nobody answers"))
	})
	apologize := operation.Define("apologize", func(context.Context, any) (string, error) { return "sorry", nil })
	print := operation.Define("print", func(_ context.Context, cents int) (string, error) {
		return fmt.Sprintf("%d cents", cents), nil
	})

	price := flow.Call("price", solicit, nil)
	tag := flow.Call("tag", print, flow.Coalesce(price, flow.Value(99)))
	quote := flow.MustNew("quote", flow.Input[any](), flow.Output(tag),
		price,
		flow.If(flow.Completed(price), flow.Else(flow.Call("apology", apologize, nil))),
		tag,
	)
	result := must(must(sluice.Start(ctx, engine, quote, nil)).Wait(ctx))
	fmt.Println(result.Status, result.Output)
	// Output:
	// completed 99 cents
}

// Choose runs one of two steps and returns its result, here for each item of a list.
func Example_choose() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	buy := operation.Define("buy", func(_ context.Context, cents int) (string, error) { return fmt.Sprint("bought for ", cents), nil })
	lend := operation.Define("lend", func(_ context.Context, cents int) (string, error) { return fmt.Sprint("lent for ", cents), nil })
	isCheap := flow.NewFunc("is cheap", func(cents int) bool { return cents < 100 })

	prices := flow.Input[[]int]()
	had := flow.Each("had", prices, func(cents flow.Ref[int]) flow.Choice[string] {
		return flow.Choose(isCheap.Of(cents), flow.Call("buy", buy, cents), flow.Call("lend", lend, cents))
	})
	run := must(sluice.Start(ctx, engine, flow.MustNew("get", prices, flow.Output(had), had), []int{30, 200}))
	for _, how := range must(run.Wait(ctx)).Output {
		fmt.Println(how)
	}
	// Output:
	// bought for 30
	// lent for 200
}

// A Go function decides, lists or computes where data alone does not suffice. A function of several arguments takes a struct
// with fields that are set to results.
func Example_function() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	type offer struct {
		Cents int `json:"cents"`
		Limit int `json:"limit"`
	}
	fits := flow.NewFunc("fits", func(o offer) bool { return o.Cents <= o.Limit }) // in a program, at package level
	ask := operation.Define("ask", func(context.Context, any) (int, error) { return 3900, nil })
	buy := operation.Define("buy", func(_ context.Context, cents int) (string, error) { return "bought", nil })

	var o offer
	limit, price := flow.Input[int](), flow.Call("price", ask, nil)
	bought := flow.Call("bought", buy, price)
	workflow := flow.MustNew("order", limit, flow.Output(flow.FromOr(bought, "too dear")),
		price,
		flow.If(fits.Of(flow.Struct(&o, flow.Set(&o.Cents, price), flow.Set(&o.Limit, limit))), flow.Then(bought)),
	)
	for _, cents := range []int{3000, 4000} {
		fmt.Println(must(must(sluice.Start(ctx, engine, workflow, cents)).Wait(ctx)).Output)
	}
	// Output:
	// too dear
	// bought
}

// A workflow can be a step of another, with types like any step. It runs as a separate run.
func Example_child() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	word := flow.Input[string]()
	loud := flow.Call("upper", upper, word)
	shout := flow.MustNew("shout", word, flow.Output(loud), loud)

	words := flow.Call("words", split, flow.Input[string]())
	all := flow.Each("all", words, func(word flow.Ref[string]) flow.Ref[string] { return flow.Sub("", shout, word) })
	run := must(sluice.Start(ctx, engine, flow.MustNew("chant", flow.Input[string](), flow.Output(all), words, all),
		"row the boat", coordinator.WithID("chant-1")))
	fmt.Println(must(run.Wait(ctx)).Output)
	below := must(engine.Run(ctx, "chant-1/shout[2]#1"))
	fmt.Println(must(below.Wait(ctx)).Output)
	// Output:
	// [ROW THE BOAT]
	// BOAT
}

// Parallel runs steps side by side, and MaxConcurrency bounds how many at a time: here one, so in the order written.
func Example_parallel() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	say := operation.Define("say", func(_ context.Context, word string) (any, error) {
		fmt.Println(word)
		return nil, nil
	})
	workflow := flow.MustDefine("locks", flow.Parallel(flow.MaxConcurrency(1),
		flow.Call("upper", say, flow.Value("upper gate")),
		flow.Call("middle", say, flow.Value("middle gate")),
		flow.Call("lower", say, flow.Value("lower gate")),
	))

	run := must(engine.Start(ctx, workflow, nil))
	fmt.Println(must(run.Wait(ctx)).Status)
	// Output:
	// upper gate
	// middle gate
	// lower gate
	// completed
}

// Nodes that a program makes are a flow.Nodes, which can be used like a node.
func Example_dynamic() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	say := operation.Define("say", func(_ context.Context, word string) (any, error) {
		fmt.Println(word)
		return nil, nil
	})
	var gates flow.Nodes
	for _, gate := range []string{"upper", "lower"} {
		gates = append(gates, flow.Call(gate, say, flow.Value(gate+" gate")))
	}
	workflow := flow.MustDefine("gates", flow.Parallel(flow.MaxConcurrency(1), gates), flow.Call("done", say, flow.Value("done")))
	fmt.Println(must(must(engine.Start(ctx, workflow, nil)).Wait(ctx)).Status)
	// Output:
	// upper gate
	// lower gate
	// done
	// completed
}

// Watch yields the durable events of a run, from its first event or any other on, with the changes of statuses.
func Example_watch() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	words := flow.Call("words", split, flow.Input[string]())
	first := flow.Call("first", upper, flow.Select[string](words, "/0"))

	run := must(engine.Start(ctx, flow.MustDefine("head", words, first), "up the river"))
	for update, err := range run.Watch(ctx, 1) {
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, c := range update.Changes {
			fmt.Println(update.Event.Seq, c.Step, c.From, "→", c.To)
		}
	}
	// Output:
	// 1 words idle → ready
	// 2 words ready → running
	// 2 first idle → waiting
	// 3 words running → completed
	// 3 first waiting → ready
	// 4 first ready → running
	// 5 first running → completed
}

// The call graph holds the calls of a run, and the dependencies between them. It includes the calls of child runs.
func Example_callGraph() {
	ctx := context.Background()
	workflow := must(template.Parse("letters.yaml", []byte(`
kind: Workflow
name: letters
steps:
  - {operation: split, input: "a b"}
  - map: {id: each, over: "{{ steps.split.output }}", as: word, steps: [{operation: upper, input: "{{ word }}"}]}
  - {id: again, operation: split, input: "c"}`)))
	engine := must(sluice.Open(ctx, "", coordinator.Config{Operations: []coordinator.Operation{split, upper}}))
	defer engine.Shutdown(ctx)

	run := must(engine.Start(ctx, workflow, nil, coordinator.WithID("r"), coordinator.WithIdentity(journal.Identity{ID: "ann"})))
	must(run.Wait(ctx))
	calls := must(run.CallGraph(ctx))
	for e := range calls.Edges() {
		fmt.Println(calls.Key(e.To), e.Attrs.Type, calls.Key(e.From))
	}
	last := calls.Call(int32(calls.NodeCount() - 1))
	fmt.Println(last.Step, last.Status, "for", last.Identity.ID)
	// Output:
	// r/upper[0]#1 depends_on r/split#1
	// r/upper[1]#1 depends_on r/split#1
	// r/again#1 depends_on r/upper[0]#1
	// r/again#1 depends_on r/upper[1]#1
	// again completed for ann
}

// A step bound to wait completes with a message, which may be sent now or after a restart of the process.
func Example_message() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	type answer struct {
		By string `json:"by"`
	}
	approval := flow.Call("approval", template.NewOp[any, answer]("approval", nil), nil)
	workflow := flow.MustDefine("approve",
		flow.Bind("approval", template.Binding{Wait: &template.Wait{Message: "approved"}}),
		approval,
		flow.Output(flow.Select[string](approval, "/by")),
	)

	run := must(engine.Start(ctx, workflow, nil))
	if err := run.Send(ctx, "approved", answer{By: "ann"}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(must(run.Wait(ctx)).Output)
	// Output:
	// ann
}

// A folder keeps runs. An engine that opens it continues the unfinished runs; here it finds a finished one.
func Example_durable() {
	ctx := context.Background()
	dir := must(os.MkdirTemp("", "journal"))
	defer os.RemoveAll(dir)
	words := flow.Call("words", split, flow.Input[string]())
	workflow := flow.MustDefine("words", words, flow.Output(words))
	config := coordinator.Config{Workflows: []*template.Workflow{workflow}} // its functions are not in the folder

	first := must(sluice.Open(ctx, dir, config))
	must(must(first.Start(ctx, workflow, "kept on disk", coordinator.WithID("words-1"))).Wait(ctx))
	fmt.Println(first.Shutdown(ctx))

	second := must(sluice.Open(ctx, dir, config))
	fmt.Println(must(must(second.Run(ctx, "words-1")).Wait(ctx)).Output)
	fmt.Println(second.Shutdown(ctx))
	// Output:
	// <nil>
	// [kept on disk]
	// <nil>
}

// Starting an existing run returns the run: a caller can repeat a start.
func Example_startOnce() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	count := operation.Define("count", func(_ context.Context, s string) (int, error) {
		fmt.Println("counting")
		return len(s), nil
	})
	letters := flow.Call("letters", count, flow.Input[string]())
	workflow := flow.MustDefine("count", letters, flow.Output(letters))

	for _, text := range []string{"gate", "gate", "sluice"} {
		run, err := engine.Start(ctx, workflow, text, coordinator.WithID("count-1"))
		if err != nil {
			fmt.Println(errors.Is(err, coordinator.ErrRunExists))
			return
		}
		fmt.Println(must(run.Wait(ctx)).Output)
	}
	// Output:
	// counting
	// 4
	// 4
	// true
}

// Cancel ends a run that waits for a message.
func Example_cancel() {
	ctx := context.Background()
	engine := must(sluice.Open(ctx, "", coordinator.Config{}))
	defer engine.Shutdown(ctx)
	run := must(engine.Start(ctx, flow.MustDefine("nap",
		flow.Bind("nap", template.Binding{Sleep: &template.Sleep{For: "P1D"}}),
		flow.Call("", template.NewOp[any, any]("nap", nil), nil),
	), nil))
	if err := run.Cancel(ctx, "enough"); err != nil {
		fmt.Println(err)
	}
	result := must(run.Wait(ctx))
	fmt.Println(result.Status, result.Failure)
	// Output:
	// aborted cancelled: enough
}

// All faults of a document are reported at once, with their places.
func Example_refusal() {
	operations := []string{"split", "upper"}
	known := template.Known{
		Operation:  func(name string) bool { return slices.Contains(operations, name) },
		Operations: operations,
	}
	_, err := template.Load("shout.yaml", []byte(`kind: Workflow
name: shout
steps:
  - {operation: split, id: words, input: "{{ inptu }}"}
  - {operation: uper, needs: [word]}
`), known)
	fmt.Println(err)
	// Output:
	// shout.yaml:4:42: steps[0].input: unknown name "inptu" (did you mean "input"?)
	// shout.yaml:5:17: steps[1].operation: unknown operation "uper" (did you mean "upper"?)
	// shout.yaml:5:31: steps[1].needs[0]: unknown step "word" (did you mean "words"?)
}

// A document and the equivalent Go code make the same workflow, with the same hash.
func Example_hash() {
	words := flow.Call("words", split, flow.Input[string]())
	loud := flow.Each("loud", words, func(word flow.Ref[string]) flow.Ref[string] { return flow.Call("upper", upper, word) })
	built := flow.MustDefine("shout", words, loud, flow.Output(loud))
	read := must(template.Parse("shout.yaml", must(os.ReadFile("testdata/workflows/shout.yaml"))))
	fmt.Println(must(built.Hash()) == must(read.Hash()))
	// Output:
	// true
}
