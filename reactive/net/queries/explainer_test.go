package queries_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// run is a playbook's run under test.
type run struct {
	t       *testing.T
	plan    *plan.Plan
	root    *reactive.Root
	step    *decide.Stepper
	journal []journal.Event
	now     int64
}

func (*run) Function(string, []any) (value.Value, *journal.Failure) { return nil, nil }
func (*run) Pure(int32, any) (call.Result, bool)                    { return call.Result{}, false }
func (*run) Reserve(reactive.Room) bool                             { return true }

func start(t *testing.T, workflow, executor string) *run {
	text := "{apiVersion: sluice/v1, kind: Playbook, metadata: {name: p}, executor: {spec: {" + executor + "}}, workflow: [" + workflow + "]}"
	checked, err := playbook.Load("p.yaml", []byte(text), template.Known{Operation: func(string) bool { return true }})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	r := &run{t: t, plan: p, root: decide.NewRoot(p), now: 1}
	r.step = decide.NewStepper(r.root, r)
	r.take(journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})
	return r
}

// take applies an event and its consequences.
func (r *run) take(e journal.Event) {
	items := []decide.Item{{Event: e, Received: r.now, Reply: func(err error) { require.NoError(r.t, err) }}}
	for more := true; more; items = nil {
		out := r.step.Step(r.now, items)
		for _, reply := range out.Replies {
			reply.To(reply.Err)
		}
		r.journal, more = append(r.journal, out.Batch...), out.More
	}
}

// play executes a word: `a@1.t` answers a call, `!a@1.t` fails it, `ctx.x` sets a variable to true, `-a@1` aborts a step-run,
// `#` pauses the run, and `^` cancels it.
func (r *run) play(word string) {
	switch {
	case word == "^":
		r.take(journal.Event{Type: journal.RunCancelled, Detail: &journal.Detail{}})
	case word == "#":
		r.take(journal.Event{Type: journal.RunPaused, Detail: &journal.Detail{}})
	case word[0] == '-':
		r.take(journal.Event{Type: journal.NodeAborted, Node: word[1:], Detail: &journal.Detail{}})
	case strings.HasPrefix(word, "ctx."):
		r.take(journal.Event{Type: journal.ContextPatched, Value: map[string]any{word[4:]: true}, Detail: &journal.Detail{}})
	default:
		key, fails := strings.CutPrefix(word, "!")
		v, ok := r.root.Node(key)
		require.True(r.t, ok, "%s: open are %v", key, r.root.OpenCalls())
		var err error
		if fails {
			err = &operation.Error{Code: "boom", Message: "no", Permanent: true}
		}
		e := decide.Ending(r.root.Request(v, r.root.Attempt(v)), operation.ResultOf(int64(7), err))
		e.Node, e.Hint = key, v+1
		r.take(e)
	}
}

// explained returns the explanation of a part of the run, one reason per line.
func (r *run) explained(name string) string {
	x := inspect.NewExplainer("r", "", decide.NewRoot(r.plan))
	for _, e := range r.journal {
		x.Apply(&e)
	}
	out, err := x.Explain(name)
	if errors.Is(err, decide.ErrStepNotFound) {
		return "not found"
	}
	require.NoError(r.t, err)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", out.Kind, out.Status)
	if out.Decided != nil {
		fmt.Fprintf(&b, " #%d", out.Decided.Seq)
	}
	var write func(list []explain.Reason, indent string)
	write = func(list []explain.Reason, indent string) {
		for _, one := range list {
			fmt.Fprintf(&b, "\n%s%s: %s", indent, one.Kind, one.Text)
			if len(one.Values) > 0 {
				fmt.Fprintf(&b, " %v", one.Values)
			}
			if one.Decided != nil {
				fmt.Fprintf(&b, " #%d", one.Decided.Seq)
			}
			write(one.Reasons, indent+"  ")
		}
	}
	write(out.Reasons, "  ")
	return b.String()
}

