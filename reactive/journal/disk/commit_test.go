package disk_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// gate holds the syncs of Pebble's log, or makes them fail.
type gate struct {
	mu      sync.Mutex
	arrived chan struct{} // a sync has begun; nil: syncs pass
	leave   chan error    // the error that it returns
}

// gated opens a store in memory with a gate for its syncs.
func gated(t *testing.T, cfg disk.Config) (*disk.Store, *gate, *vfs.MemFS) {
	g, files := new(gate), vfs.NewMem()
	cfg.FS = errorfs.Wrap(files, errorfs.InjectorFunc(g.pass))
	return open(t, "data", cfg), g, files
}

func (g *gate) pass(op errorfs.Op) error {
	if filepath.Ext(op.Path) != ".log" || (op.Kind != errorfs.OpFileSync && op.Kind != errorfs.OpFileSyncData) {
		return nil
	}
	g.mu.Lock()
	arrived, leave := g.arrived, g.leave
	g.mu.Unlock()
	if arrived == nil {
		return nil
	}
	arrived <- struct{}{}
	return <-leave
}

// hold makes the next syncs wait: each sends a value when it begins, and receives its result before it ends.
func (g *gate) hold() (arrived <-chan struct{}, leave chan<- error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived, g.leave = make(chan struct{}), make(chan error)
	return g.arrived, g.leave
}

// open lets syncs pass again.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.arrived = nil
}

// later appends in the background and sends the result.
func later(ctx context.Context, s *disk.Store, stream string, after uint64, events []journal.Event, head journal.Head) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := s.Append(ctx, stream, after, events, head)
		done <- err
	}()
	return done
}

func commitNumber(t *testing.T, files vfs.FS) uint64 {
	f, err := files.Open("data/COMMIT")
	require.NoError(t, err)
	defer f.Close()
	var number [8]byte
	_, err = f.ReadAt(number[:], 0)
	require.NoError(t, err)
	return binary.BigEndian.Uint64(number[:])
}

func TestNothingIsSeenBeforeItIsDurable(t *testing.T) {
	s, g, _ := gated(t, disk.Config{})
	defer s.Close()
	ctx := context.Background()
	mustAppend(t, s, "run", 0, one("first"))
	arrived, leave := g.hold()
	done := later(ctx, s, "run", 1, one("second"), journal.Head{Run: "run", Status: "running"})
	<-arrived // Pebble has applied the batch and now syncs it
	require.Equal(t, []any{"first"}, mustRead(t, s, "run"))
	fresh := later(ctx, s, "fresh", 0, one("x"), journal.Head{})
	require.Empty(t, mustRead(t, s, "fresh"))

	var synced atomic.Bool
	listed := make(chan string)
	go func() {
		for h := range s.Heads(ctx, "") {
			listed <- fmt.Sprint(h.Status, ", synced: ", synced.Load())
		}
		close(listed)
	}()
	g.open()
	synced.Store(true)
	leave <- nil
	require.Equal(t, "running, synced: true", <-listed)
	require.NoError(t, <-done)
	require.NoError(t, <-fresh)
	require.Equal(t, []any{"first", "second"}, mustRead(t, s, "run"))
	require.Equal(t, []any{"x"}, mustRead(t, s, "fresh"))
}

func TestManyAppendsShareASync(t *testing.T) {
	const callers = 100
	s, g, files := gated(t, disk.Config{})
	defer s.Close()
	before := commitNumber(t, files)
	arrived, leave := g.hold()
	done := []<-chan error{later(context.Background(), s, "first", 0, one("x"), journal.Head{})}
	<-arrived
	for i := range callers {
		done = append(done, later(context.Background(), s, fmt.Sprint("run", i), 0, one("x"), journal.Head{}))
	}
	require.Eventually(t, func() bool { return disk.Queued(s) == callers }, waitMax, waitStep)
	g.open()
	leave <- nil
	for _, d := range done {
		require.NoError(t, <-d)
	}
	require.Equal(t, uint64(2), commitNumber(t, files)-before, "one commit for the first append, one for all others")
}

func TestAQueuedAppendCanBeWithdrawn(t *testing.T) {
	s, g, _ := gated(t, disk.Config{QueueLen: 1})
	defer s.Close()
	arrived, leave := g.hold()
	taken, cancelTaken := context.WithCancel(context.Background())
	first := later(taken, s, "first", 0, one("x"), journal.Head{})
	<-arrived

	queued, cancelQueued := context.WithCancel(context.Background())
	second := later(queued, s, "second", 0, one("x"), journal.Head{})
	require.Eventually(t, func() bool { return disk.Queued(s) == 1 }, waitMax, waitStep)
	waiting, cancelWaiting := context.WithCancel(context.Background())
	third := later(waiting, s, "third", 0, one("x"), journal.Head{}) // the queue is full
	cancelWaiting()
	require.ErrorIs(t, <-third, context.Canceled)
	cancelQueued()
	require.ErrorIs(t, <-second, context.Canceled)

	cancelTaken() // too late: the committer has the append, and its caller must learn its outcome
	g.open()
	leave <- nil
	require.NoError(t, <-first)
	mustAppend(t, s, "fourth", 0, one("x"))
	require.Equal(t, []any{"x"}, mustRead(t, s, "first"))
	require.Empty(t, mustRead(t, s, "second"))
	require.Empty(t, mustRead(t, s, "third"))
}

