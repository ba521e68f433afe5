package cells_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
)

// unclosed is a store that several engines use, one after the other.
type unclosed struct{ *memory.Store }

func (unclosed) Close() error { return nil }

// contentless is a store that keeps no content.
type contentless struct{ journal.Store }

// engine returns an engine that leaves its store open. Unless drives is true, it drives no run that it finds.
func engine(t testing.TB, store journal.Store, k *till, drives bool) *coordinator.Engine {
	e, err := coordinator.New(context.Background(), store, coordinator.Config{
		Operations: []coordinator.Operation{operation.Define("pay", k.pay)}, Logger: slog.New(slog.DiscardHandler),
		PickUp: func(journal.Head) bool { return drives },
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Shutdown(context.Background()) })
	return e
}

func start(t testing.TB, e *coordinator.Engine) *coordinator.Run {
	run, err := e.Start(t.Context(), load(t, accountsWorld), nil, coordinator.WithID("w"))
	require.NoError(t, err)
	return run
}

func found(t testing.TB, e *coordinator.Engine) *coordinator.Run {
	run, err := e.Run(t.Context(), "w")
	require.NoError(t, err)
	return run
}

func shut(t testing.TB, e *coordinator.Engine) { require.NoError(t, e.Shutdown(context.Background())) }

// add sends a message with an effect to account a.
func add(t testing.TB, run *coordinator.Run, ref string) cells.Sent {
	sent, err := run.SendMessage(t.Context(), message(ref, "a", 1))
	require.NoError(t, err)
	return sent
}

func awaited(t testing.TB, run *coordinator.Run, address, state string) {
	life{t, run, nil}.await(address, func(c *cells.State) bool { return shown(c) == state })
}

