package flow_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/value"
)

func cheap(o Offer) bool                          { return o.Price < 10 }
func halves(lines []Line) ([]Line, error)         { return lines[:len(lines)/2], nil }
func double(n int) int                            { return 2 * n }
func better(p Purchase) Purchase                  { return Purchase{Offer{p.Offer.Price - 1, p.Offer.By}, p.Limit} }
func impossible(lines []Line) ([]Line, error)     { return nil, errors.New("out of lines") }
func notify(id, text string) flow.Ref[any]        { return flow.Call(id, Notify, flow.Value(text)) }
func screen(line flow.Ref[Line]) flow.Ref[Report] { return flow.Call("screen", Screen, line) }

// built and written are the same workflow.
func built() (*template.Workflow, error) {
	in := flow.Input[Order]()
	lines := flow.Call("split", Split, flow.Select[[]Line](in, "/lines"), flow.NonIdempotent(),
		flow.Retry(template.Retry{MaxAttempts: 3, Backoff: time.Second}), flow.TotalTimeout(time.Minute))
	reports := flow.Each("check", lines, func(line flow.Ref[Line]) flow.Ref[Report] {
		nested := flow.Each("again", flow.TryFunc("halves", halves, flow.Value([]Line{"x", "y"})), func(inner flow.Ref[Line]) flow.Ref[any] {
			return flow.Call("pair", Notify, flow.Expr[string]("{{ item }} {{ item2 }} {{ index }}"))
		})
		return screen(line).After(nested)
	}, flow.MaxConcurrency(8))
	reserve := notify("reserve-budget", "{{ not an expression }}")
	offer := flow.Call("solicit", Solicit, flow.From(reports), flow.Timeout(30*time.Second), flow.OnTimeout(template.SkipOnTimeout),
		flow.Needs(reserve),
		flow.Target(template.Target{Resolve: template.ResolveCapability, CapabilityID: "offers"}),
		flow.FanIn(template.FanIn{Policy: template.BestOf, ScoreField: "price"}))
	contract := flow.Call("contract", Open, flow.Object[Purchase](flow.With("offer", offer), flow.With("limit", flow.Value(7))),
		flow.Fulfillment(template.Fulfillment{Policy: template.RequesterConfirmation}))
	var p Purchase
	other := flow.Call("other", Open, flow.Func("better", better,
		flow.Struct(&p, flow.Set(&p.Offer, offer), flow.Set(&p.Limit, flow.Select[int](in, "/limit")))))

	return flow.Define("procure",
		flow.Version("3"), flow.Deadline(5*time.Minute), flow.OnFailure(template.AbortAll), flow.MaxConcurrency(64),
		flow.Schema(map[string]any{"type": "object"}),
		flow.Bind("notify", template.Binding{Value: &template.Constant{Value: "{{ input }}"}}),
		flow.Directory(template.Directory{Capabilities: map[string][]template.Passport{"offers": {{Participant: "a"}}}}),
		lines,
		flow.Parallel(flow.MaxConcurrency(2), reports, flow.Sequential(reserve, notify("two", "2"))),
		offer,
		flow.If(flow.Completed(offer), flow.Named("decide"), flow.Then(contract), flow.Else(notify("sorry", "no offer"))),
		flow.If(flow.Func("cheap", cheap, offer), flow.Then(other)),
		flow.If(flow.Failed(contract), flow.Then(flow.Call("status", Notify, flow.Status(contract)))),
		flow.If(flow.Value(true), flow.Then()),
		flow.Output(flow.Object[map[string]any](
			flow.With("contract", flow.FromOr(contract, Contract{ID: "it's \"none\""})),
			flow.With("reserve", flow.From(reserve)),
		)),
	)
}

