package coordinator_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

// TestACommandIsCarriedOutOrRefused puts every command to random workflows in every state that they come to. One that is
// refused leaves the run as it was; one that is not has the effect that it is for, at once. And there is no state without a
// way out: when every step that has not ended is aborted, the run ends.
func TestACommandIsCarriedOutOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &desk{t: t}
		checked, err := kinds.Load("w.yaml", []byte(d.workflow()), template.Known{Lenient: true})
		require.NoError(t, err)
		p, err := plan.Compile(checked)
		require.NoError(t, err)
		d.root = coordinator.NewRoot(p)
		d.step = coordinator.NewStepper(d.root, d)
		require.NoError(t, d.give(coordinator.Started("r", p, nil)))
		for range rapid.IntRange(0, 40).Draw(t, "moves") {
			if rapid.Bool().Draw(t, "command") {
				d.command()
			} else {
				d.happen()
			}
		}
		d.leave()
	})
}

// desk is a run with a person who may do anything to it.
type desk struct {
	t    *rapid.T
	root *reactive.Root
	step *coordinator.Stepper
	now  int64
	n    int
}

func (d *desk) Function(string) *template.Function { return nil }
func (d *desk) Pure(int32, any) (any, error, bool) { return nil, nil, false }
func (d *desk) Reserve() bool                      { return true }
func (d *desk) one(of ...string) string            { return rapid.SampledFrom(of).Draw(d.t, "one") }

func (d *desk) workflow() string {
	return fmt.Sprintf(`
kind: Workflow
name: w
failure_policy: %s
operations: {nap: {sleep: {for: PT3S}}, mail: {wait: {message: go}}, note: {value: 1}, stop: {fail: {code: stop}}}
steps: %s`, d.one("continue-running", "abort-dependents", "abort-all"), d.steps(0))
}

