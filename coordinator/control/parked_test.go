package control_test

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// kept is a store that outlives its engine.
type kept struct{ journal.Store }

func (*kept) Close() error { return nil }

// A run that lacks an operation is shown as parked with the reason, by socket and in its process, and goes on once the operation is
// registered.
func TestParkedRunsAreShownWithTheReason(t *testing.T) {
	store := &kept{memory.New()}
	first, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{contract}})
	require.NoError(t, err)
	start(t, first, "r1")
	require.NoError(t, first.Shutdown(t.Context()))

	e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	dir := t.TempDir()
	serve(t, dir, e)
	socket, err := folder.Dial(dir)
	require.NoError(t, err)
	r, err := e.Run(t.Context(), "r1")
	require.NoError(t, err)
	_, err = r.Wait(t.Context())
	require.ErrorIs(t, err, coordinator.ErrParked)

	const reason = `this program does not have what the run needs: operation "contract"`
	for name, c := range map[string]*folder.Client{"by socket": socket, "here": folder.Local(e)} {
		t.Run(name, func(t *testing.T) {
			shown, err := c.Show(t.Context(), "r")
			require.NoError(t, err)
			require.Equal(t, reason, shown.Parked)
			require.Equal(t, "waiting", shown.Status)
			require.NotEmpty(t, shown.Steps)
			for listed, err := range c.Runs(t.Context()) {
				require.NoError(t, err)
				require.Equal(t, reason, listed.Parked)
			}
			for _, step := range []string{"", "contract"} {
				x, err := c.Explain(t.Context(), "r1", step)
				require.NoError(t, err)
				require.Equal(t, "parked", x.Reasons[0].Kind)
				require.Contains(t, x.Reasons[0].Text, reason)
			}
			_, err = c.Do(t.Context(), &api.Request{Verb: api.Cancel, Run: "r1", Actor: "ann"})
			require.ErrorIs(t, err, coordinator.ErrParked)
			require.ErrorContains(t, err, "operation \"contract\"")
		})
	}

	w, err := template.Parse("w.yaml", []byte(`{kind: Workflow, name: w, steps: [{operation: contract}]}`))
	require.NoError(t, err)
	require.True(t, w.Provide("contract", contract.Implementation()))
	require.NoError(t, e.Register(w))
	shown, err := socket.Show(t.Context(), "r1")
	require.NoError(t, err)
	require.Empty(t, shown.Parked)
	_, err = socket.Do(t.Context(), &api.Request{Verb: api.Send, Run: "r1", Message: "letter", Actor: "ann"})
	require.NoError(t, err)
}

// A request that runs code which panics, or ends its goroutine, fails, and releases its place.
func TestARequestThatDoesHarmIsAnError(t *testing.T) {
	for name, harm := range map[string]func(){"panics": func() { panic("boom") }, "ends its goroutine": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			store := &spiked{Store: memory.New()}
			e := newEngine(t, store)
			dir := t.TempDir()
			serve(t, dir, e)
			start(t, e, "r1")
			c, err := folder.Dial(dir)
			require.NoError(t, err)
			store.harm.Store(&harm)
			for range 200 { // more than there is room for at a time
				_, err := c.Show(t.Context(), "r1")
				require.Error(t, err)
			}
			store.harm.Store(nil)
			_, err = c.Show(t.Context(), "r1")
			require.NoError(t, err)
		})
	}
}

// spiked is a store whose reads do harm if harm is set.
type spiked struct {
	journal.Store
	harm atomic.Pointer[func()]
}

func (s *spiked) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range s.Store.Read(ctx, stream, from) {
			if harm := s.harm.Load(); harm != nil {
				(*harm)()
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestAnEndedContextIsReportedWithItsCause(t *testing.T) {
	lunch := errors.New("lunch")
	_, c, dir := held(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(lunch)
	for name, err := range map[string]error{
		"show": func() error { _, err := c.Show(ctx, "r1"); return err }(),
		"do": func() error {
			_, err := c.Do(ctx, &api.Request{Verb: api.Resume, Run: "r1", Actor: "ann"})
			return err
		}(),
		"changes": folder.AwaitChanges(ctx, dir, nil),
	} {
		require.ErrorIs(t, err, context.Canceled, name)
		require.ErrorIs(t, err, lunch, name)
	}
}
