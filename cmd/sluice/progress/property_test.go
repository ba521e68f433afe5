package progress_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// forest draws a workflow, and records the number of maps around each step.
type forest struct {
	t     *rapid.T
	n     int
	depth map[string]int
	names []string
}

func (f *forest) steps(depth, maps int) string {
	var list []string
	for range rapid.IntRange(1, 4).Draw(f.t, "length") {
		list = append(list, f.node(depth, maps))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func (f *forest) node(depth, maps int) string {
	kind := rapid.IntRange(0, 4).Draw(f.t, "kind")
	switch {
	case depth == 0 || kind == 0:
		return fmt.Sprintf("{operation: %s}", f.name(maps))
	case kind == 1:
		return "{parallel: {steps: " + f.steps(depth-1, maps) + "}}"
	case kind == 2:
		return "{sequential: {steps: " + f.steps(depth-1, maps) + "}}"
	case kind == 3:
		return "{conditional: {test: '{{ true }}', then: " + f.steps(depth-1, maps) + ", else: " + f.steps(depth-1, maps) + "}}"
	}
	return fmt.Sprintf("{map: {id: %s, over: [1, 2], steps: %s}}", f.name(maps), f.steps(depth-1, maps+1))
}

func (f *forest) name(maps int) string {
	f.n++
	name := fmt.Sprintf("n%d", f.n)
	f.depth[name] = maps
	f.names = append(f.names, name)
	return name
}

// key returns the key of a step, or of one of its instances.
func (f *forest) key(name string) string {
	for range f.depth[name] {
		name += fmt.Sprintf("[%d]", rapid.IntRange(0, 2).Draw(f.t, "item"))
	}
	return name
}

// TestAnyRunFitsAnyFrame draws random changes of random workflows.
func TestAnyRunFitsAnyFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := &forest{t: t, depth: map[string]int{}}
		checked, err := template.Load("test.yaml", []byte("kind: Workflow\nname: w\nsteps: "+f.steps(3, 0)), template.Known{Lenient: true})
		require.NoError(t, err)
		tree := progress.New(checked.Workflow)
		require.NoError(t, tree.Check())
		status := map[string]reactive.Status{}
		for at := range int64(rapid.IntRange(0, 60).Draw(t, "changes")) {
			name := rapid.SampledFrom(f.names).Draw(t, "step")
			c := coordinator.StepChange{Step: f.key(name), To: reactive.Status(rapid.IntRange(0, 8).Draw(t, "to"))}
			var known bool
			if c.From, known = status[c.Step]; !known && f.depth[name] == 0 {
				c.From = reactive.Idle
			}
			if c.To == reactive.Absent && f.depth[name] == 0 {
				continue // only items appear and disappear
			}
			if c.To == reactive.Failed {
				c.Failure = &journal.Failure{Code: "exit", Message: "why"}
				c.Pending = rapid.Bool().Draw(t, "pending")
			}
			status[c.Step] = c.To
			tree.Apply(&coordinator.Update{Event: journal.Event{At: epoch + at}, Changes: []coordinator.StepChange{c}, Status: reactive.RunRunning})
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
