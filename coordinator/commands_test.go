package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// TestACommandIsCarriedOutOrRefused puts every command to random workflows in every state that they come to. One that is
// refused leaves the run as it was; one that is not has the effect that it is for, at once, and another attempt is made before
// the run ends, unless it is taken back. It is the same whether the process that takes the command drives the run or only
// notes it, and when it is made anew from the journal. And there is no state without a way out: when every step that has not
// ended is aborted, the run ends.
func TestACommandIsCarriedOutOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &desk{t: t, owed: map[string]int32{}, callsMax: rapid.IntRange(0, 2).Draw(t, "calls max")}
		checked, err := kinds.Load("w.yaml", []byte(d.workflow()), template.Known{Lenient: true})
		require.NoError(t, err)
		p, err := plan.Compile(checked)
		require.NoError(t, err)
		d.plan = p
		d.recover()
		require.NoError(t, d.give(decide.Started("r", p, nil, decide.Limits{})))
		for range rapid.IntRange(0, 40).Draw(t, "moves") {
			switch rapid.IntRange(0, 12).Draw(t, "move") {
			case 0:
				d.recover()
			case 1, 2, 3, 4, 5, 6:
				d.command()
			default:
				d.happen()
			}
		}
		if rapid.Bool().Draw(t, "leave") {
			d.leave()
		} else {
			d.stay()
		}
	})
}

// desk is a run with a person who may do anything to it.
type desk struct {
	t    *rapid.T
	plan *plan.Plan
	root *reactive.Root
	step *decide.Stepper
	log  []journal.Event
	now  int64
	n    int

	callsMax int              // the process has room for so many calls; 0: for any
	aborting bool             // something is being aborted: that may take back another attempt
	owed     map[string]int32 // steps that are to be attempted again: the attempt they had when that was accepted
}

func (d *desk) Function(string, []any) (value.Value, *journal.Failure) {
	return nil, call.NewFailure("", "there are no functions")
}
func (d *desk) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }
func (d *desk) Reserve(reactive.Room) bool {
	return d.callsMax == 0 || len(d.root.OpenCalls()) < d.callsMax
}
func (d *desk) one(of ...string) string { return rapid.SampledFrom(of).Draw(d.t, "one") }

func (d *desk) workflow() string {
	return fmt.Sprintf(`
kind: Workflow
name: w
failure_policy: %s
max_concurrency: %s
operations: {nap: {sleep: {for: PT3S}}, mail: {wait: {message: go}}, note: {value: 1}, stop: {fail: {code: stop}}}
steps: %s`, d.one("continue-running", "abort-dependents", "abort-all"), d.one("1", "2", "100"), d.steps(0))
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
	operation, target := d.one("work", "work", "nap", "mail", "note", "stop"), ""
	if operation == "work" {
		target = ", target: {resolve: static, participants: [a, b]}, fan_in: {policy: all}"
	}
	return fmt.Sprintf("{operation: %s, id: s%d%s}", operation, id, d.one("", "", target,
		", timing: {retry: {max_attempts: 2, backoff: PT2S}}",
		", timing: {timeout: PT5S, on_timeout: skip}",
		", timing: {total_timeout: PT9S, retry: {max_attempts: 3, backoff: PT4S}}",
		", fulfillment: {policy: requester_confirmation}",
		", fulfillment: {policy: external_decision, decision_source: {kind: operator, timing: {timeout: PT6S, retry: {max_attempts: 2, backoff: PT1S}}}, on_error: retry}",
		", fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: verify, timing: {retry: {max_attempts: 2, backoff: PT1S}}}, "+
			"result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}, on_error: retry, on_not_fulfilled: "+d.one("pause", "fail", "skip", "abort_workflow")+"}",
		", fulfillment: {policy: output_match, result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}, on_not_fulfilled: pause}"))
}

