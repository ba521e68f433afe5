package cells_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
)

// contentOf returns the hashes of all content of the world.
func contentOf(t testing.TB, store journal.ContentStore) map[journal.Hash]bool {
	all := map[journal.Hash]bool{}
	require.NoError(t, store.SweepContent(t.Context(), "w", func(h journal.Hash) bool { all[h] = true; return true }))
	return all
}

// needs returns the hashes of the blobs that the event of a snapshot needs. It rebuilds the tries from their entries.
func needs(t testing.TB, store journal.ContentStore, e *journal.Event) map[journal.Hash]bool {
	all := map[journal.Hash]bool{}
	fetch := kept.Fetch(func(h journal.Hash) ([]byte, error) { return store.Content(context.Background(), "w", h) })
	m := e.Value.(map[string]any)
	r := kept.Reader{}
	all[journal.Hash(r.Hash(m["core"]))] = true
	if m["calls"] != nil {
		all[journal.Hash(r.Hash(m["calls"]))] = true
	}
	again := func(of trie.Trie, root trie.Hash, see func(trie.Entry)) {
		var entries []trie.Entry
		for entry, err := range of.Walk(root, nil, nil) {
			require.NoError(t, err)
			see(entry)
			entries = append(entries, trie.Entry{Path: slices.Clone(entry.Path), Data: slices.Clone(entry.Data)})
		}
		made, err := of.Update(trie.Empty, entries, func(h trie.Hash, _ []byte) error {
			all[journal.Hash(h)] = true
			return nil
		})
		require.NoError(t, err)
		require.Equal(t, root, made)
	}
	for _, root := range m["roots"].(map[string]any) {
		again(fetch.Cells(), r.Hash(root), func(e trie.Entry) {
			c, err := trie.DecodeCell(e.Data)
			require.NoError(t, err)
			for _, h := range []trie.Hash{c.State, c.Work} {
				if h != (trie.Hash{}) {
					all[journal.Hash(h)] = true
				}
			}
		})
	}
	if m["deadlines"] != nil {
		again(trie.Deadlines(fetch.Node), r.Hash(m["deadlines"]), func(trie.Entry) {})
	}
	require.NoError(t, r.Err)
	return all
}

// snapshotsOf returns the events of all snapshots in the journal.
func snapshotsOf(t testing.TB, run *coordinator.Run) (list []journal.Event) {
	for e, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == journal.WorldSnapshotted {
			list = append(list, e)
		}
	}
	return list
}

// changed sends a message to each of some accounts, and keeps the state once they are at rest.
func changed(t testing.TB, run *coordinator.Run, round, from, to int) {
	for i := from; i < to; i++ {
		_, err := run.SendMessage(t.Context(), message(fmt.Sprint(round, ".", i), fmt.Sprint("k", i), 1))
		require.NoError(t, err)
	}
	for i := from; i < to; i++ {
		life{t, run, nil}.await(fmt.Sprintf("account[k%d]", i), func(c *cells.State) bool { return c.Status == world.Completed })
	}
	_, err := run.Snapshot(t.Context())
	require.NoError(t, err)
}

// TestSweepKeepsWhatIsReachable: the blobs that the last two snapshots need stay, and no others; the world is complete when it is opened
// again.
func TestSweepKeepsWhatIsReachable(t *testing.T) {
	dir, k := t.TempDir(), newTill(nil)
	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	e := k.open(t, store)
	run := start(t, e)
	changed(t, run, 1, 0, 100)
	changed(t, run, 2, 0, 30)
	changed(t, run, 3, 20, 40)
	add(t, run, "open") // some calls are open and some items held, too
	changed(t, run, 4, 35, 45)
	snapshots := snapshotsOf(t, run)
	require.Len(t, snapshots, 4)
	newest, older := &snapshots[3], &snapshots[2]
	require.Equal(t, older.Seq, world.Before(newest))
	want := needs(t, store, newest)
	shared := len(want)
	for h := range needs(t, store, older) {
		if want[h] {
			shared--
		}
		want[h] = true
	}
	require.NotZero(t, shared, "what the newest alone needs")
	before := contentOf(t, store)
	require.Greater(t, len(before), len(want), "some is superseded")
	whole, err := run.Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	require.Len(t, whole, 102)

	keep, would, err := run.Sweep(t.Context(), true)
	require.NoError(t, err)
	require.Equal(t, before, contentOf(t, store), "a dry sweep deletes nothing")
	keeps, deleted, err := run.Sweep(t.Context(), false)
	require.NoError(t, err)
	require.Equal(t, []int{keep, would}, []int{keeps, deleted})
	require.Equal(t, want, contentOf(t, store))
	require.Equal(t, []int{len(want), len(before) - len(want)}, []int{keeps, deleted})
	shut(t, e)

	store, err = disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	again, err := found(t, k.open(t, store)).Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	require.Equal(t, len(whole), len(again))
	for i := range whole {
		require.Equal(t, whole[i].State, again[i].State)
	}
	require.Equal(t, needs(t, store, older), needs(t, store, older), "the older can be read, too")
}

