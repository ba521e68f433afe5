package rerun_test

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// oracle answers calls by their inputs alone, so that equal calls have equal answers in any run.
type oracle struct {
	mu    sync.Mutex
	fails uint32          // of a hundred inputs
	fixed map[string]bool // inputs that no longer fail
	no    map[string]bool // inputs that have failed
}

func (o *oracle) answer(op string, in any) (any, error) {
	text := fmt.Sprint(op, in)
	h := fnv.New32a()
	h.Write([]byte(text))
	o.mu.Lock()
	defer o.mu.Unlock()
	if h.Sum32()>>8%100 < o.fails && !o.fixed[text] {
		o.no[text] = true
		return nil, errors.New("no")
	}
	return int64(h.Sum32() % 7), nil
}

// author writes random workflows.
type author struct {
	t     *rapid.T
	next  int
	lists []string // maps whose outputs can be read
}

func (a *author) draw(n int) int { return rapid.IntRange(0, n-1).Draw(a.t, "n") }

func (a *author) id() string {
	a.next++
	return fmt.Sprintf("s%d", a.next)
}

// nodes writes a list of steps and containers. known are the steps whose outputs can be read; it returns them with the new ones.
func (a *author) nodes(known []string, depth int, item bool) (string, []string) {
	var list []string
	for range 1 + a.draw(3) {
		var text string
		text, known = a.node(known, depth, item)
		list = append(list, text)
	}
	return "[" + strings.Join(list, ", ") + "]", known
}

func (a *author) node(known []string, depth int, item bool) (string, []string) {
	kind := a.draw(8)
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 4:
		inner, known := a.nodes(known, depth-1, item)
		return "{parallel: {steps: " + inner + "}}", known
	case 5, 6:
		if len(known) == 0 {
			break
		}
		of := known[a.draw(len(known))]
		test := fmt.Sprintf("(steps.%s.output ?? 0) > 3", of)
		if a.draw(2) == 0 {
			test = fmt.Sprintf("steps.%s.status == 'failed'", of)
		}
		then, after := a.nodes(known, depth-1, item)
		other, after := a.nodes(after, depth-1, item)
		return fmt.Sprintf(`{conditional: {test: "{{ %s }}", then: %s, else: %s}}`, test, then, other), after
	case 7:
		over := "[1, 2, 3]"
		if !item && len(a.lists) > 0 && a.draw(2) == 0 {
			over = fmt.Sprintf(`"{{ steps.%s.output }}"`, a.lists[a.draw(len(a.lists))])
		}
		if item {
			break
		}
		id := a.id()
		lists := a.lists
		inner, _ := a.nodes(known, depth-1, true)
		a.lists = append(lists, id)
		return fmt.Sprintf("{map: {id: %s, over: %s, steps: %s}}", id, over, inner), known
	}
	id := a.id()
	var reads []string
	for range a.draw(3) {
		if len(known) > 0 {
			reads = append(reads, fmt.Sprintf(`"{{ steps.%s.output ?? 0 }}"`, known[a.draw(len(known))]))
		}
	}
	if item {
		reads = append(reads, `"{{ item }}"`)
	}
	if a.draw(3) == 0 {
		reads = append(reads, `"{{ input }}"`)
	}
	return fmt.Sprintf("{operation: %c, id: %s, input: {id: %s, of: [%s]}}", 'a'+a.draw(3), id, id, strings.Join(reads, ", ")), append(known[:len(known):len(known)], id)
}

// An ending has the ends of a run and of each of its steps.
type ending struct {
	run   string
	steps map[string]string
}

const aborted = "aborted"

func endOf(t *rapid.T, r *coordinator.Run) ending {
	result, err := r.Wait(context.Background())
	require.NoError(t, err)
	state, err := r.State(context.Background())
	require.NoError(t, err)
	end := ending{run: fmt.Sprintln(result.Status, result.Output), steps: map[string]string{}}
	for i := range state.Steps {
		s := &state.Steps[i]
		end.steps[s.Step] = fmt.Sprintln(s.Status, s.Output, s.Branch)
		if s.Status.String() == aborted {
			end.steps[s.Step] = aborted
		}
	}
	return end
}

// beside returns an ending without the steps that the other run has aborted or not reached. The progress of the branches beside a
// failure, before it aborts them, depends on the order of answers; the steps that end in both runs must end alike.
func (e ending) beside(other ending) ending {
	if !strings.HasPrefix(e.run, "failed") {
		return e
	}
	steps := map[string]string{}
	for key, text := range e.steps {
		if there := other.steps[key]; text != aborted && there != aborted && there != "" {
			steps[key] = text
		}
	}
	return ending{run: e.run, steps: steps}
}

