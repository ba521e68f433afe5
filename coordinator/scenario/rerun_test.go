package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// stored returns a store with the journal of a track, and the maker of its reruns.
func stored(t *testing.T, track *track, now int64, asked map[string][]string) *rerun.Maker {
	store, p := memory.New(), track.program.Plan
	_, err := store.Append(t.Context(), journal.DefinitionStream(p.Hash), 0, []journal.Event{{Type: journal.ContentStored, Value: p.Workflow.Document()}}, journal.Head{})
	require.NoError(t, err)
	root := decide.NewRoot(p)
	for i := range track.journal {
		e := track.journal[i]
		root.Apply(&e)
	}
	_, err = store.Append(t.Context(), track.id, 0, track.journal, decide.HeadOf(root))
	require.NoError(t, err)
	known, err := registry.New(store, registry.Config{Workers: true})
	require.NoError(t, err)
	return &rerun.Maker{
		Store: store, Registry: known, Limits: track.Limits(), Now: func() int64 { return now },
		Host: func(_ string, _ *registry.Entry, root *reactive.Root) decide.Host { return &named{track, root, asked} },
	}
}

// named is a host that asks the same participants as an earlier run.
type named struct {
	*track
	root  *reactive.Root
	asked map[string][]string // by request
}

func (n *named) Resolve(v int32, _ int64) ([]string, *journal.Failure) {
	return n.asked[reactive.RequestName(n.root.Key(v), n.root.Attempt(v)+1)], nil
}

// rerunDriver is a rerun that receives the later outside events of the original run, after a cut.
type rerunDriver struct {
	root *reactive.Root
	step *decide.Stepper
	asks []journal.Event // requests after its past
	done []journal.Event // its journal
	skip int             // events of the current step that belong to its past
}

func begin(track *track, made *rerun.Made, asked map[string][]string) *rerunDriver {
	first := decide.Started("again", made.Entry.Plan, made.Input, track.Limits())
	decide.LikeStart(first.Detail.Start, made.Past)
	first.At, first.Detail.Start.From = made.Began, made.From
	a := &rerunDriver{root: decide.NewRoot(made.Entry.Plan), skip: len(made.Kept) + 1}
	a.step = decide.NewStepper(a.root, &named{track, a.root, asked})
	items := []decide.Item{{Event: first, Past: true}}
	for _, e := range made.Kept {
		items = append(items, decide.Item{Event: e, Past: true})
	}
	a.take(made.Began+track.journal[made.From.Seq-1].At-track.journal[0].At, items)
	return a
}

// take takes items at an instant, after the timers that are due before.
func (a *rerunDriver) take(now int64, items []decide.Item) {
	for due := a.step.NextDue(); due > 0 && due < now && len(items) > 0 && a.skip == 0; due = a.step.NextDue() {
		a.take(due, nil)
	}
	for more := true; more; items = nil {
		out := a.step.Step(max(now, a.root.At()), items)
		a.done = append(a.done, out.Batch...)
		for _, e := range out.Batch[a.skip:] {
			if e.Type == journal.CallRequested {
				a.asks = append(a.asks, e)
			}
		}
		a.skip, more = 0, out.More
	}
}

// given reports whether an event came from outside the run, so that a rerun must receive it, too.
func given(root *reactive.Root, e *journal.Event) bool {
	switch e.Type {
	case journal.MessageReceived, journal.NodeAborted, journal.NodeRetried, journal.ContextPatched, journal.RunPaused, journal.RunResumed,
		journal.RunCancelled, journal.DecisionOverridden, journal.CallReported, journal.DispatchSettled:
		return true
	case journal.DecisionReceived:
		return !e.ByTimer()
	case journal.CallResponded, journal.CallError:
		v, ok := root.Node(e.Node)
		return !e.ByTimer() && (!ok || root.Row(v).OpKind == plan.Call || e.Detail != nil && e.Detail.Participant != "")
	}
	return false
}

// replayRest passes to a rerun the outside events of its run after an event, at the same distances in time.
func (a *rerunDriver) replayRest(track *track, after int, move int64) {
	root := decide.NewRoot(track.program.Plan)
	var items []decide.Item
	now := int64(0)
	flush := func(at int64) {
		if len(items) > 0 {
			a.take(now, items)
		}
		items, now = nil, at
	}
	for i := range track.journal {
		e := track.journal[i]
		if i > after && given(root, &e) {
			if at := e.At + move; at != now {
				flush(at)
			}
			it := decide.Item{Event: e}
			it.Event.Seq, it.Event.At, it.Event.Hint = 0, 0, 0
			if e.Detail != nil {
				d := *e.Detail
				it.Event.Detail = &d
				d.Received = 0
			}
			if e.Type != journal.CallResponded && e.Type != journal.CallError && e.Type != journal.CallReported && e.Type != journal.DispatchSettled {
				it.Reply = func(error) {}
			}
			items = append(items, it)
		} else if i > after {
			flush(now)
			if e.At+move > now {
				now = e.At + move
				a.take(now, nil)
			}
		}
		root.Apply(&e)
	}
	flush(now)
}