// trimmed returns a store with a world with trimmed events, its till, the trimmed range, and its events and state before.
func trimmed(t *testing.T) (store unclosed, k *till, gone cells.Trimmed, all []journal.Event, whole *coordinator.State) {
	store, k = unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	changed(t, run, 1, 0, 3)
	changed(t, run, 2, 0, 2)
	changed(t, run, 3, 1, 3)
	_, err := run.SendMessage(t.Context(), message("bad", "b", 13))
	require.NoError(t, err)
	life{t, run, nil}.await("account[b]", func(c *cells.State) bool { return c.Failure != nil })
	require.NoError(t, run.PauseCell(t.Context(), "account[k0]", "look"))
	shut(t, e)
	e = engine(t, contentless{store}, k, false) // it reads the journal from event 1 on
	whole, err = found(t, e).State(t.Context())
	require.NoError(t, err)
	for e, err := range found(t, e).Events(t.Context(), 1) {
		require.NoError(t, err)
		all = append(all, e)
	}
	shut(t, e)
	e = engine(t, store, k, false)
	run = found(t, e)
	none, err := run.Trim(t.Context(), 0, false)
	require.NoError(t, err)
	require.Zero(t, none, "this process does not go on with the world")
	none, err = run.Trim(t.Context(), len(all), false)
	require.NoError(t, err)
	require.Zero(t, none, "all may stay")
	gone, err = run.Trim(t.Context(), 1, false)
	require.NoError(t, err)
	require.EqualValues(t, 2, gone.From)
	require.Equal(t, world.Upto(&snapshotsOf(t, run)[0]), gone.To, "as far as the older of the two")
	shut(t, e)
	return store, k, gone, all, whole
}

// TestATrimmedWorldIsRead: in a world with a trimmed journal, all data that does not need the trimmed events can be read, unchanged.
func TestATrimmedWorldIsRead(t *testing.T) {
	store, k, gone, all, whole := trimmed(t)
	left := append([]journal.Event{all[0]}, all[gone.To:]...)
	e := engine(t, store, k, false)
	run := found(t, e)
	state, err := run.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, whole, state)

	var got []journal.Event
	for e, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		got = append(got, e)
	}
	require.Equal(t, left, got)
	full := engine(t, contentless{unclosed{untrimmed(t, all)}}, k, false)
	for _, from := range []uint64{0, 1, 2, gone.To, gone.To + 1, gone.To + 5, uint64(len(all)) - 3, uint64(len(all))} {
		var want, seen []coordinator.Update
		for u, err := range found(t, full).History(t.Context(), from) {
			require.NoError(t, err)
			if u.Event.Hint = 0; u.Event.Seq > gone.To || u.Event.Seq == 1 { // the hint is the root's own
				want = append(want, u)
			}
		}
		for u, err := range run.History(t.Context(), from) {
			require.NoError(t, err)
			u.Event.Hint = 0
			seen = append(seen, u)
		}
		require.Len(t, seen, len(want), "from %d", from)
		for i := range want {
			require.Equal(t, want[i], seen[i], "from %d", from)
		}
	}

	_, err = run.Explain(t.Context(), "#5")
	require.ErrorIs(t, err, journal.ErrTrimmed)
	require.ErrorContains(t, err, fmt.Sprintf("event #5 is not there any more: events 2 to %d have been trimmed", gone.To))
	_, err = run.Explain(t.Context(), "account[zz]")
	require.ErrorIs(t, err, decide.ErrCellNotFound)
	require.ErrorContains(t, err, fmt.Sprintf("events 2 to %d have been trimmed", gone.To))
	for _, name := range []string{"", "account[b]", "account[k0]", "account[k1]", fmt.Sprintf("#%d", gone.To+1), fmt.Sprintf("#%d", len(all)-1)} {
		want, err := found(t, full).Explain(t.Context(), name)
		require.NoError(t, err)
		got, err := run.Explain(t.Context(), name)
		require.NoError(t, err)
		require.Equal(t, want.Status, got.Status, name)
		require.Equal(t, len(want.Reasons), len(got.Reasons), name)
	}
	for r, least := range map[*coordinator.Run]int{run: 4, found(t, full): 14} { // two attempts of each payment
		graph, err := r.CallGraph(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, graph.NodeCount(), least)
	}
	c, err := run.Await(t.Context(), "account[k1]", func(*cells.State) bool { return true })
	require.NoError(t, err)
	require.Equal(t, "completed map[alien:[] fired:3 n:3 paid:3] 0 ", shown(&c))
	require.NoError(t, run.Cancel(t.Context(), "enough"))
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.ErrorContains(t, result.Err(), "enough")

	shut(t, e)
	run = found(t, engine(t, store, k, true)) // it can be read when it has ended, too
	list, err := run.Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	require.Len(t, list, 5)
}