// The playbooks of the tests. Their tasks t make the calls; a gate opens with ctx.open.
const (
	gated   = `{step: a, tool: {kind: k, name: t}, next: {arcs: [{step: g}]}}, {step: g, spec: {policy: {admit: {rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}]}}}, tool: {kind: noop}}`
	branch  = `{step: a, tool: {kind: k, name: t}, next: {arcs: [{step: b, when: "{{ event.result == 8 }}"}, {step: c, when: "{{ event.result == 7 }}"}]}}, {step: b, tool: {kind: noop}}, {step: c, tool: {kind: noop}}, {step: d, tool: {kind: noop}}`
	noArc   = `{step: a, tool: {kind: k, name: t}, next: {arcs: [{step: b, when: "{{ event.result == 8 }}"}]}}, {step: b, tool: {kind: noop}}`
	joined  = `{step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}, {step: b, tool: {kind: k, name: t}, next: {arcs: [{step: j}]}}, {step: c, tool: {kind: k, name: t}, next: {arcs: [{step: j}]}}, {step: j, spec: {join: {mode: all}}, tool: {kind: noop}}`
	missed  = `{step: a, next: {spec: {mode: inclusive}, arcs: [{step: b}, {step: c}]}}, {step: b, tool: {kind: k, name: t}, next: {arcs: [{step: j}]}}, {step: c, tool: {kind: k, name: t}, next: {arcs: [{step: j, when: "{{ event.name == 'step.done' }}"}]}}, {step: j, spec: {join: {mode: all}}, tool: {kind: noop}}`
	looped  = `{step: a, loop: {in: "{{ [1, 2, 3] }}", iterator: i, spec: {mode: parallel}}, tool: {kind: k, name: t}}`
	last    = `{step: a, tool: {kind: k, name: t}}, {step: z, spec: {policy: {admit: {rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}]}}}, tool: {kind: noop}}`
	isFinal = `final_step: z`
	gates   = `{step: a, tool: {kind: k, name: t}, next: {spec: {mode: inclusive}, arcs: [{step: g}, {step: h}, {step: b}]}}, {step: g, spec: {policy: {admit: {rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}]}}}, tool: {kind: noop}}, {step: h, spec: {policy: {admit: {rules: [{when: "{{ ctx.far == true }}", then: {allow: true}}]}}}, tool: {kind: noop}}, {step: b, tool: {kind: k, name: t}}`
	denying = `{step: a, next: {arcs: [{step: g}]}}, {step: g, spec: {policy: {admit: {rules: [{when: "{{ ctx.open == null }}", then: {allow: false}}, {else: {then: {allow: true}}}]}}}, tool: {kind: noop}}`
	faulty  = `{step: a, next: {arcs: [{step: g}]}}, {step: g, spec: {policy: {admit: {rules: [{when: "{{ ctx.n > 3 }}", then: {allow: true}}]}}}, tool: {kind: noop}}`
	waiting = `{step: a, tool: {kind: noop, name: t, spec: {policy: {rules: [{else: {then: {do: retry, attempts: 2, delay: 60}}}]}}}}`
)

