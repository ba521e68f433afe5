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

// TestACommandIsCarriedOutOrRefused sends every command to random workflows in every state that they reach. A refused command
// leaves the run unchanged; an accepted one has its effect at once, and the attempt of a retry is made before the run ends, unless an
// abort revokes it. This holds if the process that takes the command drives the run, if it only journals the command, and after a
// recovery from the journal. And every state has a way out: when all unfinished steps are aborted, the run ends.
func TestACommandIsCarriedOutOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := &harness{t: t, owed: map[string]int32{}, callsMax: rapid.IntRange(0, 2).Draw(t, "calls max")}
		checked, err := kinds.Load("w.yaml", []byte(d.workflow()), template.Known{Lenient: true})
		require.NoError(t, err)
		p, err := plan.Compile(checked)
		require.NoError(t, err)
		d.plan = p
		d.recover()
		require.NoError(t, d.apply(decide.Started("r", p, nil, decide.Limits{})))
		for range rapid.IntRange(0, 40).Draw(t, "moves") {
			switch rapid.IntRange(0, 12).Draw(t, "move") {
			case 0:
				d.recover()
			case 1, 2, 3, 4, 5, 6:
				d.command()
			default:
				d.advance()
			}
		}
		if rapid.Bool().Draw(t, "leave") {
			d.abortAll()
		} else {
			d.finish()
		}
	})
}

// harness drives a run and sends it random commands.
type harness struct {
	t    *rapid.T
	plan *plan.Plan
	root *reactive.Root
	step *decide.Stepper
	log  []journal.Event
	now  int64
	n    int

	callsMax int              // maximum of calls in progress; 0: no limit
	aborting bool             // an abort is in progress, which may revoke a retry
	owed     map[string]int32 // steps with an accepted retry, and their attempt at that moment
}

func (d *harness) Function(string, []any) (value.Value, *journal.Failure) {
	return nil, call.NewFailure("", "there are no functions")
}
func (d *harness) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }
func (d *harness) Reserve(reactive.Room) bool {
	return d.callsMax == 0 || len(d.root.OpenCalls()) < d.callsMax
}
func (d *harness) one(of ...string) string { return rapid.SampledFrom(of).Draw(d.t, "one") }

func (d *harness) workflow() string {
	return fmt.Sprintf(`
kind: Workflow
name: w
failure_policy: %s
max_concurrency: %s
operations: {nap: {sleep: {for: PT3S}}, mail: {wait: {message: go}}, note: {value: 1}, stop: {fail: {code: stop}}}
steps: %s`, d.one("continue-running", "abort-dependents", "abort-all"), d.one("1", "2", "100"), d.steps(0))
}

