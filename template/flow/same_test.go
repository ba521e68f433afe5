package flow_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

var (
	price   = template.NewOp[any, int]("price", nil)
	round   = template.NewOp[int, int]("round", nil)
	confirm = template.NewOp[Offer, Contract]("confirm", nil)
	refuse  = template.NewOp[string, Contract]("refuse", nil)
)

// Each construct is equivalent to a document, and has its hash.
func TestEachConstructIsADocument(t *testing.T) {
	in := flow.Input[Order]()
	child := flow.MustNew("child", in, flow.Output(flow.Select[int](in, "/limit")))
	isCheap := flow.NewFunc("is cheap", cheap)
	var p Purchase
	a, b := flow.Call("a", price, nil), flow.Call("b", price, nil)
	offer := flow.Call("offer", Solicit, nil)
	yes, no := flow.Call("yes", confirm, offer), flow.Call("no", refuse, flow.Value("too dear"))
	isSold := flow.Choose(isCheap.Of(offer), yes.After(notify("n", "x")), no, flow.Named("sold"))
	deep := flow.Choose(flow.Completed(a), a2(), flow.Choose(flow.Value(true), flow.Call("c1", price, nil), flow.Call("c2", price, nil)))
	for _, c := range []struct {
		name  string
		parts []flow.Part
		text  string
	}{
		{"a result with a default", []flow.Part{a, flow.If(flow.Completed(a)), flow.Call("x", round, flow.Coalesce(a, flow.Value(7)))}, `
steps:
  - {operation: price, id: a}
  - conditional: {test: a, then: []}
  - {operation: round, id: x, input: "{{ steps.a.output ?? 7 }}"}`},
		{"defaults of defaults", []flow.Part{a, b, flow.Output(flow.Coalesce(flow.Coalesce(a, b), flow.Value(7)))}, `
steps: [{operation: price, id: a}, {operation: price, id: b}]
output: "{{ steps.a.output ?? steps.b.output ?? 7 }}"`},
		{"a default that is computed", []flow.Part{a, flow.Output(flow.Coalesce(flow.Select[int](in, "/limit"), flow.Expr[int]("{{ steps.a.output + 1 }}")))}, `
steps: [{operation: price, id: a}]
output: "{{ input.limit ?? (steps.a.output + 1) }}"`},
		{"a default that is an object", []flow.Part{offer, a, flow.Output(flow.Coalesce(flow.From(offer),
			flow.Object[Offer](flow.With("price", flow.From(a)), flow.With("by", flow.Value("nobody")))))}, `
steps: [{operation: rfq.solicit, id: offer}, {operation: price, id: a}]
output: '{{ steps.offer.output ?? {"price": steps.a.output, "by": "nobody"} }}'`},
		{"a member of a default", []flow.Part{offer, flow.Output(flow.Select[int](flow.FromOr(offer, Offer{Price: 1, By: "x"}), "/price"))}, `
steps: [{operation: rfq.solicit, id: offer}]
output: '{{ (steps.offer.output ?? {"by":"x","price":1}).price }}'`},
		{"a question with a default", []flow.Part{a, flow.Output(flow.Coalesce(flow.Failed(a), flow.Completed(a)))}, `
steps: [{operation: price, id: a}]
output: "{{ (steps.a.status in ['failed', 'aborted']) ?? (steps.a.status == 'completed') }}"`},
		{"a choice, as an input and as the output", []flow.Part{offer, isSold, flow.Call("again", confirm, flow.Object[Offer](
			flow.With("by", flow.Select[string](isSold, "/id")))), flow.Output(isSold)}, `
steps:
  - {operation: rfq.solicit, id: offer}
  - conditional:
      id: sold
      func: {name: is cheap, args: ["{{ steps.offer.output }}"]}
      then: [{operation: notify, id: n, input: x}, {operation: confirm, id: yes, input: "{{ steps.offer.output }}"}]
      else: [{operation: refuse, id: no, input: too dear}]
  - {operation: confirm, id: again, input: {by: "{{ (steps.yes.output ?? steps.no.output ?? null).id }}"}}
output: "{{ steps.yes.output ?? steps.no.output ?? null }}"`},
		{"a choice of choices, with a default", []flow.Part{a, deep, flow.Output(flow.Coalesce(deep, flow.Value(1)))}, `
steps:
  - {operation: price, id: a}
  - conditional:
      test: a
      then: [{operation: price, id: a2}]
      else: [{conditional: {test: "{{ true }}", then: [{operation: price, id: c1}], else: [{operation: price, id: c2}]}}]
output: "{{ steps.a2.output ?? steps.c1.output ?? steps.c2.output ?? 1 }}"`},
		{"bodies that end in anything", []flow.Part{
			flow.Each("m", flow.Value([]int{1}), func(n flow.Ref[int]) flow.Choice[int] {
				return flow.Choose(flow.Value(true), flow.Call("m1", round, n), flow.Call("m2", round, n))
			}),
			flow.Each("p", flow.Value([]int{1}), func(n flow.Ref[int]) *flow.Container {
				return flow.Parallel(flow.Call("p1", round, n), flow.Call("p2", round, n))
			}),
			flow.Each("i", flow.Value([]int{1}), func(n flow.Ref[int]) *flow.Container {
				return flow.If(flow.Value(true), flow.Then(flow.Call("i1", round, n)))
			}),
			flow.Each("e", flow.Value([][]int{{1}}), func(list flow.Ref[[]int]) flow.Ref[[]int] {
				return flow.Each("e1", list, func(n flow.Ref[int]) flow.Ref[int] { return flow.Call("e2", round, n) })
			}),
		}, `
steps:
  - map: {id: m, over: [1], steps: [{conditional: {test: "{{ true }}", then: [{operation: round, id: m1, input: "{{ item }}"}], else: [{operation: round, id: m2, input: "{{ item }}"}]}}]}
  - map: {id: p, over: [1], steps: [{parallel: {steps: [{operation: round, id: p1, input: "{{ item }}"}, {operation: round, id: p2, input: "{{ item }}"}]}}]}
  - map: {id: i, over: [1], steps: [{conditional: {test: "{{ true }}", then: [{operation: round, id: i1, input: "{{ item }}"}]}}]}
  - map: {id: e, over: [[1]], steps: [{map: {id: e1, over: "{{ item }}", as: item2, steps: [{operation: round, id: e2, input: "{{ item2 }}"}]}}]}`},
		{"a workflow in another", []flow.Part{flow.Sub("", child, in), flow.Sub("twice", child, in, flow.NonIdempotent())}, `
operations: {child: {workflow: {name: child}}}
steps:
  - {operation: child, input: "{{ input }}"}
  - {operation: child, id: twice, input: "{{ input }}", idempotent: false}`},
		{"a function of several arguments", []flow.Part{offer, flow.Call("best", Open, flow.NewTryFunc("better", func(p Purchase) (Purchase, error) { return p, nil }).Of(
			flow.Struct(&p, flow.Set(&p.Limit, flow.Select[int](in, "/limit")), flow.Set(&p.Offer, offer))))}, `
steps:
  - {operation: rfq.solicit, id: offer}
  - {operation: contract.open, id: best, func: {name: better, args: [{offer: "{{ steps.offer.output }}", limit: "{{ input.limit }}"}]}}`},
		{"nodes that a program makes", []flow.Part{
			flow.Nodes{a, flow.Nodes{b}},
			flow.Parallel(flow.MaxConcurrency(1), flow.Nodes{notify("p1", "x"), flow.Nodes{notify("p2", "x"), notify("p3", "x")}}, flow.Nodes{}),
			flow.If(flow.Value(true), flow.Then(flow.Nodes{notify("t", "x")}...), flow.Else(flow.Nodes{})),
		}, `
steps:
  - {operation: price, id: a}
  - {operation: price, id: b}
  - parallel:
      max_concurrency: 1
      steps:
        - {operation: notify, id: p1, input: x}
        - {sequential: {steps: [{operation: notify, id: p2, input: x}, {operation: notify, id: p3, input: x}]}}
  - conditional: {test: "{{ true }}", then: [{operation: notify, id: t, input: x}], else: []}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			built, err := flow.Define("w", c.parts...)
			require.NoError(t, err)
			checked, err := template.Load("w.yaml", []byte("kind: Workflow\nname: w"+c.text), template.Known{Lenient: true})
			require.NoError(t, err)
			requireSame(t, built, checked.Workflow)
		})
	}
}

func a2() flow.Ref[int] { return flow.Call("a2", price, nil) }

// requireSame compares two workflows, and the JSON of the first decoded again.
func requireSame(t require.TestingT, built, written *template.Workflow) {
	require.Equal(t, written.Document(), built.Document())
	text, err := built.MarshalJSON()
	require.NoError(t, err)
	read, err := template.Load("w.json", text, template.Known{Lenient: true})
	require.NoError(t, err)
	want, err := written.Hash()
	require.NoError(t, err)
	for _, w := range []*template.Workflow{built, read.Workflow} {
		got, err := w.Hash()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestAWorkflowWithTypesIsOneWithout(t *testing.T) {
	in := flow.Input[Order]()
	a := flow.Call("a", Split, flow.Select[[]Line](in, "/lines"))
	typed, err := flow.New("w", in, flow.Output(a), flow.Version("1"), a)
	require.NoError(t, err)
	requireSame(t, typed.Tree(), flow.MustDefine("w", flow.Version("1"), a, flow.Output(a)))
	require.Same(t, typed.Tree(), flow.Typed[Order, []Line](typed.Tree()).Tree())
}

// program makes a workflow of numbers twice: with the builder, and by hand.
type program struct {
	t    *rapid.T
	n    int
	sure []read // values that can be read
	rest []read // values that can be read with a default: of a branch that has been left
	maps int
}

// read is a readable value: for the builder, and as an expression.
type read struct {
	arg  flow.Arg[int]
	text string
}

func (p *program) id() string { p.n++; return fmt.Sprint("n", p.n) }

// operand is a read, or a number.
func (p *program) operand() read {
	if len(p.sure) > 0 && rapid.Bool().Draw(p.t, "sure") {
		return rapid.SampledFrom(p.sure).Draw(p.t, "read")
	}
	n := rapid.IntRange(0, 9).Draw(p.t, "number")
	return read{flow.Value(n), fmt.Sprint(n)}
}

// input is an argument of a step, and its value in a document.
func (p *program) input() (flow.Arg[int], any) {
	if len(p.rest) > 0 && rapid.Bool().Draw(p.t, "default") {
		first, then := rapid.SampledFrom(p.rest).Draw(p.t, "first"), p.operand()
		return flow.Coalesce(first.arg, then.arg), "{{ " + first.text + " ?? " + then.text + " }}"
	}
	if r := p.operand(); len(r.text) > 1 {
		return r.arg, "{{ " + r.text + " }}"
	}
	return flow.Value(3), int64(3)
}

func (p *program) test() (flow.Arg[bool], string) {
	b := rapid.Bool().Draw(p.t, "test")
	return flow.Value(b), fmt.Sprintf("{{ %v }}", b)
}

// nodes makes a sequence; its nodes are readable after it.
func (p *program) nodes(depth int) (flow.Nodes, []template.Node) {
	var built flow.Nodes
	var written []template.Node
	for range rapid.IntRange(0, 3).Draw(p.t, "nodes") {
		node, trees := p.node(depth)
		built, written = append(built, node), append(written, trees...)
	}
	return built, written
}

// branch makes nodes in a branch, which are readable after it with a default.
func (p *program) branch(make func()) {
	sure := p.sure
	make()
	p.rest = append(slices.Clip(p.rest), p.sure[len(sure):]...)
	p.sure = sure
}

func (p *program) step() (flow.Ref[int], *template.Step) {
	id := p.id()
	arg, input := p.input()
	ref := flow.Call(id, round, arg)
	p.sure = append(slices.Clip(p.sure), read{ref, "steps." + id + ".output"})
	return ref, &template.Step{ID: id, Operation: "round", Input: input}
}

func (p *program) node(depth int) (flow.Node, []template.Node) {
	kind := 0
	if depth < 3 {
		kind = rapid.IntRange(0, 6).Draw(p.t, "kind")
	}
	switch kind {
	case 1:
		built, written := p.nodes(depth + 1)
		return flow.Sequential(built...), []template.Node{&template.Sequential{Steps: written}}
	case 2:
		var built flow.Nodes
		parallel := &template.Parallel{}
		for range rapid.IntRange(1, 3).Draw(p.t, "arms") {
			node, trees := p.node(depth + 1)
			built, parallel.Steps = append(built, node), append(parallel.Steps, trees[0])
		}
		return flow.Parallel(built), []template.Node{parallel}
	case 3:
		test, text := p.test()
		c := &template.Conditional{Test: text}
		var then, otherwise flow.Nodes
		p.branch(func() { then, c.Then = p.nodes(depth + 1) })
		p.branch(func() { otherwise, c.Else = p.nodes(depth + 1) })
		return flow.If(test, flow.Then(then...), flow.Else(otherwise)), []template.Node{c}
	case 4:
		choice, c, _ := p.choose(depth)
		return choice, []template.Node{c}
	case 5:
		return p.each(depth)
	}
	ref, s := p.step()
	return ref, []template.Node{s}
}

// choose makes a choice, which is readable after it.
func (p *program) choose(depth int) (flow.Choice[int], *template.Conditional, string) {
	test, text := p.test()
	c := &template.Conditional{Test: text}
	var results [2]flow.Result[int]
	var texts [2]string
	for i, steps := range []*[]template.Node{&c.Then, &c.Else} {
		p.branch(func() {
			before, written := p.nodes(depth + 2)
			if depth < 3 && rapid.Bool().Draw(p.t, "deeper") && len(before) == 0 {
				choice, inner, text := p.choose(depth + 1)
				results[i], texts[i], *steps = choice, text, []template.Node{inner}
				return
			}
			ref, s := p.step()
			results[i], texts[i], *steps = ref.After(before...), "steps."+s.ID+".output", append(written, s)
		})
	}
	choice := flow.Choose(test, results[0], results[1])
	all := texts[0] + " ?? " + texts[1]
	p.rest = append(slices.Clip(p.rest), read{choice, all}) // a reader with a default of its own needs no null
	return choice, c, all
}

func (p *program) each(depth int) (flow.Node, []template.Node) {
	m := &template.Map{ID: p.id(), Over: []any{int64(1), int64(2)}, As: "item"}
	sure, rest := p.sure, p.rest
	p.maps++
	if p.maps > 1 {
		m.As = fmt.Sprint("item", p.maps)
	}
	each := flow.Each(m.ID, flow.Value([]int{1, 2}), func(item flow.Ref[int]) flow.Ref[int] {
		p.sure = append(slices.Clip(sure), read{item, m.As})
		before, written := p.nodes(depth + 1)
		ref, s := p.step()
		m.Steps = append(written, s)
		return ref.After(before)
	})
	p.maps--
	p.sure, p.rest = sure, rest
	return each, []template.Node{m}
}

// A built workflow equals the one written by hand.
func TestWhatIsBuiltIsWhatIsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &program{t: t}
		nodes, written := p.nodes(0)
		out, text := p.input()
		built, err := flow.Define("w", nodes, flow.Output(out))
		require.NoError(t, err)
		w := &template.Workflow{Name: "w", Steps: written, Output: text, HasOutput: true}
		_, err = template.Check(w, template.Known{Lenient: true})
		require.NoError(t, err)
		requireSame(t, built, w)
	})
}