const written = `
kind: Workflow
name: procure
version: "3"
deadline: PT5M
failure_policy: abort-all
max_concurrency: 64
input: {type: object}
operations: {notify: {value: "{{ input }}"}}
directory: {capabilities: {offers: [{participant: a}]}}
steps:
  - operation: order.split
    id: split
    input: "{{ input.lines }}"
    idempotent: false
    timing: {total_timeout: PT1M, retry: {max_attempts: 3, backoff: PT1S}}
  - parallel:
      max_concurrency: 2
      steps:
        - map:
            id: check
            over: "{{ steps.split.output }}"
            max_concurrency: 8
            steps:
              - map:
                  id: again
                  func: {name: halves, args: [[x, y]]}
                  as: item2
                  steps: [{operation: notify, id: pair, input: "{{ item }} {{ item2 }} {{ index }}"}]
              - {operation: line.screen, id: screen, input: "{{ item }}"}
        - sequential:
            steps:
              - {operation: notify, id: reserve-budget, input: '{{ "{{ not an expression }}" }}'}
              - {operation: notify, id: two, input: "2"}
  - operation: rfq.solicit
    id: solicit
    input: "{{ steps.check.output }}"
    needs: [reserve-budget]
    timing: {timeout: PT30S, on_timeout: skip}
    target: {resolve: capability, capability_id: offers}
    fan_in: {policy: best_of, score_field: /price}
  - conditional:
      id: decide
      test: solicit
      then:
        - operation: contract.open
          id: contract
          input: {offer: "{{ steps.solicit.output }}", limit: 7}
          fulfillment: {policy: requester_confirmation}
      else:
        - {operation: notify, id: sorry, input: no offer}
  - conditional:
      func: {name: cheap, args: ["{{ steps.solicit.output }}"]}
      then:
        - {operation: contract.open, id: other, func: {name: better, args: [{offer: "{{ steps.solicit.output }}", limit: "{{ input.limit }}"}]}}
  - conditional:
      test: "{{ steps.contract.status in ['failed', 'aborted'] }}"
      then: [{operation: notify, id: status, input: "{{ steps.contract.status }}"}]
  - conditional: {test: "{{ true }}", then: []}
output:
  contract: '{{ steps.contract.output ?? {"id":"it''s \"none\""} }}'
  reserve: '{{ steps["reserve-budget"].output }}'
`

