package scenario

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/shadow"
	"github.com/sluiceflow/sluice/template/plan"
)

// movable are changes of a document after which open runs may go on: all but the first bring a call for some of them.
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

// moved returns the root of a run that was moved to another workflow after an event, and the calls that it asks for next.
func moved(track *track, now *plan.Plan, upto int) (root *reactive.Root, asked []string) {
	event := decide.Moved(decide.StartUnder(track.journal[0].Detail.Start, now), "")
	root = decide.NewRoot(now)
	for i := range track.journal[:upto] {
		e := decide.Under(&track.journal[i], &event)
		root.Apply(&e)
	}
	event.Seq, event.At = root.Seq()+1, root.At()
	root.Apply(&event)
	step := decide.NewStepper(root, struct{ decide.Host }{track})
	for more := true; more; {
		out := step.Step(root.At(), nil)
		for i := range out.Batch {
			if out.Batch[i].Type == journal.CallRequested {
				asked = append(asked, out.Batch[i].Node)
			}
		}
		more = out.More
	}
	return root, asked
}

// A run that is moved, after any of its turns, to a workflow by which its past would have gone the same way is what a run would be
// that was started with that workflow and had the same answers: it has the same status, and asks for the same calls.
func TestAMovedRunIsAFreshRunOfTheOtherWorkflow(t *testing.T) {
	moves, differ := 0, 0
	recorded(t, func(name string, track *track) {
		p := track.program.Plan
		if len(p.Functions) > 0 {
			return
		}
		for kind, change := range movable {
			if kind != "version" && (p.Workflow.Routing != nil || p.Workflow.MaxConcurrency > 0) {
				continue
			}
			now := changed(t, p, change)
			if now == nil || now.Hash == p.Hash {
				continue
			}
			for upto := 1; upto < len(track.journal); upto++ {
				if track.journal[upto].At == track.journal[upto-1].At || testing.Short() && upto%3 > 0 {
					continue // within a turn
				}
				cut := *track
				cut.journal = track.journal[:upto]
				report := shadowOf(t, &cut, now)
				if report.Status.Terminal() || report.Past() != nil || report.Status == reactive.RunPaused { // a paused run asks later
					differ++
					continue
				}
				moves++
				root, asked := moved(track, now, upto)
				require.Equal(t, report.Shadow, root.RunStatus(), "%s: %s after event %d", name, kind, upto)
				var want []string
				for _, d := range report.Differences {
					if d.Kind == shadow.Unasked && d.What == "call.requested" {
						want = append(want, d.Step)
					}
				}
				slices.Sort(want)
				slices.Sort(asked)
				require.Equal(t, want, asked, "%s: %s after event %d", name, kind, upto)
			}
		}
	})
	t.Log(moves, "moves,", differ, "whose past differs")
	require.Greater(t, moves, 100)
}
