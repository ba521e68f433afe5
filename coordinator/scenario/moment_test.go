package scenario

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	past "github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
)

// observer is a process that serves readers of the runs of a track.
type observer struct {
	*track
	now int64
}

func (o *observer) Now() int64                                               { return o.now }
func (o *observer) ForWorker(string, string) string                          { return "" }
func (o *observer) Unserved(string) time.Time                                { return time.Time{} }
func (o *observer) EventsMax() int                                           { return 0 }
func (o *observer) Cells() world.Cache                                       { return world.Cache{} }
func (o *observer) Drives(string) bool                                       { return true }
func (o *observer) Parked(context.Context, string) error                     { return nil }
func (o *observer) Host(string, *registry.Entry, *reactive.Root) decide.Host { return o.track }
func (o *observer) Report(what, run string, err error)                       { panic(fmt.Sprint(what, run, err)) }
func (o *observer) read(t *testing.T, store journal.Store) *past.Reader {
	known, err := registry.New(store, registry.Config{})
	require.NoError(t, err)
	return past.New(t.Context(), store, known, o)
}

// watchedRoot holds the state, the explanation and the calls of a run as a reader returns them.
type watchedRoot struct {
	state *inspect.State
	why   *explain.Explanation
	calls []string
}

// watcher receives the changes of a run in order, and records them.
type watcher struct {
	receivedState
	next func() (inspect.Update, error, bool)
	stop func()
}

func watch(t *testing.T, r *past.Reader, run string) *watcher {
	w := &watcher{receivedState: receivedState{steps: map[string]inspect.StepChange{}, cells: map[string]world.CellState{}}}
	w.next, w.stop = iter.Pull2(r.Watch(t.Context(), run, 1))
	return w
}

// look receives the next change.
func (w *watcher) look(t *testing.T) {
	u, err, ok := w.next()
	require.NoError(t, err)
	require.True(t, ok)
	w.status = u.Status
	for _, c := range u.Changes {
		w.steps[c.Step] = c
	}
	for _, c := range u.Cells {
		if w.cells[c.Cell.Address] = ofCell(c.Cell); c.Cell.Status == "" {
			delete(w.cells, c.Cell.Address)
		}
	}
}

// receivedState holds the status, steps and cells of a run that a watcher has received up to an event.
type receivedState struct {
	status reactive.RunStatus
	steps  map[string]inspect.StepChange // newest, by step
	cells  map[string]world.CellState    // by address
}

func (w *receivedState) copied() receivedState {
	return receivedState{status: w.status, steps: maps.Clone(w.steps), cells: maps.Clone(w.cells)}
}

// ofCell returns a cell with only the fields that a watcher receives. The progress of its calls is not a change of the cell.
func ofCell(c world.CellState) world.CellState {
	return world.CellState{Address: c.Address, Status: c.Status, Paused: c.Paused, State: c.State, Failure: c.Failure}
}

// newest returns the newest run of a routed step that a watcher has received.
func (w *receivedState) newest(step string) (newest inspect.StepChange, ok bool) {
	for n := 1; ; n++ {
		c, found := w.steps[fmt.Sprintf("%s@%d", step, n)]
		if !found {
			return newest, ok
		}
		newest, ok = c, true
	}
}

// same compares the changes that a watcher received with a state that is read later.
func (w *receivedState) same(t *testing.T, state *inspect.State, what string) {
	require.Equal(t, w.status, state.Status, what)
	there := map[string]bool{}
	for i := range state.Steps {
		s := &state.Steps[i]
		there[s.Step] = true
		c, ok := w.steps[s.Step]
		if state.Routed != nil && !strings.Contains(s.Step, "@") {
			if c, ok = w.newest(s.Step); !ok || s.Tokens > 0 { // tokens at its gate are not a change of a step-run
				continue
			}
		}
		if !ok {
			c.To = reactive.Idle
		}
		require.Equal(t, c.To, s.Status, "%s: step %s", what, s.Step)
	}
	for step, c := range w.steps {
		isRun := state.Routed != nil && !strings.Contains(step, ".")
		require.True(t, there[step] || isRun || c.To == reactive.Absent, "%s: a watcher was told of step %s, which is %s", what, step, c.To)
	}
	cells := map[string]world.CellState{}
	if state.World != nil {
		for _, c := range state.World.Cells {
			cells[c.Address] = ofCell(c)
		}
	}
	require.Equal(t, w.cells, cells, what)
}