func TestABuiltWorkflowIsTheDocumentThatSaysTheSame(t *testing.T) {
	w, err := built()
	require.NoError(t, err)
	checked, err := template.Load("w.yaml", []byte(written), template.Known{Lenient: true})
	require.NoError(t, err)
	require.Equal(t, checked.Workflow.Document(), w.Document())

	want, err := checked.Workflow.Hash()
	require.NoError(t, err)
	got, err := w.Hash()
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestNodesKnowTheLineOfGoThatMadeThem(t *testing.T) {
	w := flow.MustDefine("w", notify("a", "x"))
	pos := w.Steps[0].(*template.Step).Pos
	require.Equal(t, "flow_test.go", filepath.Base(pos.File))
	require.Equal(t, "flow_test.go", filepath.Base(w.Pos.File))
	require.Greater(t, w.Pos.Line, pos.Line)
}

func TestTheSameHandlesServeSeveralDefinitions(t *testing.T) {
	step := notify("a", "x")
	one, two := flow.MustDefine("one", step), flow.MustDefine("two", step)
	require.NotSame(t, one.Steps[0], two.Steps[0])
}

func TestDefineRefusesHandlesThatStandWrong(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func() (*template.Workflow, error)
		want  []string // one line each, behind the place in this file
	}{
		{"read but not placed", func() (*template.Workflow, error) {
			lines := flow.Call("split", Split, nil)
			return flow.Define("w", flow.Each("check", lines, screen), notify("n", "x"))
		}, []string{`step "split" is read but not placed`}},
		{"tested, needed or given out but not placed", func() (*template.Workflow, error) {
			a, b, c := notify("a", ""), notify("b", ""), notify("c", "")
			return flow.Define("w", flow.If(flow.Completed(a)), flow.Call("d", Notify, nil, flow.Needs(b)), flow.Output(c))
		}, []string{`step "a" is read but not placed`, `step "b" is read but not placed`, `step "c" is read but not placed`}},
		{"placed twice", func() (*template.Workflow, error) {
			a := notify("a", "x")
			return flow.Define("w", a, flow.Parallel(a, notify("b", "x")))
		}, []string{`step "a" is placed twice`}},
		{"two steps of one id", func() (*template.Workflow, error) {
			return flow.Define("w", notify("a", "x"), notify("a", "x"))
		}, []string{`steps[1].id: duplicate step id "a", first at steps[0]`}},
		{"read from a branch that may be skipped", func() (*template.Workflow, error) {
			lines := flow.Call("split", Split, nil)
			return flow.Define("w", flow.If(flow.Value(true), flow.Then(lines)), flow.Each("check", lines, screen))
		}, []string{`steps[1].map.over: step "split" may be skipped: give a default with ??: "steps.split.output"`}},
		{"read before it runs", func() (*template.Workflow, error) {
			lines := flow.Call("split", Split, nil)
			return flow.Define("w", flow.Each("check", lines, screen), lines)
		}, []string{`steps[0].map.over: step "split" comes later`}},
		{"a step of a map's body read outside", func() (*template.Workflow, error) {
			var inner flow.Ref[Report]
			each := flow.Each("check", flow.Input[[]Line](), func(line flow.Ref[Line]) flow.Ref[Report] {
				inner = screen(line)
				return inner
			})
			return flow.Define("w", each, flow.Output(inner))
		}, []string{`output: step "screen" is inside map "check"`}},
		{"an item outside its body", func() (*template.Workflow, error) {
			var item flow.Ref[Line]
			each := flow.Each("check", flow.Input[[]Line](), func(line flow.Ref[Line]) flow.Ref[Report] {
				item = line
				return screen(line)
			})
			return flow.Define("w", each, flow.Call("late", Screen, item))
		}, []string{`the item of map "check" is used outside its body`}},
		{"an index where another map counts", func() (*template.Workflow, error) {
			each := flow.Each("outer", flow.Input[[]Line](), func(outer flow.Ref[Line]) flow.Ref[[]any] {
				return flow.Each("inner", flow.Input[[]Line](), func(flow.Ref[Line]) flow.Ref[any] {
					return flow.Call("n", template.NewOp[int, any]("count", nil), flow.Index(outer))
				})
			})
			return flow.Define("w", each, flow.Output(flow.Index(flow.Input[Line]())))
		}, []string{`the index of map "outer" is known only directly in its body`, `Index wants the item of a map`}},
		{"inputs that are placed, and status of what has none", func() (*template.Workflow, error) {
			in := flow.Input[Order]()
			return flow.Define("w", in, flow.If(flow.Completed(in)))
		}, []string{`an input or an item is read, not placed`, `an input or an item has no status`}},
		{"fields that the type does not have", func() (*template.Workflow, error) {
			in := flow.Input[Order]()
			return flow.Define("w",
				flow.Call("a", Split, flow.Select[[]Line](in, "/line")),
				flow.Call("b", Notify, flow.Select[string](in, "/limit")),
				flow.Call("c", Notify, flow.Select[string](in, "limit")),
				flow.Call("d", Notify, flow.Select[string](in, "/lines/first")),
				flow.Call("e", Notify, flow.Select[string](flow.Value(Offer{}), "/by")),
				flow.Call("f", Open, flow.Object[Purchase](flow.With("offer", flow.Value(1)))),
				flow.Call("g", Open, flow.Object[Purchase](flow.With("order", in))),
			)
		}, []string{
			`select /line: a flow_test.Order has no "line"`,
			`select /limit: it is a int, not a string`,
			`select limit: `,
			`select /lines/first: a []flow_test.Line has no "first"`,
			`select /by: a field can be selected of a result, an item or the input, not of a literal or a function`,
			`field "offer": it is a flow_test.Offer, not a int`,
			`field "order": a flow_test.Purchase has no "order"`,
		}},
		{"defaults that no expression can give", func() (*template.Workflow, error) {
			a := flow.Call("a", Notify, nil)
			return flow.Define("w", a,
				flow.Output(flow.Object[map[string]any](
					flow.With("text", flow.Coalesce(flow.From(a), flow.Expr[any]("{{ input }} and more"))),
					flow.With("function", flow.Coalesce(flow.From(a), flow.Func("any", func(n int) any { return n }, flow.Value(1)))),
					flow.With("value", flow.Coalesce(flow.From(a), flow.Value[any](make(chan int)))),
					flow.With("selected", flow.Select[int](flow.Coalesce(flow.Select[Order](a, ""), flow.Value(Order{})), "/line")),
				)))
		}, []string{
			`a part of an expression must be one expression, as in {{ input.price }}, and no text around one: "{{ input }} and more"`,
			`the function "any" can give a whole input, list or test, not a part of one`,
			`value cannot be represented`, `select /line: a flow_test.Order has no "line"`,
		}},
		{"fields that are set wrong", func() (*template.Workflow, error) {
			var p, other Purchase
			var n int
			var empty struct {
				None struct{} `json:"none"`
			}
			limit := flow.Value(1)
			return flow.Define("w", flow.Output(flow.Object[map[string]any](
				flow.With("another's", flow.Struct(&p, flow.Set(&other.Limit, limit))),
				flow.With("twice", flow.Struct(&p, flow.Set(&p.Limit, limit), flow.Set(&p.Limit, limit))),
				flow.With("no struct", flow.Struct(&n, flow.Set(&n, limit))),
				flow.With("nil", flow.Struct(&p, flow.Set(nil, limit))),
				flow.With("without size", flow.Struct(&empty, flow.Set(&empty.None, flow.Value(struct{}{})))),
				flow.With("deeper", flow.Struct(&p, flow.Set(&p.Offer.Price, limit))),
			)))
		}, []string{
			`a int that is set is no field of this flow_test.Purchase`, `field "limit" is set twice`,
			`a int has no fields that can be set by their addresses`, `a field of flow_test.Purchase is set by the address nil`,
			`a struct {} that is set is no field of this struct { None struct {} "json:\"none\"" }`,
			`a int that is set is no field of this flow_test.Purchase`,
		}},
		{"two outputs", func() (*template.Workflow, error) {
			return flow.Define("w", flow.Output(flow.Value(1)), flow.Output(flow.Value(1)))
		}, []string{`the workflow has two outputs`}},
		{"an operation that is bound in two ways", func() (*template.Workflow, error) {
			sleep := template.Binding{Sleep: &template.Sleep{For: "PT1S"}}
			return flow.Define("w", flow.Bind("a", sleep), flow.Bind("a", sleep), flow.Bind("a", template.Binding{Wait: &template.Wait{Message: "m"}}))
		}, []string{`operation "a" is bound in two ways`}},
		{"an input of another type", func() (*template.Workflow, error) {
			in, notified := flow.Input[Order](), notify("n", "x")
			w, err := flow.New("w", in, flow.Output(notified), notified,
				flow.Call("a", Screen, flow.Input[Line]()), flow.Call("b", Split, flow.Select[[]Line](flow.Input[Order](), "/lines")))
			return w.Tree(), err
		}, []string{`the input of workflow "w" is a flow_test.Order, not a flow_test.Line`}},
		{"an input that is none", func() (*template.Workflow, error) {
			notified := notify("n", "x")
			w, err := flow.New("w", notified, flow.Output(notified), notified)
			return w.Tree(), err
		}, []string{`a workflow takes an Input, not a result or an item`}},
		{"two workflows of one name", func() (*template.Workflow, error) {
			in := flow.Input[int]()
			one, two := flow.MustNew("child", in, flow.Output(in)), flow.MustNew("child", in, flow.Output(in))
			operation := template.NewOp[int, int]("child", new(int))
			return flow.Define("w",
				flow.Sub("a", one, in), flow.Sub("b", two, in), flow.Sub("c", one, in),
				flow.Call("d", operation, in))
		}, []string{
			`the workflow has another operation, or runs another workflow, of this name`, `the workflow has another operation of this name`,
		}},
		{"a choice that is not placed, or twice", func() (*template.Workflow, error) {
			choice := flow.Choose(flow.Value(true), notify("a", "x"), notify("b", "x"))
			if _, err := flow.Define("w", flow.Output(choice)); err == nil {
				return nil, nil
			}
			return flow.Define("w", choice, choice)
		}, []string{`step "a" is placed twice`, `step "b" is placed twice`}},
		{"a function within an input", func() (*template.Workflow, error) {
			return flow.Define("w", flow.Call("a", Open, flow.Object[Purchase](flow.With("limit", flow.Func("double", double, flow.Value(1))))))
		}, []string{`the function "double" can give a whole input, list or test, not a part of one`}},
		{"a value that no document can contain", func() (*template.Workflow, error) {
			return flow.Define("w", flow.Call("a", template.NewOp[func(), any]("a", nil), flow.Value(func() {})))
		}, []string{`value cannot be represented`}},
		{"two implementations of one operation", func() (*template.Workflow, error) {
			one, two := new(int), new(int)
			return flow.Define("w",
				flow.Call("a", template.NewOp[any, any]("op", one), nil), flow.Call("b", template.NewOp[any, any]("op", two), nil))
		}, []string{`the workflow has another operation of this name: "op"`}},
		{"everything else that is wrong with a workflow", func() (*template.Workflow, error) {
			return flow.Define("My flow", flow.Call("a b", Notify, nil, flow.Retry(template.Retry{})), flow.Parallel(flow.MaxConcurrency(-1)))
		}, []string{
			`name: invalid name "My flow": a name has a-z, 0-9, dots, dashes and underscores, at most 500`,
			`steps[0].id: invalid step id "a b": an id has no spaces and none of / [ ] #`,
			`steps[0].timing.retry.max_attempts: max_attempts must be at least 1`,
			`steps[1].parallel.max_concurrency: max_concurrency must be at least 1`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, err := c.build()
			require.Nil(t, w)
			faults, ok := errors.AsType[document.Errors](err)
			require.True(t, ok, "%v", err)
			require.Len(t, faults, len(c.want), "%v", err)
			for i, fault := range faults {
				require.Equal(t, "flow_test.go", filepath.Base(fault.File))
				require.Positive(t, fault.Line)
				require.Contains(t, fault.Error(), c.want[i])
				require.True(t, strings.HasPrefix(fault.Error(), fmt.Sprintf("%s:%d: ", fault.File, fault.Line)))
			}
		})
	}
}