// end describes the end of a run, or its current state.
func end(root *reactive.Root) string {
	text := fmt.Sprintln(root.RunStatus())
	if f := root.Finished(); f != nil {
		out, _ := value.JSON(f.Value)
		text += fmt.Sprintln(string(out))
		if d := f.Detail; d.Failure != nil {
			text += d.Failure.Code + " " + d.Failure.Step
		}
	}
	steps := root.Steps()
	for _, name := range steps.Names() {
		s, _ := steps.StepNow(name)
		text += fmt.Sprintln(name, s.Status, s.Runs, s.Pending, s.Held, value.Text(s.Result))
	}
	ctx, _ := value.JSON(steps.Context())
	return strings.ReplaceAll(text+string(ctx), "sluice://run/"+root.Start().Run+"/", "sluice://run/")
}

// timed reports whether a timer of a call in progress at a cut fired after the cut. In a rerun, such a call begins later.
func timed(track *track, open map[string]bool, after int) bool {
	return slices.ContainsFunc(track.journal[after+1:], func(e journal.Event) bool {
		return open[e.Node] && (e.ByTimer() || e.Type == journal.DispatchCreated)
	})
}

// A rerun from any event of a playbook's run receives the later outside events of that run, and ends as the run did, unless a timer
// of a call in progress fires later. It repeats no answered request, and makes no request that the preview did not list.
func TestAPlaybookRerunFromAnyEventEndsAsTheRunDid(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	cuts, kept, apart, gone := 0, 0, 0, 0
	recorded(t, func(name string, track *track) {
		if track.program.Plan.Workflow.Routing == nil || track.world() != nil {
			return
		}
		asked := participantsOf(track)
		last := track.journal[len(track.journal)-1].At
		tries := 2
		if len(track.journal) > 500 {
			tries = 1
		}
		if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
			tries *= 20
		}
		for _, at := range draw.Perm(len(track.journal))[:min(len(track.journal), tries)] {
			now := last + int64(draw.IntN(1e9))
			m := stored(t, track, now, asked)
			made, err := m.Make(t.Context(), track.id, &rerun.Options{At: uint64(at + 1)})
			if errors.Is(err, decide.ErrNotPossible) {
				continue // it has ended by then
			}
			require.NoError(t, err, "%s at %d", name, at+1)
			cuts, kept = cuts+1, kept+len(made.Kept)
			p, err := made.Preview(t.Context())
			require.NoError(t, err)
			open, ended := map[string]bool{}, map[string]bool{}
			for _, s := range p.Will {
				open[s.Step] = true
			}
			for _, s := range p.Kept {
				ended[s.Step] = true
			}
			a := begin(track, made, asked)
			a.replayRest(track, at, now-track.journal[at].At)
			own := *track
			own.journal = a.done
			report := shadowOf(t, &own, track.program.Plan)
			require.Empty(t, report.Differences, "%s at %d: the rerun has a shadow of its own", name, at+1)
			if now := firstGone(t, track.program.Plan); now != nil && len(made.Kept) > 0 && slices.ContainsFunc(made.Kept, leads(made.Kept)) {
				require.NotNil(t, shadowOf(t, &own, now).Past(), "%s at %d: an arc of the past is gone", name, at+1)
				gone++
			}
			said := map[string]bool{}
			for _, s := range slices.Concat(p.Will, p.May) {
				said[s.Step] = true
			}
			for _, e := range a.asks {
				require.True(t, said[e.Node] || said[anyOf(e.Node)], "%s at %d: %s was asked, and %+v did not say so", name, at+1, e.Node, p)
			}
			if timed(track, open, at) {
				apart++
				continue
			}
			require.Equal(t, end(track.seen), end(a.root), "%s at %d", name, at+1)
		}
	})
	t.Log(cuts, "cuts,", kept, "events kept,", apart, "with timers of calls under way,", gone, "with an arc of the past")
	require.Greater(t, cuts, 100)
	require.Greater(t, gone, 20)
}

// anyOf returns the task of a call's key in the form of a preview: `page@*[*].get`.
func anyOf(key string) string {
	var out []byte
	for i := 0; i < len(key); i++ {
		switch c := key[i]; c {
		case '~':
			return string(out)
		case '@', '[':
			out = append(out, c, '*')
			for i+1 < len(key) && key[i+1] >= '0' && key[i+1] <= '9' {
				i++
			}
		default:
			out = append(out, c)
		}
	}
	return string(out)
}

// firstGone returns a playbook without the arcs of its first step, or nil if there are none or the result is refused.
func firstGone(t *testing.T, p *plan.Plan) *plan.Plan {
	now := changed(t, p, func(doc map[string]any) {
		if step, ok := doc["workflow"].([]any)[0].(map[string]any); ok {
			delete(step, "next")
		}
	})
	if now == nil || now.Hash == p.Hash {
		return nil
	}
	return now
}

// leads returns a function that reports whether an event schedules a step other than the step of the first event of a past.
func leads(past []journal.Event) func(journal.Event) bool {
	first, _, _ := strings.Cut(past[0].Node, "@")
	return func(e journal.Event) bool {
		step, _, _ := strings.Cut(e.Node, "@")
		return e.Type == journal.StepScheduled && step != first
	}
}