// untrimmed returns a store with the events of a world.
func untrimmed(t *testing.T, all []journal.Event) *memory.Store {
	store := memory.New()
	_, err := store.Append(t.Context(), "w", 0, all, journal.Head{Run: "w", Open: true, Last: uint64(len(all))})
	require.NoError(t, err)
	start := all[0].Detail.Start
	for e, err := range workflowStore(t).Read(t.Context(), journal.DefinitionStream(start.Workflow), 1) {
		require.NoError(t, err)
		_, err = store.Append(t.Context(), journal.DefinitionStream(start.Workflow), 0, []journal.Event{e}, journal.Head{})
		require.NoError(t, err)
	}
	return store
}

// workflowStore returns a store that has the definition of the world of accounts.
func workflowStore(t *testing.T) journal.Store {
	store := unclosed{memory.New()}
	e := engine(t, store, newTill(nil), true)
	start(t, e)
	shut(t, e)
	return store
}

// TestATrimmedWorldGoesOn, with the ids that it knows and the cells that it has, in the next process and the one after.
func TestATrimmedWorldGoesOn(t *testing.T) {
	store, k, _, all, _ := trimmed(t)
	for round := range 3 {
		e := engine(t, store, k, true)
		run := found(t, e)
		if round == 0 {
			require.NoError(t, run.ResumeCell(t.Context(), "account[k0]"))
			sent, err := run.SendMessage(t.Context(), message("1.0", "k0", 1))
			require.NoError(t, err)
			i := slices.IndexFunc(all, func(e journal.Event) bool { return e.Type == journal.MessageReceived && e.Detail.ID == "1.0" })
			require.Equal(t, all[i].Seq, sent.Seq, "it is known though its event is gone")
		}
		changed(t, run, 10+round, 0, 3)
		_, err := run.Trim(t.Context(), 1, false)
		require.NoError(t, err)
		_, _, err = run.Sweep(t.Context(), false)
		require.NoError(t, err)
		c, err := run.Cell(t.Context(), "account[k1]")
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("completed map[alien:[] fired:%[1]d n:%[1]d paid:%[1]d] 0 ", 4+round), shown(&c))
		shut(t, e)
	}
	require.NoError(t, k.fault)
}

// counted is a store that counts the events that are read.
type counted struct {
	unclosed
	n *atomic.Int64
}

func (c counted) count(events iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range events {
			c.n.Add(1)
			if !yield(e, err) {
				return
			}
		}
	}
}

func (c counted) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return c.count(c.unclosed.Read(ctx, stream, from))
}

func (c counted) Tail(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return c.count(c.unclosed.Tail(ctx, stream, from))
}