func TestMustDefinePanicsWhereDefineReturnsAnError(t *testing.T) {
	defer func() { require.Regexp(t, `^flow: .*flow_test\.go:\d+: name: name is missing$`, recover()) }()
	flow.MustDefine("")
}

func TestLiteralsAreNoExpressions(t *testing.T) {
	input := func(v any) value.Value {
		w := flow.MustDefine("w", flow.Call("a", template.NewOp[any, any]("a", nil), flow.Value(v)))
		checked, err := template.Check(w, template.Known{Lenient: true})
		require.NoError(t, err)
		got, err := checked.Items[0].Input.Eval(nil)
		require.NoError(t, err)
		return got
	}
	for _, v := range []any{
		nil, int64(1), 1.5, "plain", "{{ steps.a.output }}", `"}}" {{`, []any{"{{", "a"}, map[string]any{"{{": "{{ x }}", "y": []any{}},
		map[string]any{"from": "/input"}, []any{map[string]any{"from": "/steps/x/output", "required": true}},
		map[string]any{"from": "a", "to": `é "quoted" \ {{`},
	} {
		require.Equal(t, v, input(v))
	}
}

func TestFunctionsAreCalledWithWhatTheyTake(t *testing.T) {
	w := flow.MustDefine("w",
		flow.If(flow.Func("cheap", cheap, flow.Value(Offer{}))),
		flow.Each("e", flow.TryFunc("halves", halves, flow.Value([]Line{})), screen),
		flow.Each("f", flow.TryFunc("impossible", impossible, flow.Value([]Line{})), func(l flow.Ref[Line]) flow.Ref[Report] {
			return flow.Call("screen2", Screen, l)
		}),
		flow.Call("b", Open, flow.Func("better", better, flow.Value(Purchase{}))),
	)
	call := func(name string, args ...value.Value) (value.Value, error) {
		for _, f := range w.Functions() {
			if f.Name == name {
				return f.Call(args)
			}
		}
		t.Fatalf("no function %q", name)
		return nil, nil
	}
	v, err := call("cheap", map[string]any{"price": int64(10)})
	require.NoError(t, err)
	require.Equal(t, false, v)
	v, err = call("halves", []any{"a", "b", "c", "d"})
	require.NoError(t, err)
	require.Equal(t, []any{"a", "b"}, v)
	v, err = call("better", map[string]any{"offer": map[string]any{"price": int64(3), "by": "ann"}, "limit": int64(5)})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"offer": map[string]any{"price": int64(2), "by": "ann"}, "limit": int64(5)}, v)

	_, err = call("impossible", []any{})
	require.EqualError(t, err, "out of lines")
	_, err = call("cheap", "no offer")
	require.ErrorContains(t, err, `argument of function "cheap"`)
	_, err = call("cheap")
	require.EqualError(t, err, `function "cheap" takes one argument, and is called with 0`)
	_, err = call("better", map[string]any{}, "x")
	require.EqualError(t, err, `function "better" takes one argument, and is called with 2`)
}