// For every event of every scenario, a run can be read as of that event. The result equals the state of an observer right after the
// event, and the state of a watcher of all changes up to the event. The test tries every seventh event, or every seventieth of long
// runs, at different offsets in each scenario, and every event under SLUICE_EXHAUSTIVE.
func TestAMomentIsReadAsItWas(t *testing.T) {
	if testing.Short() {
		t.Skip("it reads each run as often as it has events")
	}
	all, err := Load("../../testdata/scenarios")
	require.NoError(t, err)
	moments, exhaustive := 0, os.Getenv("SLUICE_EXHAUSTIVE") != ""
	for n, s := range all {
		g := newExecution(s, Options{}, program.NewLibrary())
		g.execute()
		for _, track := range g.tracks {
			if len(track.journal) == 0 || len(track.given) > 0 { // no event has the given cells
				continue
			}
			store := memory.New()
			p := track.program.Plan
			_, err := store.Append(t.Context(), journal.DefinitionStream(p.Hash), 0, []journal.Event{{Type: journal.ContentStored, Value: p.Workflow.Document()}}, journal.Head{})
			require.NoError(t, err)
			o := &observer{track, 1 << 62}
			r := o.read(t, store)
			live, heard := map[uint64]watchedRoot{}, map[uint64]receivedState{}
			var w *watcher
			root := decide.NewRoot(p)
			track.serve(root)
			look := func(state *inspect.State, why *explain.Explanation, g *past.CallGraph) watchedRoot {
				return watchedRoot{state: state, why: why, calls: callsOf(g)}
			}
			for i, e := range track.journal {
				root.Apply(&e)
				_, err := store.Append(t.Context(), track.id, uint64(i), []journal.Event{e}, decide.HeadAfter(root, &e))
				require.NoError(t, err)
				if i == 0 && len(track.content) > 0 {
					require.NoError(t, store.PutContent(t.Context(), track.id, slices.Collect(maps.Values(track.content))))
				}
				if w == nil {
					w = watch(t, r, track.id)
				}
				w.look(t)
				if !exhaustive && ((i+n)%7 > 0 || i > 70 && (i+n)%70 > 0) {
					continue
				}
				state, err := r.State(t.Context(), track.id)
				require.NoError(t, err, s.Name)
				why, err := r.Explain(t.Context(), track.id, "")
				require.NoError(t, err, s.Name)
				graph, err := r.CallGraph(t.Context(), track.id)
				require.NoError(t, err, s.Name)
				heard[uint64(i)+1] = w.copied()
				live[uint64(i)+1] = look(state, why, graph)
			}
			for seq, want := range live {
				moments++
				what := fmt.Sprintf("%s, run %q, at event %d", s.Name, track.path, seq)
				m := past.Moment{Seq: seq}
				state, err := r.StateAt(t.Context(), track.id, m)
				require.NoError(t, err, what)
				why, err := r.ExplainAt(t.Context(), track.id, "", m)
				require.NoError(t, err, what)
				graph, err := r.CallGraphAt(t.Context(), track.id, m)
				require.NoError(t, err, what)
				require.Equal(t, want, look(state, why, graph), what)
				watcher := heard[seq]
				watcher.same(t, state, what)

				// An instant means its last event.
				last := seq
				for last < uint64(len(track.journal)) && track.journal[last].At <= track.journal[seq-1].At {
					last++
				}
				at, err := r.StateAt(t.Context(), track.id, past.Moment{Time: time.Unix(0, track.journal[seq-1].At)})
				require.NoError(t, err, what)
				require.Equal(t, last, at.Seq, what)
			}
			w.stop()
			end := uint64(len(track.journal))
			_, err = r.StateAt(t.Context(), track.id, past.Moment{Seq: end + 1})
			require.ErrorIs(t, err, decide.ErrNoMoment)
			require.ErrorContains(t, err, fmt.Sprintf("run %s has %d events, and so no event %d", track.id, end, end+1))
			require.NoError(t, store.Close())
		}
	}
	require.Greater(t, moments, 500)
}