// TestAWorldThatNoProcessDrives: a message to it is journaled, makes the run due, and takes effect once an engine goes on with it.
func TestAWorldThatNoProcessDrives(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	add(t, start(t, e), "1")
	awaited(t, found(t, e), "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	_, err := found(t, e).Snapshot(t.Context())
	require.NoError(t, err)
	shut(t, e)

	e = engine(t, store, k, false)
	run := found(t, e)
	require.False(t, run.Driven())
	sent := add(t, run, "2")
	require.Equal(t, sent, add(t, run, "2"), "it was taken before")
	require.Equal(t, uint64(1), add(t, run, "1").Seq-1, "so was this, before the snapshot")
	for _, bad := range []any{nil, map[string]any{"id": "a"}, map[string]any{"id": "a", "n": "1", "ref": "x"}} {
		_, err := run.SendMessage(t.Context(), cells.Message{Name: "Add", Payload: bad})
		require.ErrorIs(t, err, decide.ErrInvalidMessage)
	}
	require.NoError(t, run.PauseCell(t.Context(), "account[a]", ""))
	require.ErrorIs(t, run.PauseCell(t.Context(), "account[a]", ""), decide.ErrNotPossible)
	require.ErrorIs(t, run.PauseCell(t.Context(), "account[b]", ""), decide.ErrCellNotFound)
	c, err := run.Cell(t.Context(), "account[a]")
	require.NoError(t, err)
	require.Equal(t, "running map[alien:[] fired:1 n:1 paid:1] 1 ", shown(&c))
	list, err := run.Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	require.Len(t, list, 2)
	_, err = run.Snapshot(t.Context())
	require.NoError(t, err)
	require.NoError(t, run.ResumeCell(t.Context(), "account[a]"))
	require.Equal(t, 2, k.calls["1"], "once, and again because the first attempt fails")
	require.Zero(t, k.calls["2"])
	head, err := store.Head(t.Context(), "w")
	require.NoError(t, err)
	require.True(t, head.Open)
	require.NotZero(t, head.Due)
	require.LessOrEqual(t, head.Due, time.Now().UnixNano())
	waiting := make(chan cells.State, 1)
	go func() {
		state, err := run.Await(context.Background(), "account[a]", func(c *cells.State) bool { return !c.Paused && c.Mail == 1 })
		if err == nil {
			waiting <- state
		}
	}()
	require.Equal(t, 1, (<-waiting).Mail)
	shut(t, e)

	e = engine(t, store, k, true)
	awaited(t, found(t, e), "account[a]", "completed map[alien:[] fired:2 n:2 paid:2] 0 ")
	require.NoError(t, k.fault)
}

// TestWhatAProgramAsksOfCellsDoesNotEndTheirRun: the choice of cells is code of the program, and runs on the goroutine of the run.
func TestWhatAProgramAsksOfCellsDoesNotEndTheirRun(t *testing.T) {
	e := engine(t, unclosed{memory.New()}, newTill(nil), true)
	run := start(t, e)
	add(t, run, "1")
	awaited(t, run, "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	for name, keep := range map[string]func(*cells.State) bool{
		"panic: mine":               func(*cells.State) bool { panic("mine") },
		"ended its goroutine":       func(*cells.State) bool { runtime.Goexit(); return true },
		"panic: runtime error: ind": func(c *cells.State) bool { return c.Intents[len(c.Intents)].Pending },
	} {
		_, err := run.Cells(t.Context(), keep, 0)
		require.ErrorContains(t, err, name)
	}
	add(t, run, "2")
	awaited(t, run, "account[a]", "completed map[alien:[] fired:2 n:2 paid:2] 0 ")
}

// TestTextsOfCommandsAreRefused that cannot be stored unchanged. The journal stays as it was, and the run goes on.
func TestTextsOfCommandsAreRefused(t *testing.T) {
	run := start(t, engine(t, unclosed{memory.New()}, newTill(nil), true))
	add(t, run, "1")
	awaited(t, run, "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	last, err := run.Last(t.Context())
	require.NoError(t, err)
	for text, refused := range map[string]error{"a\xff": limits.ErrRefused, strings.Repeat("x", 64<<10+1): decide.ErrLimit} {
		m := message("2", "a", 1)
		m.ID = text
		_, err := run.SendMessage(t.Context(), m)
		for what, err := range map[string]error{
			"id": err, "name": run.Send(t.Context(), text, nil), "cancel": run.Cancel(t.Context(), text), "pause": run.Pause(t.Context(), text),
			"abort": run.Abort(t.Context(), "account[a]", text), "cell": run.PauseCell(t.Context(), "account[a]", text),
			"decide": run.Decide(t.Context(), "account[a]", true, text),
		} {
			require.ErrorIs(t, err, refused, what)
		}
	}
	now, err := run.Last(t.Context())
	require.NoError(t, err)
	require.Equal(t, last, now)
	add(t, run, "2")
	awaited(t, run, "account[a]", "completed map[alien:[] fired:2 n:2 paid:2] 0 ")
}

// TestNoCellIsAwaitedForEver: an address that no cell can have is refused.
func TestNoCellIsAwaitedForEver(t *testing.T) {
	run := start(t, engine(t, unclosed{memory.New()}, newTill(nil), true))
	for address, why := range map[string]string{
		"": "unknown machine", "acount[a]": `did you mean "account"?`, "account": "is keyed", "account[a": "is keyed",
		"account[a b]": "are written %XX", "account[%zz]": "%zz",
	} {
		_, err := run.Await(t.Context(), address, func(*cells.State) bool { return true })
		require.ErrorIs(t, err, decide.ErrCellNotFound, address)
		require.ErrorContains(t, err, why)
	}
}

// TestAWorldThatHasEnded takes nothing and can be read.
func TestAWorldThatHasEnded(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	add(t, run, "1")
	_, err := run.SendMessage(t.Context(), message("2", "b", 13))
	require.NoError(t, err)
	awaited(t, run, "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	_, err = run.Snapshot(t.Context())
	require.NoError(t, err)
	require.NoError(t, run.Cancel(t.Context(), "enough"))
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, reactive.RunAborted, result.Status)
	for range 2 { // in the same process, and in the next
		_, err = run.SendMessage(t.Context(), message("3", "a", 1))
		require.ErrorIs(t, err, decide.ErrFinished)
		require.ErrorIs(t, run.PauseCell(t.Context(), "account[a]", ""), decide.ErrFinished)
		require.ErrorIs(t, run.Retry(t.Context(), "account[b]"), decide.ErrFinished)
		_, err = run.Snapshot(t.Context())
		require.ErrorIs(t, err, decide.ErrFinished)
		_, err = run.Await(t.Context(), "account[a]", func(*cells.State) bool { return false })
		require.ErrorIs(t, err, decide.ErrFinished)
		c, err := run.Cell(t.Context(), "account[a]")
		require.NoError(t, err)
		require.Equal(t, "completed map[alien:[] fired:1 n:1 paid:1] 0 ", shown(&c))
		c, err = run.Cell(t.Context(), "account[b]")
		require.NoError(t, err)
		require.Equal(t, world.Failed, c.Status)
		_, err = run.Cell(t.Context(), "account[z]")
		require.ErrorIs(t, err, decide.ErrCellNotFound)
		shut(t, e)
		e = engine(t, store, k, true)
		run = found(t, e)
	}
}

// TestAParkedWorld can be read, and takes messages once it has the operation that it lacks.
func TestAParkedWorld(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	add(t, start(t, e), "1")
	awaited(t, found(t, e), "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	shut(t, e)

	e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	run := found(t, e)
	_, err = run.SendMessage(t.Context(), message("2", "a", 1))
	require.ErrorIs(t, err, coordinator.ErrMissing)
	require.ErrorIs(t, run.Parked(t.Context()), coordinator.ErrParked)
	c, err := run.Cell(t.Context(), "account[a]")
	require.NoError(t, err)
	require.Equal(t, "completed map[alien:[] fired:1 n:1 paid:1] 0 ", shown(&c))
	shut(t, e)

	e = engine(t, store, k, true)
	add(t, found(t, e), "2")
	awaited(t, found(t, e), "account[a]", "completed map[alien:[] fired:2 n:2 paid:2] 0 ")
}

// TestAMessageIsTakenOnce, also from several senders, several times, and while no process drives the run.
func TestAMessageIsTakenOnce(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	for _, drives := range []bool{true, false} {
		e := engine(t, store, k, drives)
		if drives {
			start(t, e)
		}
		run := found(t, e)
		require.Equal(t, drives, run.Driven())
		ref := fmt.Sprint("m-", drives)
		sent := make([]cells.Sent, 32)
		var wg sync.WaitGroup
		for i := range sent {
			wg.Go(func() { sent[i], _ = run.SendMessage(t.Context(), message(ref, "a", 1)) })
		}
		wg.Wait()
		for _, s := range sent {
			require.Equal(t, cells.Sent{Seq: sent[0].Seq, Cells: []string{"account[a]"}}, s)
		}
		events := 0
		for e, err := range run.Events(t.Context(), 1) {
			require.NoError(t, err)
			if e.Type == journal.MessageReceived && e.Detail.ID == ref {
				require.Equal(t, sent[0].Seq, e.Seq)
				events++
			}
		}
		require.Equal(t, 1, events)
		shut(t, e)
	}
}

// TestSnapshotsBesideSends: snapshots, several at once, lose no message that is sent meanwhile.
func TestSnapshotsBesideSends(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	var wg sync.WaitGroup
	for s := range 8 {
		wg.Go(func() {
			for i := range 25 {
				_, err := run.SendMessage(t.Context(), message(fmt.Sprint(s, ".", i), fmt.Sprint("k", i%5), 1))
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	var seqs sync.Map
	for range 3 {
		wg.Go(func() {
			for range 8 {
				seq, err := run.Snapshot(t.Context())
				if err != nil {
					t.Error(err)
				}
				if _, twice := seqs.LoadOrStore(seq, true); twice {
					t.Error("two snapshots have one event")
				}
			}
		})
	}
	wg.Wait()
	require.False(t, t.Failed())
	awaited(t, run, "book", "completed map[n:200 seen:200] 0 ")
	for i := range 5 {
		awaited(t, run, fmt.Sprintf("account[k%d]", i), "completed map[alien:[] fired:40 n:40 paid:40] 0 ")
	}
	live, err := run.Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	shut(t, e)
	e = engine(t, store, k, true)
	again, err := found(t, e).Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	require.Equal(t, live, again)
}

// TestSnapshotsThatCannotBeMade are refused, and change nothing.
func TestSnapshotsThatCannotBeMade(t *testing.T) {
	k := newTill(nil)
	e := engine(t, contentless{memory.New()}, k, true)
	run := start(t, e)
	add(t, run, "1")
	_, err := run.Snapshot(t.Context())
	require.ErrorIs(t, err, decide.ErrNotPossible)
	awaited(t, run, "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")

	e = engine(t, memory.New(), k, true)
	other, err := e.Start(t.Context(), load(t, "{kind: Workflow, name: w, operations: {hold: {wait: {message: go}}}, steps: [{operation: hold}]}"), nil)
	require.NoError(t, err)
	_, err = other.Snapshot(t.Context())
	require.ErrorIs(t, err, decide.ErrNotWorld)
	_, err = other.Cell(t.Context(), "a")
	require.ErrorIs(t, err, decide.ErrNotWorld)
	_, err = other.Cells(t.Context(), nil, 0)
	require.ErrorIs(t, err, decide.ErrNotWorld)
	_, err = other.Await(t.Context(), "a", func(*cells.State) bool { return true })
	require.ErrorIs(t, err, decide.ErrNotWorld)
	require.ErrorIs(t, other.PauseCell(t.Context(), "a", ""), decide.ErrNotWorld)
	require.NoError(t, other.Cancel(t.Context(), ""))

	run = start(t, e)
	add(t, run, "1")
	require.NoError(t, run.Cancel(t.Context(), ""))
	_, err = run.Snapshot(t.Context())
	require.ErrorIs(t, err, decide.ErrFinished)
	kept, deleted, err := run.Sweep(t.Context(), true)
	require.NoError(t, err)
	require.Zero(t, kept+deleted, "what is refused leaves nothing behind")
}

// spoiled is a store in which one blob of the content is damaged.
type spoiled struct {
	unclosed
	at journal.Hash
}

func (s spoiled) Content(ctx context.Context, stream string, hash journal.Hash) ([]byte, error) {
	if hash == s.at {
		return nil, fmt.Errorf("%w: changed", journal.ErrDamaged)
	}
	return s.unclosed.Content(ctx, stream, hash)
}

// hashes is a store that records the content that was read.
type hashes struct {
	unclosed
	mu  *sync.Mutex
	all *[]journal.Hash
}

func (h hashes) Content(ctx context.Context, stream string, hash journal.Hash) ([]byte, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !slices.Contains(*h.all, hash) {
		*h.all = append(*h.all, hash)
	}
	return h.unclosed.Content(ctx, stream, hash)
}

// TestDamagedContentIsNotServed: if any blob of a snapshot is damaged, a world parks once it needs it, and every answer is right or
// ErrDamaged. If no process drives the world, nothing is added to its journal.
func TestDamagedContentIsNotServed(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	for i := range 3 {
		id := fmt.Sprint("k", i)
		_, err := run.SendMessage(t.Context(), message(id, id, 1))
		require.NoError(t, err)
		awaited(t, run, "account["+id+"]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	}
	_, err := run.Snapshot(t.Context())
	require.NoError(t, err)
	shut(t, e)

	read := hashes{store, &sync.Mutex{}, &[]journal.Hash{}}
	e = engine(t, read, k, false)
	whole, err := found(t, e).Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	require.Len(t, whole, 4)
	shut(t, e)
	require.GreaterOrEqual(t, len(*read.all), 4, "an index, a core, states")
	head, err := store.Head(t.Context(), "w")
	require.NoError(t, err)

	for _, drives := range []bool{false, true} {
		for _, hash := range *read.all {
			e := engine(t, spoiled{store, hash}, k, drives)
			run := found(t, e)
			_, err := run.Cells(t.Context(), nil, 0)
			require.ErrorIs(t, err, journal.ErrDamaged, "drives: %t", drives)
			damaged := 0
			for _, c := range whole {
				got, err := run.Cell(t.Context(), c.Address)
				if err == nil {
					require.Equal(t, c, got)
					continue
				}
				require.ErrorIs(t, err, journal.ErrDamaged)
				damaged++
			}
			require.NotZero(t, damaged)
			if drives {
				require.ErrorIs(t, run.Parked(t.Context()), journal.ErrDamaged)
			}
			shut(t, e)
			now, err := store.Head(t.Context(), "w")
			require.NoError(t, err)
			require.Equal(t, head.Last, now.Last)
		}
	}
}

// TestManySendersAndAShutdown: the messages that 256 senders had acknowledged when the engine shut down are kept, and those that were
// refused may be sent again.
func TestManySendersAndAShutdown(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	ack := &taken{sent: map[string]uint64{}}
	var wg, some sync.WaitGroup
	some.Add(500)
	for s := range 256 {
		wg.Go(func() {
			for i := 0; ; i++ {
				ref := fmt.Sprint(s, ".", i)
				sent, err := run.SendMessage(context.Background(), message(ref, fmt.Sprint("k", s%7), 1))
				if err != nil {
					return
				}
				ack.mu.Lock()
				if ack.sent[ref] = sent.Seq; len(ack.sent) <= 500 {
					some.Done()
				}
				ack.mu.Unlock()
			}
		})
	}
	some.Wait()
	shut(t, e)
	wg.Wait()

	e = engine(t, store, k, true)
	run = found(t, e)
	messages := map[string]uint64{}
	for e, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == journal.MessageReceived {
			require.NotContains(t, messages, e.Detail.ID)
			messages[e.Detail.ID] = e.Seq
		}
	}
	for ref, seq := range ack.sent {
		require.Equal(t, seq, messages[ref], ref)
	}
	n := len(messages)
	awaited(t, run, "book", fmt.Sprintf("completed map[n:%d seen:%d] 0 ", n, n))
	require.NoError(t, k.fault)
}