func TestANameStandsForOneFunctionInADefinition(t *testing.T) {
	offer := flow.Value(Offer{})
	handle := flow.NewFunc("cheap", cheap)
	test := flow.Func("test", cheap, offer)
	w, err := flow.Define("w",
		flow.If(handle.Of(offer)), flow.If(handle.Of(flow.Value(Offer{Price: 1}))), flow.If(test), flow.If(test))
	require.NoError(t, err)
	require.Equal(t, []*template.Function{handle.Handle(), w.Functions()[1]}, w.Functions())
	require.Equal(t, "flow_test.go", filepath.Base(handle.Handle().Pos.File))

	closure := func(limit int) flow.Function[Offer, bool] {
		return flow.NewFunc("cheap", func(o Offer) bool { return o.Price < limit })
	}
	for name, tests := range map[string][2]flow.Arg[bool]{
		"two functions":                {handle.Of(offer), flow.NewFunc("cheap", func(Offer) bool { return true }).Of(offer)},
		"two closures of one literal":  {closure(1).Of(offer), closure(2).Of(offer)},
		"two handles of one function":  {handle.Of(offer), flow.Func("cheap", cheap, offer)},
		"one that may fail and a test": {handle.Of(offer), flow.TryFunc("cheap", func(Offer) (bool, error) { return true, nil }, offer)},
	} {
		_, err := flow.Define("w", flow.If(tests[0]), flow.If(tests[1]))
		require.ErrorContains(t, err, `two functions are named "cheap", made at `, name)
		require.ErrorContains(t, err, `make a function once`, name)
		require.ErrorContains(t, err, `flow_test.go:`, name)
	}
}