func (d *harness) steps(depth int) string {
	list := make([]string, rapid.IntRange(1, 3).Draw(d.t, "n"))
	for i := range list {
		list[i] = d.node(depth)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (d *harness) node(depth int) string {
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

// recover makes the run anew from its journal, as after a crash, and checks that its state is the same.
func (d *harness) recover() {
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
		require.Equal(d.t, want.String(), got.String(), "recovered from the journal")
	}
}

// turn passes items to the run, and drives it until it waits.
func (d *harness) turn(items ...decide.Item) {
	for more := true; more; items = nil {
		out := d.step.Step(d.now, items)
		d.log = append(d.log, out.Batch...)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		more = out.More
		d.checkOwed()
	}
}

// apply passes an event to the run, and drives it. It returns the reason if the event was refused.
func (d *harness) apply(e journal.Event) (refused error) {
	d.turn(decide.Item{Event: e, Received: d.now, Reply: func(err error) { refused = err }})
	return refused
}

// note journals a command in a process that does not drive the run, and then drives it in another.
func (d *harness) note(e journal.Event) error {
	batch, _, err := d.step.Note(d.now, e)
	if err == nil {
		d.log = append(d.log, batch...)
		d.checkOwed()
	}
	d.root = nil // the process loses everything that is not journaled
	d.recover()
	return err
}

// checkOwed checks that the run makes the attempts it owes before it ends, unless it is closed.
func (d *harness) checkOwed() {
	if d.root.Closed() {
		clear(d.owed)
	}
	for key, attempt := range d.owed {
		v, ok := d.root.Node(key)
		require.True(d.t, ok, "step %s has disappeared", key)
		switch {
		case d.root.Attempt(v) > attempt, d.root.BlocksRetry(v), // the attempt is made, or a predecessor has failed since
			d.aborting && !d.root.Pending(v):
			delete(d.owed, key)
		default:
			require.True(d.t, d.root.Pending(v), "the retry of %s was accepted, and is not pending", key)
			require.Nil(d.t, d.root.Finished(), "the run has finished before the retry of %s", key)
		}
	}
}

// advance lets time pass, or ends a call.
func (d *harness) advance() {
	open := d.root.OpenCalls()
	if len(open) == 0 || rapid.IntRange(0, 3).Draw(d.t, "time") == 0 {
		d.now += int64(rapid.IntRange(1, 4).Draw(d.t, "seconds")) * int64(time.Second)
		d.turn()
		return
	}
	d.answer(rapid.SampledFrom(open).Draw(d.t, "call"), rapid.IntRange(0, 2).Draw(d.t, "fails") == 0, rapid.Bool().Draw(d.t, "ok"))
}

// answer ends a call.
func (d *harness) answer(req reactive.Request, fails, ok bool) {
	var err error
	if fails {
		err = errors.New("no")
	}
	e := decide.Ending(req, operation.ResultOf(map[string]any{"ok": ok}, err))
	e.Node = d.root.Key(req.Node)
	require.NoError(d.t, d.apply(e))
}

func (d *harness) keys() (list []string) {
	for v := range d.root.Len() {
		if d.root.Status(v) != reactive.Absent && d.root.Key(v) != "" {
			list = append(list, d.root.Key(v))
		}
	}
	return list
}

// command sends a random command, and checks its effect.
func (d *harness) command() {
	d.turn() // fire the due timers
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
		e.Detail.Key = d.one("", key+"#1", key+"#2")
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
	give := d.apply
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
	d.checkEffect(&e, before, d.look(key))
}

// view is the part of a run's state that a command can change.
type view struct {
	digest                     string
	status                     reactive.Status
	attempt                    int32
	pending, undecided, paused bool
}

func (d *harness) look(key string) view {
	var b strings.Builder
	d.root.Digest(&b, d.now)
	s := view{digest: b.String(), paused: d.root.Stopped()}
	if v, ok := d.root.Node(key); ok {
		s.status, s.attempt, s.pending, s.undecided = d.root.Status(v), d.root.Attempt(v), d.root.Pending(v), d.root.Undecided(v)
	}
	return s
}

// checkEffect checks that a command has had its effect.
func (d *harness) checkEffect(e *journal.Event, was, is view) {
	if is.attempt == was.attempt { // a new attempt may end like the one before
		require.NotEqual(d.t, was.digest, is.digest, "%s %s has changed nothing", e.Type, e.Node)
	}
	switch e.Type {
	case journal.NodeAborted:
		if was.pending && !was.undecided {
			require.False(d.t, is.pending, "%s: the retry is revoked", e.Node)
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

// finish resumes the run, answers its calls, decides its steps and sends its message until it ends, and then retries every step.
func (d *harness) finish() {
	again := d.keys()
	for range 10_000 {
		open := d.root.OpenCalls()
		switch finished := d.root.Finished() != nil; {
		case finished && (d.root.Closed() || len(again) == 0):
			return
		case finished:
			e := journal.Event{Type: journal.NodeRetried, Node: again[0]}
			again = again[1:]
			if was := d.look(e.Node); d.apply(e) == nil {
				d.checkEffect(&e, was, d.look(e.Node))
			}
		case d.root.Stopped():
			require.NoError(d.t, d.apply(journal.Event{Type: journal.RunResumed}))
		case len(open) > 0:
			d.answer(open[0], false, true)
		case !d.decide():
			d.now += int64(time.Second)
			require.NoError(d.t, d.apply(journal.Event{Type: journal.MessageReceived, Detail: &journal.Detail{Name: "go"}}))
		}
	}
	d.t.Fatalf("the run does not end: it is %s", d.root.RunStatus())
}

// decide decides that a waiting step is done. It returns false if no step waits for a decision.
func (d *harness) decide() bool {
	for _, key := range d.keys() {
		if v, _ := d.root.Node(key); d.root.Undecided(v) {
			require.NoError(d.t, d.apply(journal.Event{
				Type: journal.DecisionReceived, Node: key, Detail: &journal.Detail{State: string(call.Fulfilled)},
			}))
			return true
		}
	}
	return false
}

// abortAll aborts all unfinished steps, and checks that the run ends.
func (d *harness) abortAll() {
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
			require.NoError(d.t, d.apply(journal.Event{Type: journal.NodeAborted, Node: key}), "%s is %s", key, d.root.Status(v))
			aborted = true
		}
		require.True(d.t, aborted || d.root.Finished() != nil, "every step has ended, and the run is %s", d.root.RunStatus())
	}
	d.t.Fatalf("the run does not end")
}

// TestARetryThatWouldBeAbortedIsRefused: also for an item of a map, if a predecessor of the map has failed.
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
	require.NoError(t, r.Retry(t.Context(), "x[0]"), "no predecessor has failed")
	require.NoError(t, wait(t, r).Err())
	require.NoError(t, r.Retry(t.Context(), "a"))
	require.Error(t, wait(t, r).Err())
	require.ErrorIs(t, r.Retry(t.Context(), "x[0]"), coordinator.ErrNotPossible)
}
