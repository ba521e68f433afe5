package coordinator_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// causes returns the pauses and resumes of a run, each with the run that has caused it, oldest first.
func causes(t *testing.T, r *coordinator.Run) []string {
	var list []string
	for e, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == journal.RunPaused || e.Type == journal.RunResumed {
			list = append(list, fmt.Sprint(e.Type, " ", e.Detail.Cause))
		}
	}
	return list
}

// TestAPauseReachesChildren pauses and resumes a run with a child and a grandchild: while an engine goes on with them, while no
// engine does, and with a process that ends before the pause reaches the children.
func TestAPauseReachesChildren(t *testing.T) {
	dir := written(t, generations)
	top := loaded(t, filepath.Join(dir, "top.yaml"), "echo")
	for _, test := range []struct {
		name       string
		away, lost bool // no engine goes on with the paused run; the process ends before the pause reaches the children
	}{{"live", false, false}, {"away", true, false}, {"lost", true, true}} {
		t.Run(test.name, func(t *testing.T) {
			g, store := newGate(), &severed{kept: kept{memory.New()}}
			config := coordinator.Config{Operations: []coordinator.Operation{echo, g.define("slow")}, Logger: slog.New(slog.DiscardHandler)}
			open := func() *coordinator.Engine {
				e, err := coordinator.New(t.Context(), store, config)
				require.NoError(t, err)
				return e
			}
			e := open()
			_, err := e.Start(t.Context(), top, map[string]any{"n": 1}, coordinator.WithID("r"))
			require.NoError(t, err)
			<-g.entered
			if test.away {
				crash(t, e)
				config.PickUp = func(journal.Head) bool { return false }
				e = open()
				config.PickUp = nil
			}
			store.cut.Store(test.lost)
			err = find(t, e, "r").Pause(t.Context(), "wait")
			require.Equal(t, test.lost, err != nil, "%v", err)
			if test.away {
				crash(t, e)
				store.cut.Store(false)
				e = open()
				<-g.entered // the call is made again: a pause does not stop calls in progress
			}
			for _, below := range []string{"", midOf, leafOf} {
				require.NoError(t, untilStatus(t, find(t, e, "r"+below), reactive.RunPaused), below)
			}
			require.ErrorIs(t, find(t, e, "r"+midOf).Resume(t.Context()), coordinator.ErrNotPossible)
			require.ErrorContains(t, find(t, e, "r"+leafOf).Resume(t.Context()), "resume r"+midOf)
			x, err := find(t, e, "r"+leafOf).Explain(t.Context(), "")
			require.NoError(t, err)
			require.Equal(t, "the run that started it is paused: r"+midOf, x.Reasons[0].Text)

			g.leave <- nil
			r := find(t, e, "r")
			require.NoError(t, r.Resume(t.Context()))
			require.Equal(t, reactive.RunCompleted, wait(t, r).Status)
			require.Equal(t, []string{"run.paused r", "run.resumed r"}, causes(t, find(t, e, "r"+midOf)))
			require.Equal(t, []string{"run.paused r" + midOf, "run.resumed r" + midOf}, causes(t, find(t, e, "r"+leafOf)))
			require.NoError(t, e.Shutdown(t.Context()))
		})
	}
}