func TestFieldsAreFoundByTheirNamesInJSON(t *testing.T) {
	type base struct {
		Shared string `json:"shared"`
	}
	type keyed struct {
		Inner string
	}
	type wide struct {
		base
		keyed   `json:"keyed"`
		Offer   `json:"-"`
		Plain   int
		Renamed *Offer `json:"re-named,omitempty"`
		Hidden  int    `json:"-"`
		Any     any
		Time    time.Time
		Many    map[string][]Line
	}
	in := flow.Input[wide]()
	w, err := flow.Define("w",
		flow.Call("a", Notify, flow.Select[string](in, "/shared")),
		flow.Call("b", template.NewOp[int, any]("n", nil), flow.Select[int](in, "/Plain")),
		flow.Call("c", template.NewOp[Offer, any]("o", nil), flow.Select[Offer](in, "/re-named")),
		flow.Call("d", Notify, flow.Select[string](in, "/re-named/by")),
		flow.Call("e", Notify, flow.Select[string](in, "/Any/whatever/0")),
		flow.Call("f", Notify, flow.Select[string](in, "/Time")),
		flow.Call("g", Screen, flow.Select[Line](in, "/Many/a key/0")),
	)
	require.NoError(t, err)
	var inputs []any
	for _, n := range w.Steps {
		inputs = append(inputs, n.(*template.Step).Input)
	}
	require.Equal(t, []any{
		"{{ input.shared }}", "{{ input.Plain }}", `{{ input["re-named"] }}`, `{{ input["re-named"].by }}`,
		"{{ input.Any.whatever[0] }}", "{{ input.Time }}", `{{ input.Many["a key"][0] }}`,
	}, inputs)
	_, err = flow.Define("w", flow.Call("a", template.NewOp[int, any]("n", nil), flow.Select[int](in, "/Hidden")))
	require.ErrorContains(t, err, `has no "Hidden"`)
	for _, pointer := range []string{"/Inner", "/by"} { // of a struct that has a key of its own, and of one that is left out
		_, err = flow.Define("w", flow.Call("a", Notify, flow.Select[string](in, pointer)))
		require.ErrorContains(t, err, `has no "`+pointer[1:]+`"`)
	}
	var v wide
	w = flow.MustDefine("w", flow.Output(flow.Struct(&v, flow.Set(&v.Plain, flow.Value(1)), flow.Set(&v.Shared, flow.Value("x")))))
	require.Equal(t, map[string]any{"Plain": int64(1), "shared": "x"}, w.Output)
}