// recover makes the run anew from its journal, as after a crash. It is where it was.
func (d *desk) recover() {
	was := d.root
	d.root = decide.NewRoot(d.plan)
	d.step = decide.NewStepper(d.root, d)
	for i := range d.log {
		e := d.log[i]
		e.Hint = 0
		d.root.Apply(&e)
	}
	d.root.TakeCalls()
	d.root.TakeCancels()
	if was != nil {
		var want, got strings.Builder
		was.Digest(&want, d.now)
		d.root.Digest(&got, d.now)
		require.Equal(d.t, want.String(), got.String(), "made anew from the journal")
	}
}

// turn has the run take what came in and go on as far as it does without anybody.
func (d *desk) turn(items ...decide.Item) {
	for more := true; more; items = nil {
		out := d.step.Step(d.now, items)
		d.log = append(d.log, out.Batch...)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		more = out.More
		d.settle()
	}
}

// give brings an event in and follows it to its end. The error says why it was refused.
func (d *desk) give(e journal.Event) (refused error) {
	d.turn(decide.Item{Event: e, Received: d.now, Reply: func(err error) { refused = err }})
	return refused
}

// note brings a command in by way of a process that does not drive the run. Another goes on with it.
func (d *desk) note(e journal.Event) error {
	batch, err := d.step.Note(d.now, e)
	if err == nil {
		d.log = append(d.log, batch...)
		d.settle()
	}
	d.root = nil // what was not journaled is lost with the process
	d.recover()
	return err
}

// settle holds the run to the attempts that it owes: until they are made, the run does not end, unless it is closed.
func (d *desk) settle() {
	if d.root.Closed() {
		clear(d.owed)
	}
	for key, attempt := range d.owed {
		v, ok := d.root.Node(key)
		require.True(d.t, ok, "%s is no more", key)
		switch {
		case d.root.Attempt(v) > attempt, d.root.BlocksRetry(v), // it is made, or what it needs has failed since
			d.aborting && !d.root.Pending(v):
			delete(d.owed, key)
		default:
			require.True(d.t, d.root.Pending(v), "%s is to be attempted again, and will not be", key)
			require.Nil(d.t, d.root.Finished(), "the run has finished before %s is attempted again", key)
		}
	}
}

// happen lets time pass, or a call end.
func (d *desk) happen() {
	open := d.root.OpenCalls()
	if len(open) == 0 || rapid.IntRange(0, 3).Draw(d.t, "time") == 0 {
		d.now += int64(rapid.IntRange(1, 4).Draw(d.t, "seconds")) * int64(time.Second)
		d.turn()
		return
	}
	d.answer(rapid.SampledFrom(open).Draw(d.t, "call"), rapid.IntRange(0, 2).Draw(d.t, "fails") == 0, rapid.Bool().Draw(d.t, "ok"))
}