func (d *desk) steps(depth int) string {
	list := make([]string, rapid.IntRange(1, 3).Draw(d.t, "n"))
	for i := range list {
		list[i] = d.node(depth)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (d *desk) node(depth int) string {
	kind := 9
	if depth < 3 {
		kind = rapid.IntRange(0, 9).Draw(d.t, "kind")
	}
	d.n++
	id := d.n
	switch kind {
	case 0:
		return fmt.Sprintf("{parallel: {max_concurrency: %s, steps: %s}}", d.one("1", "2"), d.steps(depth+1))
	case 1:
		return fmt.Sprintf("{operation: work, id: s%d}, {conditional: {id: c%d, test: s%d, then: %s, else: %s}}",
			id, id, id, d.steps(depth+1), d.steps(depth+1))
	case 2:
		return fmt.Sprintf("{map: {id: m%d, over: [1, 2], steps: %s}}", id, d.steps(depth+1))
	case 3:
		return fmt.Sprintf("{sequential: {steps: %s}}", d.steps(depth+1))
	}
	return fmt.Sprintf("{operation: %s, id: s%d%s}", d.one("work", "work", "nap", "mail", "note", "stop"), id, d.one("", "",
		", timing: {retry: {max_attempts: 2, backoff: PT2S}}",
		", timing: {timeout: PT5S, on_timeout: skip}",
		", timing: {total_timeout: PT9S, retry: {max_attempts: 3, backoff: PT4S}}",
		", target: {resolve: static, participants: [a, b]}, fan_in: {policy: all}",
		", fulfillment: {policy: requester_confirmation}",
		", fulfillment: {policy: external_decision, decision_source: {kind: operator, timing: {timeout: PT6S, retry: {max_attempts: 2, backoff: PT1S}}}, on_error: retry}",
		", fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: verify, timing: {retry: {max_attempts: 2, backoff: PT1S}}}, "+
			"result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}, on_error: retry, on_not_fulfilled: "+d.one("pause", "fail", "skip", "abort_workflow")+"}",
		", fulfillment: {policy: output_match, result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}, on_not_fulfilled: pause}"))
}

// give brings an event in and follows it to its end. The error says why it was refused.
func (d *desk) give(e journal.Event) (refused error) {
	items := []coordinator.Item{{Event: e, Received: d.now, Reply: func(err error) { refused = err }}}
	for more := true; more; items = nil {
		out := d.step.Step(d.now, items)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		more = out.More
	}
	return refused
}

// happen lets time pass, or a call end.
func (d *desk) happen() {
	open := d.root.OpenCalls()
	if len(open) == 0 || rapid.IntRange(0, 3).Draw(d.t, "time") == 0 {
		d.now += int64(rapid.IntRange(1, 4).Draw(d.t, "seconds")) * int64(time.Second)
		d.step.Step(d.now, nil)
		return
	}
	req := rapid.SampledFrom(open).Draw(d.t, "call")
	var err error
	if rapid.IntRange(0, 2).Draw(d.t, "fails") == 0 {
		err = errors.New("no")
	}
	e := coordinator.Ending(req, map[string]any{"ok": rapid.Bool().Draw(d.t, "ok")}, err)
	e.Node = d.root.Key(req.Node)
	require.NoError(d.t, d.give(e))
}

func (d *desk) keys() (list []string) {
	for v := range d.root.Len() {
		if d.root.Status(v) != reactive.Absent && d.root.Key(v) != "" {
			list = append(list, d.root.Key(v))
		}
	}
	return list
}

// command puts a random command, and holds the run to it.
func (d *desk) command() {
	d.step.Step(d.now, nil) // what is due has happened
	e := journal.Event{Detail: &journal.Detail{Actor: "ann"}}
	key := rapid.SampledFrom(append(d.keys(), "nothing")).Draw(d.t, "key")
	switch e.Type = rapid.SampledFrom([]journal.Type{
		journal.NodeAborted, journal.NodeAborted, journal.NodeRetried, journal.NodeRetried, journal.DecisionReceived, journal.DecisionReceived,
		journal.RunPaused, journal.RunResumed, journal.MessageReceived, journal.ContextPatched, journal.RunCanceled,
	}).Draw(d.t, "command"); e.Type {
	case journal.NodeAborted:
		e.Node = key
	case journal.NodeRetried:
		e.Node, e.Detail.Work = key, rapid.Bool().Draw(d.t, "work")
	case journal.DecisionReceived:
		e.Node, e.Detail.State = key, d.one(string(call.Fulfilled), string(call.NotFulfilled))
	case journal.MessageReceived:
		e.Detail.Name = d.one("go", "come")
	case journal.ContextPatched:
		e.Value = map[string]any{"a": int64(1)}
	case journal.RunCanceled:
		if rapid.IntRange(0, 9).Draw(d.t, "really") > 0 {
			return
		}
	}
	before, seq := d.look(key), d.root.Seq()
	refused := d.give(e)
	if refused != nil {
		require.Equal(d.t, seq, d.root.Seq(), "%s %s was refused (%v) and is journaled", e.Type, e.Node, refused)
		return
	}
	d.effect(&e, before, d.look(key))
}

// sight is what a command can change.
type sight struct {
	digest                     string
	status                     reactive.Status
	attempt                    int32
	pending, undecided, paused bool
}

func (d *desk) look(key string) sight {
	var b strings.Builder
	d.root.Digest(&b, d.now)
	s := sight{digest: b.String(), paused: d.root.Stopped()}
	if v, ok := d.root.Node(key); ok {
		s.status, s.attempt, s.pending, s.undecided = d.root.Status(v), d.root.Attempt(v), d.root.Pending(v), d.root.Undecided(v)
	}
	return s
}

// effect checks that a command has done what it is for.
func (d *desk) effect(e *journal.Event, was, is sight) {
	if is.attempt == was.attempt { // another attempt may end as the one before
		require.NotEqual(d.t, was.digest, is.digest, "%s %s has changed nothing", e.Type, e.Node)
	}
	over := d.root.Finished() != nil
	switch e.Type {
	case journal.NodeAborted:
		if was.pending && !was.undecided {
			require.False(d.t, is.pending, "%s: the retry to come is given up", e.Node)
			return
		}
		require.Equal(d.t, reactive.Aborted, is.status, "%s was %s", e.Node, was.status)
	case journal.NodeRetried:
		asked := was.undecided && is.undecided && !e.Detail.Work
		require.True(d.t, asked || is.attempt > was.attempt || is.pending || over || d.root.Closed(), "%s is %s", e.Node, is.status)
	case journal.DecisionReceived:
		require.False(d.t, is.undecided && !d.root.Paused(), "%s is still undecided", e.Node)
	case journal.RunPaused:
		require.True(d.t, is.paused)
	case journal.RunResumed:
		require.False(d.t, is.paused)
	case journal.RunCanceled:
		require.True(d.t, over)
	case journal.ContextPatched:
		d.t.Fatalf("a workflow has no context")
	}
}

// leave aborts whatever has not ended, and with that the run ends.
func (d *desk) leave() {
	for range 1000 {
		if d.root.Finished() != nil {
			return
		}
		aborted := false
		for _, key := range d.keys() {
			v, ok := d.root.Node(key)
			if !ok || d.root.Final(v) || d.root.Finished() != nil {
				continue
			}
			require.NoError(d.t, d.give(journal.Event{Type: journal.NodeAborted, Node: key}), "%s is %s", key, d.root.Status(v))
			aborted = true
		}
		require.True(d.t, aborted || d.root.Finished() != nil, "every step has ended, and the run is %s", d.root.RunStatus())
	}
	d.t.Fatalf("the run does not end")
}
