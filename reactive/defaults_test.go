package reactive_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
)

// TestDefaultsTakeThePlaceOfOutputs drives random workflows as a coordinator does, and fails and aborts steps at random.
//
//   - A step that may start can read the output, with a default, of a step that was skipped, or that a conditional has tested.
//   - A step that may start reads the output of a failed step only if that was caught before it, or around it.
//   - An aborted step needs a failed node, other than one that it only reads, with a default, and that was caught.
//   - A journal, replayed, yields the same inputs.
func TestDefaultsTakeThePlaceOfOutputs(t *testing.T) {
	taken := 0
	for tries := 0; tries < 5 || taken == 0 && tries < 500; tries++ { // the combination is rare
		rapid.Check(t, func(t *rapid.T) { taken += takeDefaults(t) })
	}
	require.NotZero(t, taken, "no default ever replaced a failed output")
}

// takeDefaults drives one run, and returns how often a default replaced a failed output.
func takeDefaults(t *rapid.T) int {
	g := &generator{t: t}
	w := &template.Workflow{Name: "random", Steps: g.steps(0)}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		t.Skip("the references do not fit: ", err)
	}
	p, err := plan.Compile(checked)
	if err != nil {
		t.Skip("a cycle: ", err)
	}
	d := &defaults{randomRun: &randomRun{t: t, plan: p, root: reactive.New(p)}, inputs: map[string]string{}}
	d.append(journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})
	for !d.root.Done() {
		d.append(d.next())
	}
	d.checkEnd()
	return d.taken
}

// defaults is a run whose steps start when they may.
type defaults struct {
	*randomRun
	inputs map[string]string // of the steps started, by key: the input, and the failure to render it
	taken  int               // how often a default was taken for a failure
}

func (d *defaults) next() journal.Event {
	if v, ok := d.root.NextStart(nil); ok {
		return d.start(v)
	}
	if e, ok := d.root.Fire(1 << 62); ok {
		e.Hint = 0
		return e
	}
	var running, open []string
	for v := range d.root.Len() {
		switch key := d.root.Key(v); {
		case key == "" || d.root.Row(v).Kind != plan.Step:
		case d.root.Status(v) == reactive.Running:
			running = append(running, key)
			open = append(open, key)
		case d.root.Status(v) == reactive.Idle, d.root.Status(v) == reactive.Waiting:
			open = append(open, key)
		}
	}
	require.NotEmpty(d.t, running, "the run is stuck")
	if rapid.IntRange(0, 9).Draw(d.t, "abort") == 0 {
		return journal.Event{Type: journal.NodeAborted, Node: rapid.SampledFrom(open).Draw(d.t, "aborted")}
	}
	key := rapid.SampledFrom(running).Draw(d.t, "ended")
	v, _ := d.root.Node(key)
	e := journal.Event{Type: journal.CallResponded, Node: key, Attempt: d.root.Attempt(v), Value: "output"}
	if rapid.IntRange(0, 2).Draw(d.t, "how") == 0 {
		e.Type, e.Value, e.Detail = journal.CallError, nil, &journal.Detail{Failure: &journal.Failure{Code: "broken"}}
	}
	return e
}

// start requests a step, or fails it if its input cannot be rendered.
func (d *defaults) start(v int32) journal.Event {
	key, covered := d.root.Key(v), true
	for _, read := range d.root.Place(v).Item.Reads {
		target, ok := d.root.Node(read.Target.ID)
		if !ok || read.Field != expr.Output { // a step in a map does not have this key
			covered = covered && ok
			continue
		}
		if s := d.root.Status(target); s == reactive.Failed || s == reactive.Aborted {
			require.True(d.t, read.Caught, "%s reads %s, which is %s", key, read.Target.ID, s)
			covered = covered && read.Defaulted && d.wasAsked(read.Target)
			d.taken++
		}
	}
	input, failure := d.root.Input(v)
	if covered {
		require.Nil(d.t, failure, key)
	}
	d.inputs[key] = fmt.Sprint(input, failure)
	if failure != nil {
		return journal.Event{Type: journal.StepFailed, Node: key, Detail: &journal.Detail{Failure: failure}}
	}
	return journal.Event{Type: journal.CallRequested, Node: key, Attempt: d.root.Attempt(v) + 1}
}

