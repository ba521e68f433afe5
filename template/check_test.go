package template_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

func load(t testing.TB, text string) *template.Checked {
	t.Helper()
	checked, err := template.Load("w.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	return checked
}

// Names are resolved to items in template order, each with its position in the tree.
func TestItemsStandInTemplateOrderWithWhatIsAroundThem(t *testing.T) {
	c := load(t, workflow("steps:",
		"- {operation: a, id: first}",
		"- parallel: {steps: [{sequential: {steps: [{operation: a, id: x}]}}, {operation: a, id: y}]}",
		"- conditional:",
		"    id: decide",
		"    test: first",
		"    then: [{sequential: {steps: [{operation: a, id: yes}]}}]",
		"    else:",
		"    - map: {id: m, over: [], steps: [{conditional: {test: \"{{ item }}\", then: [{parallel: {steps: [{operation: a, id: deep}]}}]}}]}",
		"    - parallel: {steps: [{operation: a, id: no}]}"))
	var got []string
	for i, it := range c.Items {
		require.Equal(t, i, it.Index)
		require.Same(t, it, c.Of[it.Node])
		if it.ID != "" {
			require.Same(t, it, c.ByID[it.ID])
		}
		parent, each := "-", "-"
		if it.Parent != nil {
			parent = fmt.Sprintf("%d/%d", it.Parent.Index, it.Branch)
		}
		if it.Map != nil {
			each = it.Map.ID
		}
		got = append(got, fmt.Sprintf("%s %s %s %s", it.ID, parent, each, it.Path))
	}
	require.Equal(t, []string{
		"first - - steps[0]",
		"x - - steps[1].parallel.steps[0].sequential.steps[0]",
		"y - - steps[1].parallel.steps[1]",
		"decide - - steps[2]",
		"yes 3/0 - steps[2].conditional.then[0].sequential.steps[0]",
		"m 3/1 - steps[2].conditional.else[0]",
		" 5/0 m steps[2].conditional.else[0].map.steps[0]",
		"deep 6/0 m steps[2].conditional.else[0].map.steps[0].conditional.then[0].parallel.steps[0]",
		"no 3/1 - steps[2].conditional.else[1].parallel.steps[0]",
	}, got)
	require.Len(t, c.ByID, 8)
	require.False(t, c.FansOut())
}

func TestReadsAreDistinctAndInOrder(t *testing.T) {
	c := load(t, workflow("steps:",
		"- {operation: a, id: x}",
		"- {operation: a, id: y, needs: [x, x]}",
		"- operation: a",
		"  id: z",
		"  input:",
		"    a: \"{{ steps.y.output ?? 1 }} {{ steps.x.status }}\"",
		"    b: {from: /steps/y/output/n}",
		"    c: \"{{ steps.y.error }} {{ steps.x.status }} {{ steps.x.output ?? 2 }} {{ steps.x.output }}\"",
		"  fulfillment: {policy: external_decision, decision_source: {kind: operator, input: \"{{ steps.z.output }} {{ steps.x.output }}\"}}",
		"- {conditional: {test: x, then: [{operation: b, id: w, func: {name: f, args: [\"{{ steps.x.output }}\", 3]}}]}}",
		"- {conditional: {test: b, then: []}}",
		"- {map: {id: m, over: \"{{ steps.x.output }}\", as: line, steps: [{operation: a, id: in1}, {operation: a, id: in2, input: \"{{ steps.in1.output }} {{ steps.z.fulfillment }} {{ line }} {{ index }}\"}]}}",
		"output: \"{{ steps.w.output ?? steps.m.output }}\""))
	reads := func(id string) string {
		var list []string
		for _, r := range c.ByID[id].Reads {
			text := r.Target.ID + "." + r.Field.String()
			if r.Defaulted {
				text += "?"
			}
			list = append(list, text)
		}
		return strings.Join(list, " ")
	}
	require.Equal(t, "y.output x.status y.error x.output", reads("z"))
	require.Equal(t, "x.output", reads("w"))
	require.Equal(t, "x.output", reads("m"))
	require.Equal(t, "in1.output z.fulfillment", reads("in2"))
	require.Equal(t, []*template.Item{c.ByID["x"]}, c.ByID["y"].Needs)

	decide, byOperation := c.Items[3], c.Items[5]
	require.Equal(t, "x", decide.TestID)
	require.Nil(t, decide.Test)
	require.Equal(t, []template.Read{{Target: c.ByID["x"], Field: expr.Status}}, decide.Reads)
	require.Equal(t, "w", byOperation.TestID, "a bare test may name an operation that one step calls")
	require.NotNil(t, c.ByID["z"].Asks)
	require.NotNil(t, c.Output)
	require.Len(t, c.Output.Reads(), 2)
}

// names is an environment of variables without steps.
type names map[string]value.Value

func (n names) Name(name string) (value.Value, error) { return n[name], nil }
func (n names) Step(id string, f expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("step %s cannot be read here", id)
}

func TestBindingsAreCompiledFieldByField(t *testing.T) {
	c := load(t, everything)
	env := names{"input": map[string]any{"delay": "PT5S", "x": int64(7)}, "attempt": int64(2), "participant": map[string]any{"endpoint": "http://p"}, "run": map[string]any{"id": "r1"}}
	eval := func(t *expr.Template) value.Value {
		if t == nil {
			return nil
		}
		v, err := t.Eval(env)
		if err != nil {
			return err.Error()
		}
		return v
	}
	split := c.Bindings["order.split"]
	require.Equal(t, []any{"jq", "-c", ".lines", "5"}, eval(split.Argv))
	require.Equal(t, env["input"], eval(split.Stdin))
	require.Equal(t, map[string]any{"A": "r1", "N": "1"}, eval(split.Env))
	require.Equal(t, "/tmp", eval(split.Dir))
	require.Nil(t, split.Shell)
	require.Equal(t, `sha256sum "$FILE"`, eval(c.Bindings["order.hash"].Shell))
	solicit := c.Bindings["rfq.solicit"]
	require.Equal(t, "PUT", eval(solicit.Method))
	require.Equal(t, "http://p/quote", eval(solicit.URL))
	require.Equal(t, map[string]any{"X-Try": int64(2)}, eval(solicit.Headers))
	require.Equal(t, map[string]any{"a": []any{env["input"]}}, eval(solicit.Body))
	require.Equal(t, "GET", eval(c.Bindings["ping"].Method))
	require.Nil(t, c.Bindings["ping"].Body)
	require.Equal(t, "PT5S", eval(c.Bindings["pause"].For))
	require.Equal(t, "approve-r1", eval(c.Bindings["approval"].Wanted))
	require.Equal(t, int64(7), eval(c.Bindings["constant"].Value))
	require.NotNil(t, c.Bindings["nothing"].Value)
	require.Nil(t, eval(c.Bindings["nothing"].Value))
	require.Equal(t, "broken", eval(c.Bindings["broken"].Code))
	require.Contains(t, eval(c.Bindings["broken"].Message), "is broken")
	require.Equal(t, "child.yaml", c.Bindings["child"].Binding.Workflow.Path)
	require.True(t, c.FansOut())
}

func TestAReaderWaitsForNothingAroundAMap(t *testing.T) {
	// Inside a map, steps can read all items outside it and steps of the same item. But a default cannot replace a step of
	// another branch that comes later.
	c := load(t, workflow("steps:",
		"- {operation: a, id: before}",
		"- {map: {id: m, over: [], steps: [{operation: a, id: one}, {map: {id: n, over: \"{{ steps.one.output }}\", as: inner, steps: [{operation: a, id: two, needs: [before, one], input: \"{{ item }} {{ inner }} {{ steps.before.output }}\"}]}}]}}",
		"- {operation: a, id: after, input: {from: /steps/m/output}}"))
	require.Len(t, c.ByID["two"].Needs, 2)
	require.Equal(t, c.ByID["m"], c.ByID["n"].Map)
}

func TestTheDefaultsOfALiteralTreeAreFilledIn(t *testing.T) {
	step := &template.Step{
		Operation: "a", Target: &template.Target{Resolve: "static", Participants: []string{"p"}}, FanIn: &template.FanIn{},
		Timing: &template.Timing{Timeout: 1, Retry: &template.Retry{MaxAttempts: 2}}, Fulfillment: &template.Fulfillment{Policy: "auto"},
	}
	w := &template.Workflow{Name: "w", Steps: []template.Node{step, &template.Map{ID: "m", Over: []any{}, Steps: []template.Node{
		&template.Step{Operation: "b", FanIn: &template.FanIn{Policy: "best_of", ScoreField: "a.b"}, Target: step.Target, Timing: step.Timing},
	}}}}
	_, err := template.Check(w, template.Known{Lenient: true})
	require.NoError(t, err)
	require.Equal(t, template.ContinueRunning, w.FailurePolicy)
	require.Equal(t, "a", step.ID)
	require.Equal(t, template.FanIn{Policy: template.AnyOne, MinResponses: 1}, *step.FanIn)
	require.Equal(t, template.FailOnTimeout, step.Timing.OnTimeout)
	require.Equal(t, template.Retry{MaxAttempts: 2, Multiplier: 1, Scope: template.ScopeMissing}, *step.Timing.Retry)
	require.Equal(t, template.Fulfillment{Policy: "auto", OnNotFulfilled: template.ThenFail, OnError: template.ThenFail}, *step.Fulfillment)
	m := w.Steps[1].(*template.Map)
	require.Equal(t, "item", m.As)
	require.Equal(t, template.FanIn{Policy: template.BestOf, ScoreField: "/a/b", ScoreOrder: "desc"}, *m.Steps[0].(*template.Step).FanIn)
}

func TestScoreFieldsInDottedFormBecomePointers(t *testing.T) {
	for text, want := range map[string]string{
		"/price": "/price", "/net~1price": "/net~1price", "price": "/price", "$.price": "/price", "$.offer.price": "/offer/price",
		"offers[0].price": "/offers/0/price", "$.a-b.c d": "/a-b/c d", "a~b": "/a~0b", "$": "$", "a..b": "a..b", "$.": "$.", "a/b": "a/b", "": "",
	} {
		w := (&template.Workflow{Steps: []template.Node{
			&template.Step{FanIn: &template.FanIn{Policy: template.BestOf, ScoreField: text}},
		}}).Completed()
		require.Equal(t, want, w.Steps[0].(*template.Step).FanIn.ScoreField, text)
	}
}

func TestAFileThatIsNoDocumentGivesNoTree(t *testing.T) {
	for _, text := range []string{"", "a: [", "a: &x b"} {
		w, err := template.Parse("w.yaml", []byte(text))
		require.Nil(t, w)
		require.Error(t, err)
		checked, err := template.Load("w.yaml", []byte(text), template.Known{})
		require.Nil(t, checked)
		require.ErrorContains(t, err, "w.yaml")
	}
}

func TestANameStandsForOneFunction(t *testing.T) {
	w := &template.Workflow{}
	gives := func(n int64, line int) *template.Function {
		return &template.Function{
			Name: "f", Pos: document.Pos{File: "a.go", Line: line},
			Call: func([]value.Value) (value.Value, error) { return n, nil },
		}
	}
	one := gives(1, 3)
	require.NoError(t, w.Register(one))
	require.NoError(t, w.Register(one))
	require.NoError(t, w.Register(&template.Function{Name: "e", Call: one.Call}))
	require.EqualError(t, w.Register(&template.Function{Name: "g"}), `function "g" is nil`)
	require.EqualError(t, w.Register(gives(2, 4)),
		`two functions are named "f", made at a.go:3 and at a.go:4: make a function once, and use its handle in both places`)
	require.Error(t, w.Register(gives(1, 3)), "a closure of the same literal")
	require.Len(t, w.Functions(), 2)
	require.Equal(t, "e", w.Functions()[0].Name)
	v, err := w.Functions()[1].Call(nil)
	require.NoError(t, err)
	require.Equal(t, int64(1), v)
}

func TestOperationsHaveOneImplementationEach(t *testing.T) {
	w := &template.Workflow{}
	one, two := new(int), new(int)
	op := template.NewOp[string, int]("a", one)
	require.Equal(t, "a", op.Name())
	require.True(t, w.Provide(op.Name(), op.Implementation()))
	require.True(t, w.Provide("a", one))
	require.False(t, w.Provide("a", two))
	require.True(t, w.Provide("b", nil))
	require.Equal(t, []string{"a"}, w.Provided())
	require.Same(t, one, w.Implementation("a"))
	require.Nil(t, w.Implementation("b"))

	caller := func() {}
	require.True(t, w.Provide("c", caller))
	require.False(t, w.Provide("c", caller), "functions cannot be compared")
	require.False(t, w.Provide("c", one))
}

func FuzzLoad(f *testing.F) {
	f.Add(everything)
	for _, c := range refusals {
		f.Add(c.text)
	}
	f.Add(`{"kind": "Workflow", "name": "w", "steps": [{"operation": "a"}], "output": {"from": "/steps/a/output"}}`)
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		checked, err := template.Load("w.yaml", []byte(text), template.Known{Lenient: true})
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		requireRoundTrip(t, checked.Workflow)
	})
}