func TestCloseServesWhatIsQueued(t *testing.T) {
	s, g, _ := gated(t, disk.Config{})
	arrived, leave := g.hold()
	first := later(context.Background(), s, "first", 0, one("x"), journal.Head{})
	<-arrived
	second := later(context.Background(), s, "second", 0, one("x"), journal.Head{})
	require.Eventually(t, func() bool { return disk.Queued(s) == 1 }, waitMax, waitStep)
	closed := make(chan error)
	go func() { closed <- s.Close() }()
	g.open()
	leave <- nil
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.NoError(t, <-closed)
}

func TestAFailedSyncIsNotAcknowledgedAndNothingIsTriedAgain(t *testing.T) {
	s, g, _ := gated(t, disk.Config{})
	mustAppend(t, s, "run", 0, one("first"))
	arrived, leave := g.hold()
	done := later(context.Background(), s, "run", 1, one("second"), journal.Head{})
	<-arrived
	g.open()
	leave <- errorfs.ErrInjected
	err := <-done
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.ErrorContains(t, err, "injected error")
	_, err = s.Append(context.Background(), "other", 0, one("x"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.Equal(t, []any{"first"}, mustRead(t, s, "run"), "reads still work")
	_ = s.Close()
}

func TestABatchThatIsTooLargeIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves megabytes in one goroutine")
	}
	s := open(t, "data", disk.Config{FS: vfs.NewMem()})
	defer s.Close()
	sized := func(mebibytes int) []journal.Event {
		return one(strings.Repeat(fmt.Sprint(mebibytes%10), mebibytes<<20))
	}
	_, err := s.Append(context.Background(), "run", 0, sized(65), journal.Head{})
	require.ErrorIs(t, err, journal.ErrTooLarge)
	mustAppend(t, s, "run", 0, one("first"))
	_, err = s.Append(context.Background(), "run", 1, append(sized(8), sized(9)...), journal.Head{})
	require.ErrorIs(t, err, journal.ErrTooLarge)
	mustAppend(t, s, "run", 1, append(sized(7), sized(8)...))
	mustAppend(t, s, "run", 3, sized(32))
	require.Len(t, mustRead(t, s, "run"), 4)
}

// The first events of a stream are stored in one batch: large values outside of it, and small values too if they are many.
func TestTheFirstEventsOfAStreamAreStoredWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("it moves megabytes in one goroutine")
	}
	s := open(t, "data", disk.Config{FS: vfs.NewMem()})
	defer s.Close()
	var large, small []journal.Event
	for i := range 18 {
		large = append(large, one(strings.Repeat(string(rune('a'+i)), 1<<20))...)
	}
	mustAppend(t, s, "large", 0, large)
	require.Len(t, mustRead(t, s, "large"), 18)
	text := strings.Repeat("x", 20_000)
	for i := range 1_000 {
		small = append(small, one(fmt.Sprint(i, text))...)
	}
	mustAppend(t, s, "small", 0, small)
	values := mustRead(t, s, "small")
	require.Len(t, values, 1_000)
	require.Equal(t, "999"+text, values[999])
	many := slices.Repeat(one(strings.Repeat("x", 200)), 400_000)
	_, err := s.Append(context.Background(), "many", 0, many, journal.Head{})
	require.ErrorIs(t, err, journal.ErrTooLarge)
}

func TestALargeValueIsStoredOnce(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, "data", disk.Config{FS: files})
	large := strings.Repeat("large", 10_000)
	hash, _, err := journal.HashOf(large)
	require.NoError(t, err)
	mustAppend(t, s, "run", 0, append(one(large), one(large)...))
	mustAppend(t, s, "walk", 0, one(large))
	require.Equal(t, []any{large}, mustRead(t, s, hash.Stream()))
	_, err = s.Append(context.Background(), hash.Stream(), 0,
		[]journal.Event{{Type: journal.ContentStored, Value: large}}, journal.Head{})
	require.ErrorIs(t, err, journal.ErrConflict, "already there")
	require.NoError(t, s.Close())

	s = open(t, "data", disk.Config{FS: files})
	defer s.Close()
	mustAppend(t, s, "walk", 1, one(large))
	require.Equal(t, []any{large, large}, mustRead(t, s, "run"))
	require.Equal(t, []any{large, large}, mustRead(t, s, "walk"))
}