// TestARerunEndsAsAFreshRun: for any workflow, any end of its run, and any part that runs again, the rerun ends like a new run with the
// same answers, and only steps in the preview ran.
func TestARerunEndsAsAFreshRun(t *testing.T) {
	o := &oracle{}
	var operations []coordinator.Operation
	for _, name := range []string{"a", "b", "c"} {
		operations = append(operations, operation.Define(name, func(_ context.Context, in any) (any, error) { return o.answer(name, in) }))
	}
	e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Operations: operations})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
	modes, kept := map[string]int{}, 0
	rapid.Check(t, func(rt *rapid.T) {
		a := &author{t: rt}
		o.fails, o.fixed, o.no = uint32(a.draw(3)*12), map[string]bool{}, map[string]bool{}
		steps, known := a.nodes(nil, 3, false)
		known = append(known, "s1")
		output := ""
		if a.draw(3) == 0 { // the run fails by it if s1 has failed, and a conditional has caught that
			output = `, output: "{{ steps.s1.output }}"`
		}
		text := "{kind: Workflow, name: any, steps: " + steps + output + "}"
		w, err := template.Parse("", []byte(text))
		require.NoError(rt, err, text)
		old, err := e.Start(context.Background(), w, 1)
		if err != nil {
			rt.Skip(err) // such as a branch that reads itself
		}
		endOf(rt, old)
		what, input, next := coordinator.Rerun{}, any(1), w
		mode := []string{"from", "only", "failed", "fixed", "changed", "input", "workflow", "at"}[a.draw(8)]
		switch mode {
		case "from":
			what.From = known[a.draw(len(known))]
		case "only":
			what.Only = known[a.draw(len(known))]
		case "failed", "fixed":
			what.Failed = true
		case "changed":
			what.Changed = true
		case "at":
			what.At = uint64(1 + a.draw(20))
		case "input":
			what.Changed, what.Input, input = true, 2, 2
		case "workflow":
			from, to := []string{"a", "b", "c"}[a.draw(3)], []string{"a", "b", "c"}[a.draw(3)]
			next, err = template.Parse("", []byte(strings.Replace(text, "operation: "+from, "operation: "+to, 1+a.draw(2))))
			require.NoError(rt, err)
			what.Workflow = next
		}
		p, err := old.PreviewRerun(context.Background(), what)
		if errors.Is(err, coordinator.ErrNotPossible) || errors.Is(err, coordinator.ErrNoMoment) {
			return // nothing has failed, or the step has not run
		}
		require.NoError(rt, err, text)
		if what.Failed {
			require.True(rt, repeatsFailure(rt, old, p), "what has failed is kept, and other steps run again: %s: %+v", text, p)
		}
		if mode == "fixed" { // the calls that have failed succeed now
			caught := false
			for _, s := range keptFailures(rt, old, p) {
				caught = caught || s
			}
			if caught {
				return
			}
			o.fixed = maps.Clone(o.no)
		}
		again, err := old.Rerun(context.Background(), what)
		require.NoError(rt, err, text)
		fresh, err := e.Start(context.Background(), next, input)
		require.NoError(rt, err, text)
		want, got := endOf(rt, fresh), endOf(rt, again)
		require.Equal(rt, want.beside(got), got.beside(want), "%s: %s\n%+v", mode, text, what)
		holds(rt, again, p)
		report, err := again.Shadow(context.Background(), next)
		require.NoError(rt, err)
		require.True(rt, report.Same(), "the rerun has no shadow of its own: %s: %s: %v", mode, text, report.Differences)
		modes[mode]++
		kept += len(p.Kept)
	})
	t.Log(modes, kept)
}

// failures returns the steps of a run that have failed.
func failures(t *rapid.T, r *coordinator.Run) map[string]bool {
	state, err := r.State(context.Background())
	require.NoError(t, err)
	is := map[string]bool{}
	for i := range state.Steps {
		is[state.Steps[i].Step] = state.Steps[i].Status.String() == "failed"
	}
	return is
}

// keptFailures reports, for each kept step in the preview, whether it has failed.
func keptFailures(t *rapid.T, r *coordinator.Run, p *coordinator.RerunPreview) (failed []bool) {
	is := failures(t, r)
	for _, s := range p.Kept {
		require.Equal(t, is[s.Step], s.Failed, s.Step)
		failed = append(failed, s.Failed)
	}
	return failed
}

// repeatsFailure reports whether a failed step runs again.
func repeatsFailure(t *rapid.T, r *coordinator.Run, p *coordinator.RerunPreview) bool {
	is := failures(t, r)
	return slices.ContainsFunc(slices.Concat(p.Will, p.May), func(s coordinator.RerunStep) bool { return is[s.Step] || strings.Contains(s.Step, "[*]") })
}