// TestAwaitReadsTheTail: waiting for a condition, and reading the state, read only the events since the newest snapshot.
func TestAwaitReadsTheTail(t *testing.T) {
	read := func(rounds int) (await, state int64) {
		store, k := counted{unclosed{memory.New()}, &atomic.Int64{}}, newTill(nil)
		e := engine(t, store, k, true)
		run := start(t, e)
		for i := range rounds {
			changed(t, run, i, 0, 5)
		}
		shut(t, e)
		e = engine(t, store, k, false)
		run = found(t, e)
		require.NoError(t, run.PauseCell(t.Context(), "account[k1]", ""))
		store.n.Store(0)
		_, err := run.Await(t.Context(), "account[k1]", func(c *cells.State) bool { return c.Paused })
		require.NoError(t, err)
		await = store.n.Swap(0)
		_, err = run.State(t.Context())
		require.NoError(t, err)
		return await, store.n.Load()
	}
	await, state := read(2)
	awaits, states := read(20)
	require.InDelta(t, await, awaits, 3)
	require.InDelta(t, state, states, 3)
	require.Less(t, awaits, int64(12))
}

// TestAReaderThatIsOvertakenGoesOn: a reader that is behind two snapshots, whose content and events are deleted meanwhile, begins
// again at those that are kept, and yields the remaining events that it has not yielded yet.
func TestAReaderThatIsOvertakenGoesOn(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	changed(t, run, 1, 0, 3)
	changed(t, run, 2, 0, 3)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	next, stop := iter.Pull2(run.Watch(ctx, 1))
	defer stop()
	u, err, ok := next()
	require.True(t, ok)
	require.NoError(t, err)
	last := u.Event.Seq
	for round := range 3 {
		changed(t, run, 3+round, 0, 3)
	}
	_, _, err = run.Sweep(t.Context(), false)
	require.NoError(t, err)
	gone, err := run.Trim(t.Context(), 1, false)
	require.NoError(t, err)
	require.Greater(t, gone.To, last)
	end, err := run.Last(t.Context())
	require.NoError(t, err)
	gaps := 0
	for last < end {
		u, err, ok := next()
		require.True(t, ok)
		require.NoError(t, err)
		if u.Event.Seq != last+1 {
			require.Equal(t, gone.To+1, u.Event.Seq)
			gaps++
		}
		last = u.Event.Seq
	}
	require.LessOrEqual(t, gaps, 1)
	cancel()
	_, err, ok = next()
	require.True(t, ok)
	require.True(t, errors.Is(err, context.Canceled), "%v", err)
}

// TestExplainReadsTheTail: explanations need only the events since the newest snapshot for decisions in these, and for lists of cells;
// earlier decisions are searched in earlier events, and the explanations equal those from the whole journal.
func TestExplainReadsTheTail(t *testing.T) {
	read := func(rounds int, name string) (n int64, decided bool) {
		store, k := counted{unclosed{memory.New()}, &atomic.Int64{}}, newTill(nil)
		e := engine(t, store, k, true)
		run := start(t, e)
		for i := range rounds {
			changed(t, run, i, 0, 5)
		}
		require.NoError(t, run.PauseCell(t.Context(), "account[k2]", ""))
		seq, err := run.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, run.PauseCell(t.Context(), "account[k1]", ""))
		shut(t, e)
		e = engine(t, store, k, false)
		run = found(t, e)
		store.n.Store(0)
		switch name {
		case "cells":
			list, err := run.Cells(t.Context(), nil, 0)
			require.NoError(t, err)
			require.Len(t, list, 6)
			return store.n.Load(), true
		case "#":
			name = fmt.Sprintf("#%d", seq+1)
		}
		x, err := run.Explain(t.Context(), name)
		require.NoError(t, err)
		return store.n.Load(), x.Decided != nil
	}
	for _, name := range []string{"account[k1]", "cells", "#"} {
		few, decided := read(2, name)
		require.True(t, decided, name)
		many, _ := read(9, name)
		require.Equal(t, few, many, name)
		require.Less(t, few, int64(20), name)
	}
	few, decided := read(2, "account[k2]")
	require.True(t, decided, "it is looked for before the snapshot")
	many, _ := read(9, "account[k2]")
	require.Greater(t, many, few)
}
