package journaltest_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// faultySweeps is a correct store except for one method.
type faultySweeps struct {
	journal.Store
	sweep  func(ctx context.Context, w *journal.StreamSweep) error
	remove func(ctx context.Context, stream string, t journal.Tombstone) error
	size   func(ctx context.Context, stream string) (int64, error)
	append func(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error)
}

func (f *faultySweeps) SweepStreams(ctx context.Context, w *journal.StreamSweep) error {
	return f.sweep(ctx, w)
}

func (f *faultySweeps) Delete(ctx context.Context, stream string, t journal.Tombstone) error {
	return f.remove(ctx, stream, t)
}

func (f *faultySweeps) Size(ctx context.Context, stream string) (int64, error) {
	return f.size(ctx, stream)
}

func (f *faultySweeps) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	return f.append(ctx, stream, after, events, head)
}

// sweptAs returns a store whose sweeps are changed.
func sweptAs(change func(w *journal.StreamSweep)) func(*faultySweeps) {
	return func(f *faultySweeps) {
		sweep := f.sweep
		f.sweep = func(ctx context.Context, w *journal.StreamSweep) error {
			changed := *w
			change(&changed)
			return sweep(ctx, &changed)
		}
	}
}

// sweepFaults has defects of a store, and the test that must find each.
var sweepFaults = map[string]struct {
	test  string
	spoil func(f *faultySweeps)
}{
	"forgets when a run was deleted": {"a_tombstone_says_when", func(f *faultySweeps) {
		remove := f.remove
		f.remove = func(ctx context.Context, stream string, t journal.Tombstone) error {
			return remove(ctx, stream, journal.Tombstone{Until: t.Until})
		}
	}},
	"keeps ids for ever": {"an_id_that_is_free_begins_anew", func(f *faultySweeps) {
		remove := f.remove
		f.remove = func(ctx context.Context, stream string, t journal.Tombstone) error {
			return remove(ctx, stream, journal.Tombstone{At: t.At})
		}
	}},
	"frees ids too early": {"tombstones_of_free_ids_are_swept", sweptAs(func(w *journal.StreamSweep) { w.Now++ })},
	"keeps tombstones":    {"tombstones_of_free_ids_are_swept", sweptAs(func(w *journal.StreamSweep) { w.Now = 0 })},
	"sweeps what is referred to": {"what_nothing_refers_to_is_swept", sweptAs(func(w *journal.StreamSweep) {
		w.Gone = func(run string) bool { return run == "also kept" || run == "zz" }
	})},
	"sweeps nothing":        {"what_nothing_refers_to_is_swept", sweptAs(func(w *journal.StreamSweep) { w.Dry = true })},
	"sweeps when it is dry": {"a_dry_sweep_changes_nothing_and_finds_the_same", sweptAs(func(w *journal.StreamSweep) { w.Dry = false })},
	"does not ask what is to be kept": {"what_is_to_be_kept_is_spared", sweptAs(func(w *journal.StreamSweep) {
		w.Keep = nil
	})},
	"forgets what is referred to after its mark": {"an_append_between_mark_and_sweep_loses_nothing", func(f *faultySweeps) {
		sweep := f.sweep
		f.sweep = func(ctx context.Context, w *journal.StreamSweep) error {
			marked, found := *w, map[string]bool{}
			marked.Dry, marked.Found = true, func(stream string, _ int64) { found[stream] = true }
			deleted := journal.StreamSweep{Now: w.Now, Found: w.Found, Gone: func(string) bool { return true }}
			deleted.Keep = func(stream string) bool { return !found[stream] }
			return errors.Join(sweep(ctx, &marked), sweep(ctx, &deleted))
		}
	}},
	"goes on when it must end": {"a_sweep_that_must_end_ends", sweptAs(func(w *journal.StreamSweep) {
		if pause := w.Pause; pause != nil {
			w.Pause = func(ctx context.Context) error { _ = pause(ctx); return nil }
		}
	})},
	"does not know its size": {"a_size_counts_events", func(f *faultySweeps) {
		f.size = func(context.Context, string) (int64, error) { return 1, nil }
	}},
	"believes that what it has swept is there": {"what_nothing_refers_to_is_swept", func(f *faultySweeps) {
		add, stored := f.append, map[string]bool{}
		f.append = func(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
			if stored[stream] {
				return 0, journal.ErrConflict
			}
			stored[stream] = journal.IsContent(stream)
			return add(ctx, stream, after, events, head)
		}
	}},
}

// TestFaultySweeps tests a store with the fault that the environment names, or a correct store.
func TestFaultySweeps(t *testing.T) {
	fault := sweepFaults[os.Getenv("SLUICE_FAULT")]
	journaltest.TestSweeps(t, func(*testing.T) journal.Store {
		s := memory.New()
		f := &faultySweeps{s, s.SweepStreams, s.Delete, s.Size, s.Append}
		if fault.spoil != nil {
			fault.spoil(f)
		}
		return f
	})
}

// The suite fails for each fault, in the expected test. It runs in a child process, because it fails.
func TestEveryFaultOfSweepsIsFound(t *testing.T) {
	for name, fault := range sweepFaults {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := exec.Command(os.Args[0], "-test.run=^TestFaultySweeps$/^"+fault.test+"$", "-test.timeout=20s")
			c.Env = append(os.Environ(), "SLUICE_FAULT="+name)
			out, err := c.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "the suite takes it for sound")
			require.True(t, bytes.Contains(out, []byte("--- FAIL: TestFaultySweeps/"+fault.test)), string(out))
			require.False(t, bytes.Contains(out, []byte("panic:")), string(out))
		})
	}
}
