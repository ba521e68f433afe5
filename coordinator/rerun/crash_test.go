package rerun_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// mortal is a store that accepts a number of appends, and then none: the process has died.
type mortal struct {
	journal.Store
	left *atomic.Int64
}

func (m mortal) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if m.left.Add(-1) < 0 {
		return 0, journal.ErrReadOnly
	}
	return m.Store.Append(ctx, stream, after, events, head)
}

func (m mortal) Close() error { return nil } // the next process has it

// dying reruns a run in a process that dies after a number of appends, and returns the new run in the next process, in which the old run
// is deleted; nil: there is none. It reports whether the new run ended before.
func (c *counted) dying(t testing.TB, r *coordinator.Run, what coordinator.Rerun, last int, id string) (next *coordinator.Run, ended bool) {
	store, left := c.store, &atomic.Int64{}
	left.Store(int64(last))
	c.store = mortal{store, left}
	c.open(t)
	old, err := c.Run(t.Context(), r.ID())
	require.NoError(t, err)
	next, err = old.Rerun(t.Context(), what, coordinator.WithID(id))
	if err == nil {
		_, err = next.Wait(t.Context())
	}
	ended = err == nil
	require.NoError(t, c.Shutdown(t.Context()))
	c.store = store
	c.open(t)
	require.NoError(t, c.Delete(t.Context(), r.ID()))
	if next, err = c.Run(t.Context(), id); errors.Is(err, coordinator.ErrRunNotFound) {
		return nil, ended
	}
	require.NoError(t, err)
	return next, ended
}

// TestARerunGoesOnAfterACrashAtAnyAppend: after any last append of a process, the next process ends the run with the same calls, and
// calls no step with a kept result. The old run is deleted before.
func TestARerunGoesOnAfterACrashAtAnyAppend(t *testing.T) {
	text := `
kind: Workflow
name: crash
steps:
  - {operation: a, input: 1}
  - map: {id: each, over: [1, 2, 3], steps: [{operation: b, input: "{{ item }}"}, {operation: c, input: "{{ item }}"}]}
  - {operation: d, input: "{{ steps.a.output }}"}
  - {operation: e, input: "{{ steps.d.output }}"}
`
	for last, ended := 1, false; !ended; last++ {
		require.Less(t, last, 100)
		c := newCounted(t, "c 2")
		r, _ := c.run(t, parse(t, text), nil)
		c.made()
		c.fails["c 2"] = false
		var next *coordinator.Run
		if next, ended = c.dying(t, r, coordinator.Rerun{Failed: true}, last, "again"); next == nil {
			require.Empty(t, c.made(), "nothing is durable, and nothing has begun")
			continue
		}
		result, err := next.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Err())
		for _, call := range c.made() { // a call that was under way is made again
			require.Contains(t, []string{"c 2", "d 1", "e 1"}, call)
		}
		state, err := next.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, []any{int64(1), int64(2), int64(3)}, state.Steps[1].Output)
	}
}

// TestARerunBeginsWholeOrNotAtAll: the kept results may be more than a usual batch of a store. Whenever the process dies, there is no
// run, or one with all of them.
func TestARerunBeginsWholeOrNotAtAll(t *testing.T) {
	c := newCounted(t)
	store, err := disk.Open(t.TempDir(), disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	c.store = store
	c.open(t)
	list := []any{}
	for i := range 18 {
		list = append(list, strings.Repeat(string(rune('a'+i)), 1<<20))
	}
	w := parse(t, `{kind: Workflow, name: big, steps: [{map: {id: each, over: "{{ input }}", steps: [{operation: a, input: "{{ item }}"}]}}, {operation: b}]}`)
	r, result := c.run(t, w, list)
	require.NoError(t, result.Err())
	require.Len(t, c.made(), 19)
	for _, last := range []int64{0, 1} {
		left := &atomic.Int64{}
		left.Store(last)
		c.store = begun{mortal{store, left}}
		c.open(t)
		old, err := c.Run(t.Context(), r.ID())
		require.NoError(t, err)
		next, err := old.Rerun(t.Context(), coordinator.Rerun{From: "b"}, coordinator.WithID("big"))
		if err == nil { // the start is durable, but no later event
			_, err = next.Wait(t.Context())
		}
		require.Error(t, err)
		require.NoError(t, c.Shutdown(t.Context()))
		c.made() // of b, whose answer is lost
		c.store = store
		c.open(t)
		if next, err = c.Run(t.Context(), "big"); last == 0 {
			require.ErrorIs(t, err, coordinator.ErrRunNotFound)
			continue
		}
		require.NoError(t, err)
		result, err := next.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Err())
		require.Equal(t, []string{"b <nil>"}, c.made())
	}
}

// begun is a store that dies after a number of appends to one run.
type begun struct{ mortal }

func (b begun) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if stream == "big" {
		return b.mortal.Append(ctx, stream, after, events, head)
	}
	return b.Store.Append(ctx, stream, after, events, head)
}

// damaged is a store that cannot read an event.
type damaged struct {
	journal.Store
	at  uint64
	why error
}

func (d damaged) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range d.Store.Read(ctx, stream, from) {
			if journal.IsRun(stream) && e.Seq == d.at {
				yield(journal.Event{}, d.why)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func TestARunThatCannotBeReadIsNotRerun(t *testing.T) {
	for why, text := range map[error]string{
		journal.ErrDamaged:  "cannot be rerun, because its journal is damaged: examine it with `sluice doctor`",
		journal.ErrNotFound: "cannot be rerun, because values of it were deleted: start it again",
	} {
		c := newCounted(t)
		r, _ := c.run(t, parse(t, chain), map[string]any{"a": 1})
		c.store = damaged{c.store, 5, why}
		c.open(t)
		old, err := c.Run(t.Context(), r.ID())
		require.NoError(t, err)
		_, err = old.Rerun(t.Context(), coordinator.Rerun{From: "b"}, coordinator.WithID("no"))
		require.ErrorIs(t, err, why)
		require.ErrorContains(t, err, text)
		_, err = c.Run(t.Context(), "no")
		require.ErrorIs(t, err, coordinator.ErrRunNotFound)
	}
}

// BenchmarkOneFailedOf measures a rerun of one failed item of 10,000, on disk: its preview, and its start.
func BenchmarkOneFailedOf(b *testing.B) {
	c := newCounted(b, "b 7777")
	store, err := disk.Open(b.TempDir(), disk.Config{FreeFloorBytes: -1})
	require.NoError(b, err)
	c.store = store
	c.open(b)
	r, _ := c.run(b, parse(b, packs), map[string]any{"list": numbers(10_000)})
	c.fails["b 7777"] = false
	for b.Loop() {
		p, err := r.PreviewRerun(b.Context(), coordinator.Rerun{Failed: true})
		require.NoError(b, err)
		require.Len(b, p.Will, 2)
		next, err := r.Rerun(b.Context(), coordinator.Rerun{Failed: true})
		require.NoError(b, err)
		b.StopTimer()
		result, err := next.Wait(b.Context())
		require.NoError(b, err)
		require.NoError(b, result.Err())
		b.StartTimer()
	}
}