func ExampleCheck() {
	w := &template.Workflow{Name: "greet", Steps: []template.Node{
		&template.Step{Operation: "ask"},
		&template.Step{Operation: "greet", Input: "Hello {{ steps.ask.output.name }}"},
	}}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, it := range checked.Items {
		fmt.Println(it.ID, "reads", len(it.Reads), "results")
	}
	// Output:
	// ask reads 0 results
	// greet reads 1 results
}

// A duplicate id is reported at the id if it is written, and otherwise at the operation, which is its default.
func TestAnIdThatIsWrittenOutIsTheOneReported(t *testing.T) {
	_, err := template.Load("w.yaml", []byte("kind: Workflow\nname: w\nsteps:\n- {operation: a}\n- {operation: a, id: a}\n- {operation: a}\n"),
		template.Known{Lenient: true})
	require.EqualError(t, err, `w.yaml:5:22: steps[1].id: duplicate step id "a", first at steps[0]
w.yaml:6:15: steps[2].operation: duplicate step id "a", first at steps[0]`)
}

// Runs of earlier versions continue although their documents would be refused now.
func TestStoredDocumentsOfEarlierVersionsAreAccepted(t *testing.T) {
	for _, text := range []string{
		"directory: {participants: {p: {price: 3, id: other}, q: 7, r: [1]}}\nsteps: [{operation: a}]",
		"steps: [{operation: a, fulfillment: {policy: auto, decision_source: {kind: automatic}}}]",
		"operations: {a: {http: {url: example.com/}}}\nsteps: [{operation: a}]",
	} {
		text = "kind: Workflow\nname: w\n" + text
		_, err := template.Load("w.yaml", []byte(text), template.Known{Lenient: true})
		require.NoError(t, err, text)
		_, err = template.Load("w.yaml", []byte(text), template.Known{Operation: func(string) bool { return true }})
		require.Error(t, err, text)
	}
}