func TestANetExplainsItself(t *testing.T) {
	for _, c := range []struct{ what, workflow, executor, words, name, want string }{
		{"a call under way", gated, "", "", "", `run running #1
  call: call a@1.t is running #3
    call: operation k was called, and has not answered`},
		{"a step with a call under way", gated, "", "", "a", `step running #2
  call: call a@1.t is running #3
    call: operation k was called, and has not answered`},
		{"a step-run under way", gated, "", "", "a@1", `step-run running #2
  call: call a@1.t is running #3
    call: operation k was called, and has not answered`},
		{"a step that no token has come to", gated, "", "", "g", `step idle
  routed: step a leads here, and is still running #2`},
		{"a token at a gate", gated, "", "a@1.t", "", `run waiting #4
  gate: a token waits at the gate of step g: no rule lets it in: ctx.open == true map[ctx.open:<nil>] #4`},
		{"a step with a gate", gated, "", "a@1.t", "g", `step waiting #4
  gate: a token waits at the gate of step g: no rule lets it in: ctx.open == true map[ctx.open:<nil>] #4`},
		{"a step that has run", gated, "", "a@1.t", "a", `step completed #4
  end: it has run once #4`},
		{"a step-run that is over", gated, "", "a@1.t", "a@1", `step-run completed #4`},
		{"a call that is over", gated, "", "a@1.t", "a@1.t", `call completed #4`},
		{"an open gate", gated, "", "a@1.t ctx.open", "g", `step completed #6
  end: it has run once #6`},
		{"a run that has ended", gated, "", "a@1.t ctx.open", "", `run completed #7
  end: everything has come to its end`},
		{"a gate that fails the run", gated, "policy: {on_blocked: fail}", "a@1.t", "", `run failed #5
  failure: blocked: nothing opens the gates that tokens wait at: 1
  gate: a token has waited at the gate of step g: no rule lets it in: ctx.open == true map[ctx.open:<nil>] #4`},
		{"an opened gate is no reason for the end of a run", gates, "policy: {on_blocked: fail}", "a@1.t ctx.open b@1.t", "", `run failed #10
  failure: blocked: nothing opens the gates that tokens wait at: 1
  gate: a token has waited at the gate of step h: no rule lets it in: ctx.far == true map[ctx.far:<nil>] #4`},
		{"a shut gate is no reason for another failure", gates, "policy: {on_blocked: discard}", "a@1.t ctx.open !b@1.t", "", `run failed #10
  failure: boom: no
    failure: step-run b@1 has failed with that #9
  failure: step b has failed: boom: no #9`},
		{"a rule that denies", denying, "", "", "", `run waiting #2
  gate: a token waits at the gate of step g: its rule ctx.open == null denies it map[ctx.open:<nil>] #2`},
		{"a rule that cannot be evaluated", faulty, "", "", "", `run waiting #2
  gate: a token waits at the gate of step g: its rule ctx.n > 3 could not be evaluated: {{ ctx.n > 3 }}: cannot compare null with an integer map[ctx.n:<nil>] #2`},
		{"a task that is tried again later", waiting, "", "", "", `run waiting #2
  timer: task t of a@1 is tried again: that is due at 1970-01-01T00:01:00Z`},
		{"no step", gated, "", "a@1.t", "x", `not found`},
		{"no step-run", gated, "", "a@1.t", "a@2", `not found`},
		{"an arc that was not taken", branch, "", "a@1.t", "b", `step idle
  routed: step-run a@1 leads here when event.result == 8, and went to c instead map[event.result:7] #4`},
		{"a step without arcs to it", branch, "", "a@1.t", "d", `step idle
  routed: no arc leads to it`},
		{"no arc holds", noArc, "", "a@1.t", "b", `step idle
  routed: step-run a@1 leads here when event.result == 8: no arc of it has held map[event.result:7] #4`},
		{"a failure without a way out", noArc, "", "!a@1.t", "", `run failed #5
  failure: boom: no
    failure: step-run a@1 has failed with that, and no arc with a when has taken it up #4
  failure: step a has failed: boom: no #4`},
		{"a failed step", noArc, "", "!a@1.t", "a", `step failed #4
  failure: boom: no #4`},
		{"a join that waits", joined, "", "b@1.t", "", `run running #1
  join: the join at step j (all) has tokens from b, of the fan-out of a@1; still to come: 1 #7
  call: call c@1.t is running #6
    call: operation k was called, and has not answered`},
		{"a join that a failed branch has come to", joined, "", "b@1.t !c@1.t", "j", `step completed #9
  end: it has run once #9`},
		{"a run with a failed branch", joined, "", "b@1.t !c@1.t", "", `run failed #10
  failure: boom: no
    failure: step-run c@1 has failed with that, and no arc with a when has taken it up #8
  failure: step c has failed: boom: no #8`},
		{"a join that a failed branch has not come to", missed, "", "b@1.t !c@1.t", "j", `step idle
  routed: step-run b@1 has sent a token here, and its join has not let it go on: other branches of the fan-out have failed, or too few have come #7
  routed: step-run c@1 leads here when event.name == 'step.done': no arc of it has held map[event.name:step.failed] #8`},
		{"a run with arcs that did not hold", missed, "", "b@1.t !c@1.t", "", `run failed #9
  failure: boom: no
    failure: step-run c@1 has failed with that, and no arc with a when has taken it up #8
  failure: step c has failed: boom: no #8`},
		{"a join of a run that starts nothing new", joined, "policy: {completion: fail_fast}", "b@1.t !c@1.t", "j", `step idle
  routed: step-run b@1 has sent a token here, and its join has not let it go on: other branches of the fan-out have failed, or too few have come #7
  routed: step-run c@1 has sent a token here, and its join has not let it go on: other branches of the fan-out have failed, or too few have come #8`},
		{"a step of a run that starts nothing new", joined, "policy: {completion: fail_fast}", "!c@1.t b@1.t", "j", `step idle
  routed: step b leads here, and when it had ended nothing new was started any more #8
  routed: step-run c@1 has sent a token here, and its join has not let it go on: other branches of the fan-out have failed, or too few have come #7`},
		{"a paused run", gated, "", "a@1.t #", "g", `step waiting #4
  pause: the run is paused #5
  gate: a token waits at the gate of step g: no rule lets it in: ctx.open == true map[ctx.open:<nil>] #4`},
		{"a loop", looped, "", "!a@1[0].t", "", `run running #1
  items: a@1 has done 1 of 3 items #2
  call: call a@1[1].t is running #4
    call: operation k was called, and has not answered
  call: call a@1[2].t is running #5
    call: operation k was called, and has not answered`},
		{"an iteration under way", looped, "", "!a@1[0].t", "a@1[1]", `item running
  call: call a@1[1].t is running #4
    call: operation k was called, and has not answered`},
		{"an iteration of a step-run that was aborted", looped, "", "-a@1", "a@1[1]", `item aborted #6
  end: it was under way when step-run a@1 ended, which is failed #6`},
		{"an iteration that is over", looped, "", "!a@1[0].t", "a@1[0]", `item failed #6
  failure: boom: no`},
		{"a loop with failed items", looped, "", "!a@1[0].t !a@1[1].t a@1[2].t", "a", `step failed #8
  failure: boom: no #8
  items: items of a@1 that have failed: 2
    failure: a@1[0]: boom: no #6
    failure: a@1[1]: boom: no #7`},
		{"a step-run that was aborted", joined, "", "-b@1", "b", `step failed #7
  failure: aborted #7`},
		{"a call of a step-run that was aborted", joined, "", "-b@1", "b@1.t", `call aborted #7
  end: it was under way when step-run b@1 ended, which is failed #7`},
		{"a step of a run that was cancelled", joined, "", "b@1.t ^", "c", `step aborted #8
  end: it was under way when the run was ended #8`},
		{"a join of a run that was cancelled", joined, "", "b@1.t ^", "j", `step idle
  routed: step-run b@1 has sent a token here, and it was dropped: nothing new was started any more #7
  routed: step c leads here, and has not run to its end`},
		{"a step-run of a run that was cancelled", joined, "", "b@1.t ^", "c@1", `step-run aborted #8
  end: it was under way when the run was ended #8`},
		{"a run that was cancelled", joined, "", "b@1.t ^", "", `run aborted #9
  failure: cancelled #8`},
		{"a final step that is not reached yet", last, isFinal, "", "z", `step idle
  final: it is the final step: it runs when nothing else can move any more`},
		{"a final step that its gate denies", last, isFinal, "a@1.t", "z", `step idle #4
  final: it is the final step, and its gate has denied it: no rule lets it in: ctx.open == true map[ctx.open:<nil>] #4`},
		{"a final step of a run that was cancelled", last, isFinal, "^", "z", `step idle
  final: it is the final step, which does not run where the whole run is ended #4`},
	} {
		t.Run(c.what, func(t *testing.T) {
			r := start(t, c.workflow, c.executor)
			for word := range strings.FieldsSeq(c.words) {
				r.play(word)
			}
			require.Equal(t, c.want, r.explained(c.name))
		})
	}
}
