package disk_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// kept is the state that a store must have: the value of each run, and the deleted runs.
type kept struct {
	values map[string]string
	gone   map[string]bool
}

func (k kept) clone() kept { return kept{maps.Clone(k.values), maps.Clone(k.gone)} }

// sweptWorkload starts runs that share definitions and large values, deletes some, sweeps, and starts others with the ids and the
// values of the deleted ones. It calls acked with the state that the store must have after each step.
func sweptWorkload(files vfs.FS, dir string, acked func(kept)) error {
	ctx := context.Background()
	s, err := disk.Open(dir, disk.Config{FS: files, FreeFloorBytes: -1})
	if err != nil {
		return err
	}
	now := kept{map[string]string{}, map[string]bool{}}
	do := func(change func(), step func() error) {
		if err != nil {
			return
		}
		if err = step(); err == nil {
			change()
			acked(now.clone())
		}
	}
	start := func(run, value string) {
		do(func() { now.values[run] = value; delete(now.gone, run) }, func() error {
			definition := []journal.Event{{Type: journal.ContentStored, Value: "document " + value}}
			_, err := s.Append(ctx, "def/"+value, 0, definition, journal.Head{})
			if err != nil && !errors.Is(err, journal.ErrConflict) {
				return err
			}
			begun := &journal.Detail{Start: &journal.Start{Run: run, Workflow: value}}
			events := []journal.Event{{Type: journal.RunStarted, At: 10, Value: strings.Repeat(value, 40_000), Detail: begun}}
			_, err = s.Append(ctx, run, 0, events, journal.Head{Run: run, Name: value, Status: "completed", Started: 10})
			return err
		})
	}
	remove := func(run string) {
		do(func() { delete(now.values, run); now.gone[run] = true }, func() error { return s.Delete(ctx, run, journal.Tombstone{At: 5, Until: 9}) })
	}
	sweep := func(at int64) {
		do(func() {
			if at >= 9 {
				clear(now.gone)
			}
		}, func() error { return s.SweepStreams(ctx, &journal.StreamSweep{Now: at}) })
	}
	start("a", "x")
	start("b", "x")
	start("c", "y")
	remove("a")
	remove("c")
	sweep(5)
	start("d", "y") // its value and its definition were swept
	start("c", "x") // its id is free
	remove("b")
	remove("d")
	sweep(9)
	start("e", "y")
	return errors.Join(err, s.Close())
}

// sound checks that a store has every run whole, with its definition, and returns its state.
func sound(t *testing.T, files vfs.FS, dir string) kept {
	s, err := disk.Open(dir, disk.Config{FS: files, FreeFloorBytes: -1})
	require.NoError(t, err)
	has := kept{map[string]string{}, map[string]bool{}}
	for _, run := range []string{"a", "b", "c", "d", "e"} {
		for e, err := range s.Read(t.Context(), run, 1) {
			if errors.Is(err, journal.ErrDeleted) {
				has.gone[run] = true
				continue
			}
			require.NoError(t, err, run)
			value := e.Detail.Start.Workflow
			require.Equal(t, strings.Repeat(value, 40_000), e.Value)
			has.values[run] = value
			require.Equal(t, []any{"document " + value}, mustRead(t, s, "def/"+value), "the definition of %s", run)
		}
	}
	listed := 0
	for h, err := range s.List(t.Context(), journal.Query{Index: journal.ByStart}) {
		require.NoError(t, err)
		require.Equal(t, has.values[h.Run], h.Name)
		listed++
	}
	require.Len(t, has.values, listed)
	require.NoError(t, s.Close())
	r, err := disk.OpenRaw(dir, false, disk.Config{FS: files, FreeFloorBytes: -1})
	require.NoError(t, err)
	for name, err := range r.Streams(t.Context()) {
		require.NoError(t, err)
		for range r.Records(t.Context(), name) {
			require.False(t, journal.IsRun(name) && has.values[name] == "", "events of %s, which is deleted, are left", name)
		}
	}
	require.NoError(t, r.Indexes(t.Context(), context.Context.Err))
	require.NoError(t, r.Close())
	return has
}

// TestACrashAtAnyWriteOfASweepLosesNothing copies the file system before every write, sync, rename and removal, with none, some or
// all of the unsynced data, while runs are deleted and their definitions and large values are swept. The remaining runs are complete.
func TestACrashAtAnyWriteOfASweepLosesNothing(t *testing.T) {
	points := 0
	for _, percent := range []int{0, 50, 100} {
		type crash struct {
			files *vfs.MemFS
			acked int
			op    string
		}
		var mu sync.Mutex
		var crashes []crash
		var acked atomic.Int64
		states := []kept{{map[string]string{}, map[string]bool{}}}
		rng := rand.New(rand.NewPCG(7, uint64(percent)))
		files := vfs.NewCrashableMem()
		err := sweptWorkload(errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				mu.Lock()
				defer mu.Unlock()
				left := files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
				crashes = append(crashes, crash{left, int(acked.Load()), fmt.Sprintf("%v of %s", op.Kind, op.Path)})
			}
			return nil
		})), "data", func(k kept) { states = append(states, k); acked.Add(1) })
		require.NoError(t, err)
		require.Equal(t, states[len(states)-1].values, sound(t, files, "data").values)
		for i := 0; i < len(crashes); i += journaltest.Step(1) {
			c := crashes[i]
			has := sound(t, c.files, "data")
			matches := false
			for _, want := range states[c.acked:min(c.acked+2, len(states))] {
				matches = matches || maps.Equal(want.values, has.values)
			}
			require.True(t, matches, "crash %d with %d %% of unsynced data, before %s, after %d steps: %v", i, percent, c.op, c.acked, has.values)
			next := states[min(c.acked+1, len(states)-1)] // the current step may sweep the tombstone, or begin the run again
			for run := range states[c.acked].gone {
				require.True(t, has.gone[run] || !next.gone[run], "crash %d: the tombstone of %s is lost before its time", i, run)
			}
		}
		points += len(crashes)
	}
	t.Logf("%d crash points", points)
}

// TestARunThatIsDeletedInTheCommitOfItsEndLeavesNothing deletes runs while their last events are appended, so that some commits
// contain both.
func TestARunThatIsDeletedInTheCommitOfItsEndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, disk.Config{})
	var all sync.WaitGroup
	for w := range 16 {
		all.Go(func() {
			for i := range 40 {
				run := fmt.Sprint(w, "-", i)
				done := make(chan error, 1)
				go func() {
					_, err := s.Append(context.Background(), run, 0, one("x"), journal.Head{Run: run, Status: "completed"})
					done <- err
				}()
				for errors.Is(s.Delete(context.Background(), run, journal.Tombstone{}), journal.ErrNotFound) { // it has no event yet
				}
				if err := <-done; err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, s.Close())
	r, err := disk.OpenRaw(dir, false, disk.Config{})
	require.NoError(t, err)
	for name, err := range r.Streams(t.Context()) {
		require.NoError(t, err)
		for range r.Records(t.Context(), name) {
			require.Fail(t, "events are left", name)
		}
	}
	require.NoError(t, r.Close())
}
