package progress_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
)

// newRoutedFilm returns a film of a playbook with the given steps.
func newRoutedFilm(t testing.TB, steps ...string) *film {
	text := "kind: Playbook\napiVersion: sluice/v1\nmetadata: {name: shops}\nworkflow:\n"
	for _, s := range steps {
		text += "  - {step: " + s + ", tool: {kind: noop}}\n"
	}
	checked, err := playbook.Load("test.yaml", []byte(text), template.Known{})
	require.NoError(t, err)
	f := &film{t: t, tree: progress.New(checked.Workflow), status: map[string]reactive.Status{}}
	require.NoError(t, f.tree.Check())
	return f
}

// loop advances a loop, after a delay.
func (f *film) loop(step string, done, failed, items int, after time.Duration) {
	f.at += after
	f.tree.Apply(&coordinator.Update{
		Event: journal.Event{At: f.now()}, Status: reactive.RunRunning,
		Loops: []coordinator.LoopChange{{Step: step, Done: done, Failed: failed, Items: items}},
	})
}

func TestDrawAPlaybook(t *testing.T) {
	f := newRoutedFilm(t, "list", "pages", "mend", "release", "report")
	f.start()
	f.to(reactive.Running, 0, "list@1")
	f.to(reactive.Completed, 100*time.Millisecond, "list@1")
	f.to(reactive.Running, 0, "pages@1", "pages@1[0].get", "pages@1[0].get~2")
	f.loop("pages@1", 2, 1, 8, time.Second)
	f.to(reactive.Running, 0, "pages@2")
	f.loop("pages@2", 1, 0, 4, time.Second)
	f.to(reactive.Running, 0, "mend@1")
	f.fail("mend@1", 1, false, time.Second, "no way")
	f.to(reactive.Running, 0, "mend@2")
	f.to(reactive.Completed, 200*time.Millisecond, "mend@2")
	f.to(reactive.Waiting, 0, "release")
	f.expect("routed-underway")

	f.to(reactive.Completed, time.Second, "pages@1")
	f.fail("pages@2", 1, false, time.Second, "fetch failed")
	f.to(reactive.Running, 0, "release@1", "release@1.call")
	f.to(reactive.Completed, time.Second, "release@1")
	f.to(reactive.Running, 0, "report@1")
	f.to(reactive.Completed, 0, "report@1")
	f.end(reactive.RunFailed)
	f.expect("routed-end")
	list, more := f.tree.Failures()
	require.Len(t, list, 2)
	require.Zero(t, more)
}

// Drawings are valid for any changes of step-runs, in any order.
func TestAnyRunOfAPlaybookFitsAnyFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var steps, live []string
		for i := range rapid.IntRange(1, 12).Draw(t, "steps") {
			steps = append(steps, fmt.Sprint("s", i))
		}
		text := "kind: Playbook\napiVersion: sluice/v1\nmetadata: {name: p}\nworkflow: ["
		for _, s := range steps {
			text += "{step: " + s + ", tool: {kind: noop}}, "
		}
		checked, err := playbook.Load("test.yaml", []byte(text+"]\n"), template.Known{})
		require.NoError(t, err)
		tree := progress.New(checked.Workflow)
		number := map[string]int{}
		for at := range int64(rapid.IntRange(0, 60).Draw(t, "changes")) {
			u := &coordinator.Update{Event: journal.Event{At: epoch + at}, Status: reactive.RunRunning}
			name := rapid.SampledFrom(steps).Draw(t, "step")
			switch what := rapid.IntRange(0, 4).Draw(t, "what"); {
			case what == 0:
				u.Changes = []coordinator.StepChange{{Step: name, To: reactive.Waiting}}
			case what < 3 || len(live) == 0:
				number[name]++
				live = append(live, fmt.Sprintf("%s@%d", name, number[name]))
				u.Changes = []coordinator.StepChange{{Step: live[len(live)-1], To: reactive.Running}}
			case what == 3:
				u.Loops = []coordinator.LoopChange{{Step: rapid.SampledFrom(live).Draw(t, "run"), Done: 1, Failed: 1, Items: 3}}
			default:
				i := rapid.IntRange(0, len(live)-1).Draw(t, "run")
				u.Changes = []coordinator.StepChange{{Step: live[i], From: reactive.Running, To: rapid.SampledFrom([]reactive.Status{
					reactive.Completed, reactive.Failed, reactive.Aborted,
				}).Draw(t, "to")}}
				live = append(live[:i], live[i+1:]...)
			}
			tree.Apply(u)
			require.NoError(t, tree.Check())
		}
		frame := progress.Frame{Width: rapid.IntRange(1, 100).Draw(t, "width"), Height: rapid.IntRange(2, 60).Draw(t, "height"), Now: epoch}
		lines := strings.Split(tree.Draw(frame), "\n")
		require.LessOrEqual(t, len(lines), frame.Height)
		for _, line := range lines {
			require.LessOrEqual(t, ansi.StringWidth(line), frame.Width)
		}
	})
}