// answer ends a call.
func (d *desk) answer(req reactive.Request, fails, ok bool) {
	var err error
	if fails {
		err = errors.New("no")
	}
	e := decide.Ending(req, operation.ResultOf(map[string]any{"ok": ok}, err))
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
	d.turn() // what is due has happened
	e := journal.Event{Detail: &journal.Detail{Actor: "ann"}}
	key := rapid.SampledFrom(append(d.keys(), "nothing")).Draw(d.t, "key")
	switch e.Type = rapid.SampledFrom([]journal.Type{
		journal.NodeAborted, journal.NodeAborted, journal.NodeRetried, journal.NodeRetried, journal.DecisionReceived, journal.DecisionReceived,
		journal.RunPaused, journal.RunResumed, journal.MessageReceived, journal.ContextPatched, journal.RunCancelled,
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
	case journal.RunCancelled:
		if rapid.IntRange(0, 9).Draw(d.t, "really") > 0 {
			return
		}
	}
	before, seq := d.look(key), d.root.Seq()
	give := d.give
	if rapid.IntRange(0, 3).Draw(d.t, "noted") == 0 {
		give = d.note
	}
	d.aborting = e.Type == journal.NodeAborted
	refused := give(e)
	d.aborting = false
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
	switch e.Type {
	case journal.NodeAborted:
		if was.pending && !was.undecided {
			require.False(d.t, is.pending, "%s: the retry to come is given up", e.Node)
			return
		}
		require.Equal(d.t, reactive.Aborted, is.status, "%s was %s", e.Node, was.status)
	case journal.NodeRetried:
		asked := was.undecided && is.undecided && !e.Detail.Work
		require.True(d.t, asked || is.attempt > was.attempt || is.pending, "%s is %s", e.Node, is.status)
		if is.pending && is.attempt == was.attempt {
			d.owed[e.Node] = was.attempt
		}
	case journal.DecisionReceived:
		require.False(d.t, is.undecided && !d.root.Paused(), "%s is still undecided", e.Node)
	case journal.RunPaused:
		require.True(d.t, is.paused)
	case journal.RunResumed:
		require.False(d.t, is.paused)
	case journal.RunCancelled:
		require.NotNil(d.t, d.root.Finished())
	case journal.ContextPatched:
		d.t.Fatalf("a workflow has no context")
	}
}

// stay does what the run waits for until it ends, and with that has every step attempted once more. Each is.
func (d *desk) stay() {
	again := d.keys()
	for range 10_000 {
		open := d.root.OpenCalls()
		switch finished := d.root.Finished() != nil; {
		case finished && (d.root.Closed() || len(again) == 0):
			return
		case finished:
			e := journal.Event{Type: journal.NodeRetried, Node: again[0]}
			again = again[1:]
			if was := d.look(e.Node); d.give(e) == nil {
				d.effect(&e, was, d.look(e.Node))
			}
		case d.root.Stopped():
			require.NoError(d.t, d.give(journal.Event{Type: journal.RunResumed}))
		case len(open) > 0:
			d.answer(open[0], false, true)
		case !d.decide():
			d.now += int64(time.Second)
			require.NoError(d.t, d.give(journal.Event{Type: journal.MessageReceived, Detail: &journal.Detail{Name: "go"}}))
		}
	}
	d.t.Fatalf("the run does not end: it is %s", d.root.RunStatus())
}

// decide says of a step that waits for it that it is done; false: there is none.
func (d *desk) decide() bool {
	for _, key := range d.keys() {
		if v, _ := d.root.Node(key); d.root.Undecided(v) {
			require.NoError(d.t, d.give(journal.Event{
				Type: journal.DecisionReceived, Node: key, Detail: &journal.Detail{State: string(call.Fulfilled)},
			}))
			return true
		}
	}
	return false
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
			clear(d.owed)
			require.NoError(d.t, d.give(journal.Event{Type: journal.NodeAborted, Node: key}), "%s is %s", key, d.root.Status(v))
			aborted = true
		}
		require.True(d.t, aborted || d.root.Finished() != nil, "every step has ended, and the run is %s", d.root.RunStatus())
	}
	d.t.Fatalf("the run does not end")
}

// TestARetryThatWouldBeAbortedIsRefused: of an item of a map, too, whose own predecessors say nothing of what the map needs.
func TestARetryThatWouldBeAbortedIsRefused(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{
		operation.Define("work", func(_ context.Context, fails bool) (any, error) {
			if fails {
				return nil, operation.Permanent(errors.New("no"))
			}
			return nil, nil
		}),
		operation.Define("once", func(ctx context.Context, _ any) (any, error) {
			if operation.CallOf(ctx).Attempt > 1 {
				return nil, operation.Permanent(errors.New("no"))
			}
			return nil, nil
		}),
	}})
	r := start(t, e, `{kind: Workflow, name: w, failure_policy: abort-dependents, steps: [{operation: once, id: a}, {map: {id: m, over: [1], steps: [{operation: work, id: x, input: false}]}}]}`)
	require.NoError(t, wait(t, r).Err())
	require.NoError(t, r.Retry(t.Context(), "x[0]"), "nothing is in its way")
	require.NoError(t, wait(t, r).Err())
	require.NoError(t, r.Retry(t.Context(), "a"))
	require.Error(t, wait(t, r).Err())
	require.ErrorIs(t, r.Retry(t.Context(), "x[0]"), coordinator.ErrNotPossible)
}