// wasAsked reports whether a conditional beside an item has tested the item's end and has decided.
func (d *defaults) wasAsked(target *template.Item) bool {
	asks := func(r template.Read) bool { return r.Target == target && r.Field != expr.Output }
	for row, n := range d.plan.Nodes {
		if n.Kind == plan.Gate && n.Item.Map == target.Map && slices.ContainsFunc(n.Item.Reads, asks) &&
			d.root.Status(int32(row)) == reactive.Completed {
			return true
		}
	}
	return false
}

func (d *defaults) checkEnd() {
	for v := range d.root.Len() {
		if d.root.Key(v) == "" || d.root.Status(v) != reactive.Aborted || d.root.Failure(v) != nil && d.root.Failure(v).Code == reactive.CodeAborted {
			continue
		}
		blockers := d.root.BlockedByFailure(v)
		require.NotEmpty(d.t, blockers, "%s is aborted", d.root.Key(v))
		if d.root.Row(v).Kind == plan.Map { // the reads of its items are its own
			continue
		}
		item := d.root.Place(v).Item
		for _, r := range item.Reads {
			if u, ok := d.root.Node(r.Target.ID); ok && r.Field == expr.Output && r.Caught && d.onlyReads(u, v) {
				require.NotContains(d.t, blockers, u, "%s reads %s with a default", item.ID, r.Target.ID)
			}
		}
	}
	d.checkInputs()
}

// onlyReads reports whether v waits for u only because an expression reads it.
func (d *defaults) onlyReads(u, v int32) bool {
	to, _ := d.plan.Row(d.root.Place(v).Key)
	from, _ := d.plan.Row(d.root.Place(u).Key)
	return slices.ContainsFunc(d.plan.Outgoing(from), func(e plan.Edge) bool { return e.To == to && e.Read })
}

// checkInputs replays the journal, and renders the inputs again.
func (d *defaults) checkInputs() {
	root := reactive.New(d.plan)
	for i := range d.journal {
		e := d.journal[i]
		if v, ok := root.Node(e.Node); ok && (e.Type == journal.CallRequested || e.Type == journal.StepFailed) {
			input, failure := root.Input(v)
			require.Equal(d.t, d.inputs[e.Node], fmt.Sprint(input, failure), "%s, replayed", e.Node)
		}
		root.Apply(&e)
	}
}

// The input of a decision source may read any step. A default replaces the output of a step whose failure was caught.
func TestADecisionSourceIsAskedWithDefaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		test   string // of a conditional behind price
		events []journal.Event
		want   any
		err    string
	}{
		{"caught", "price", []journal.Event{{Type: journal.CallError, Node: "price", Attempt: 1}}, int64(7), ""},
		{"not caught", "{{ true }}", []journal.Event{{Type: journal.CallError, Node: "price", Attempt: 1}}, nil, `step "price" has no output: it is failed`},
		{"not ended", "price", nil, nil, `step "price" has no output: it is running`},
		{"caught, and made again", "price", []journal.Event{
			{Type: journal.CallError, Node: "price", Attempt: 1}, {Type: journal.CallRequested, Node: "sorry", Attempt: 1},
			{Type: journal.CallRequested, Node: "price", Attempt: 2},
		}, nil, `step "price" has no output: it is running`},
		{"ended", "price", []journal.Event{{Type: journal.CallResponded, Node: "price", Attempt: 1, Value: int64(5)}}, int64(5), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := newRun(t, compile(t, &template.Workflow{Name: "w", Steps: []template.Node{&template.Parallel{Steps: []template.Node{
				&template.Sequential{Steps: []template.Node{
					&template.Step{ID: "price", Operation: "op"},
					&template.Conditional{Test: c.test, Else: []template.Node{&template.Step{ID: "sorry", Operation: "op"}}},
				}},
				&template.Step{ID: "buy", Operation: "op", Fulfillment: &template.Fulfillment{
					Policy: template.ExternalDecision,
					Source: &template.DecisionSource{Kind: template.DecidedAutomatically, Operation: "judge", Input: "{{ steps.price.output ?? 7 }}"},
				}},
			}}}}))
			run.append(journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})
			run.append(journal.Event{Type: journal.CallRequested, Node: "price", Attempt: 1})
			for _, e := range c.events {
				if e.Type == journal.CallError {
					e.Detail = &journal.Detail{Failure: &journal.Failure{Code: "broken"}}
				}
				run.append(e)
			}
			v, _ := run.root.Node("buy")
			got, failure := run.root.DecisionInput(v)
			require.Equal(t, c.want, got)
			if c.err != "" {
				require.Contains(t, failure.Message, c.err)
				return
			}
			require.Nil(t, failure)
		})
	}
}
