package scenario

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// movable holds changes of a document after which open runs may continue. All except the first add a call for some runs.
var movable = map[string]func(doc map[string]any){
	"version": func(doc map[string]any) { doc["version"] = "moved" },
	"call": func(doc map[string]any) {
		doc["steps"] = []any{map[string]any{"parallel": map[string]any{"steps": []any{
			map[string]any{"sequential": map[string]any{"steps": doc["steps"]}}, map[string]any{"id": "added-by-the-change", "operation": "added-by-the-change"},
		}}}}
	},
	"last": func(doc map[string]any) {
		doc["steps"] = append(slices.Clone(doc["steps"].([]any)), map[string]any{"id": "added-by-the-change", "operation": "added-by-the-change"})
	},
}

// moved moves a run to another workflow after an event, and returns it after the next requests of that workflow.
func moved(track *track, now *plan.Plan, upto int, asked map[string][]string) (a *rerunDriver, past []journal.Event) {
	event := decide.Moved(decide.StartUnder(track.journal[0].Detail.Start, now), "")
	a = &rerunDriver{root: decide.NewRoot(now)}
	for i := range track.journal[:upto] {
		past = append(past, decide.Under(&track.journal[i], &event))
	}
	event.Seq, event.At = uint64(upto)+1, past[upto-1].At
	past = append(past, event)
	for i := range past {
		a.root.Apply(&past[i])
	}
	a.step = decide.NewStepper(a.root, &named{track, a.root, asked})
	a.take(event.At, nil)
	return a, past
}

// describe describes the end or the current state of a moved run, or of a fresh one. The events of a moved run begin with its past.
func (a *rerunDriver) describe(now *plan.Plan, past []journal.Event) string {
	if a.root.Steps() != nil {
		return end(a.root)
	}
	states := inspect.NewStates(decide.NewRoot(now))
	for _, e := range slices.Concat(past, a.done) {
		states.Apply(&e)
	}
	s := states.State("")
	text := fmt.Sprintln(s.Status, value.Text(s.Output), code(s.Failure))
	for i := range s.Steps {
		one := &s.Steps[i]
		text += fmt.Sprintln(one.Step, one.Status, one.Pending, one.Attempts, one.Branch, one.Reports, value.Text(one.Output), code(one.Failure))
	}
	return text
}

func code(f *journal.Failure) string {
	if f == nil {
		return ""
	}
	return f.Code + " " + f.Step
}

// fresh returns a run that starts with another workflow, and receives the outside events of the original run.
func fresh(track *track, now *plan.Plan, asked map[string][]string) *rerunDriver {
	event := decide.Moved(decide.StartUnder(track.journal[0].Detail.Start, now), "")
	a := &rerunDriver{root: decide.NewRoot(now), skip: 1}
	a.step = decide.NewStepper(a.root, &named{track, a.root, asked})
	a.take(track.journal[0].At, []decide.Item{{Event: decide.Under(&track.journal[0], &event), Past: true}})
	a.replayRest(track, 0, 0)
	return a
}

// participantsOf returns the participants that a run has asked, by request.
func participantsOf(track *track) map[string][]string {
	asked := map[string][]string{}
	for i := range track.journal {
		if e := &track.journal[i]; e.Detail != nil && len(e.Detail.Participants) > 0 {
			asked[reactive.RequestName(e.Node, e.Attempt)] = e.Detail.Participants
		}
	}
	return asked
}

// A run can be moved, after any of its turns, to a workflow under which its past is the same. It then equals a fresh run that was
// started with that workflow and received the same answers: it has the same status and makes the same requests. When both receive
// the later outside events of the original run, they end in the same way, or stay in the same state.
func TestAMovedRunIsAFreshRunOfTheOtherWorkflow(t *testing.T) {
	moves, ended, differ := 0, 0, 0
	recorded(t, func(name string, track *track) {
		p := track.program.Plan
		if len(p.Functions) > 0 {
			return
		}
		participants := participantsOf(track)
		for kind, change := range movable {
			if kind != "version" && (p.Workflow.Routing != nil || p.Workflow.MaxConcurrency > 0) {
				continue
			}
			now := changed(t, p, change)
			if now == nil || now.Hash == p.Hash {
				continue
			}
			whole := fresh(track, now, participants).describe(now, nil)
			for upto := 1; upto < len(track.journal); upto++ {
				if track.journal[upto].At == track.journal[upto-1].At || testing.Short() && upto%3 > 0 {
					continue // within a turn
				}
				cut := *track
				cut.journal = track.journal[:upto]
				report := shadowOf(t, &cut, now)
				if report.Status.Terminal() || report.Past() != nil || report.Status == reactive.RunPaused { // a paused run makes its requests later
					differ++
					continue
				}
				moves++
				a, past := moved(track, now, upto, participants)
				require.Equal(t, report.Shadow, a.root.RunStatus(), "%s: %s after event %d", name, kind, upto)
				var want, asked []string
				for _, e := range a.asks {
					asked = append(asked, e.Node)
				}
				for _, d := range report.Differences {
					if d.Kind == shadow.Unasked && d.What == "call.requested" {
						want = append(want, d.Step)
					}
				}
				slices.Sort(want)
				slices.Sort(asked)
				require.Equal(t, want, asked, "%s: %s after event %d", name, kind, upto)
				a.replayRest(track, upto-1, 0)
				require.Equal(t, whole, a.describe(now, past), "%s: %s after event %d", name, kind, upto)
				if a.root.RunStatus().Terminal() {
					ended++
				}
			}
		}
	})
	t.Log(moves, "moves,", ended, "to their ends,", differ, "whose past differs")
	require.Greater(t, ended, 100)
}
