package journaltest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// TestSweeps tests the tombstones and the sweeps of a store. open returns an empty store, which TestSweeps closes.
func TestSweeps(t *testing.T, open func(t *testing.T) journal.Store) {
	tests := []struct {
		name string
		test func(t *testing.T, s journal.Store)
	}{
		{"a tombstone says when", testTombstone},
		{"an id that is free begins anew", testFreeID},
		{"tombstones of free ids are swept", testSweepTombstones},
		{"what nothing refers to is swept", testSweepContent},
		{"a dry sweep changes nothing and finds the same", testDrySweep},
		{"what is to be kept is spared", testSweepKeeps},
		{"an append between mark and sweep loses nothing", testSweepRace},
		{"sweeps beside writers lose nothing", testSweepBeside},
		{"a sweep that must end ends", testSweepEnds},
		{"a size counts events", testSize},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			s := open(t)
			defer func() { require.NoError(t, s.Close()) }()
			test.test(t, s)
		})
	}
}

// started returns the first event of a run with a definition and a value.
func started(run, workflow string, value any, children ...string) []journal.Event {
	start := &journal.Start{Run: run, Workflow: workflow, Children: map[string]string{}}
	for _, c := range children {
		start.Children[workflow+"/"+c] = c
	}
	return []journal.Event{{Type: journal.RunStarted, At: 1, Value: value, Detail: &journal.Detail{Start: start}}}
}

// define stores definitions.
func define(t require.TestingT, s journal.Store, hashes ...string) {
	for _, hash := range hashes {
		event := []journal.Event{{Type: journal.ContentStored, Value: "document " + hash}}
		_, err := s.Append(context.Background(), journal.DefinitionStream(hash), 0, event, journal.Head{})
		if !errors.Is(err, journal.ErrConflict) {
			require.NoError(t, err)
		}
	}
}

// large returns a value that is large enough to be stored apart.
func large(text string) string { return strings.Repeat(text+" ", 1+(40<<10)/(len(text)+1)) }

// sweepStreams sweeps a store, and returns the streams that it found, in order.
func sweepStreams(t require.TestingT, s journal.Store, w journal.StreamSweep) (found []string) {
	w.Found = func(stream string, bytes int64) {
		require.Positive(t, bytes, stream)
		found = append(found, stream)
	}
	require.NoError(t, s.SweepStreams(context.Background(), &w))
	slices.Sort(found)
	return found
}

// holds reports whether a stream has events.
func holds(t require.TestingT, s journal.Store, stream string) bool {
	return len(mustRead(t, s, stream, 1)) > 0
}

func ended(run string) journal.Head {
	return journal.Head{Run: run, Status: "completed", Started: 1, Ended: 2}
}

func testTombstone(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(3, ""), ended("run"))
	mustAppend(t, s, "for ever", 0, batch(3, ""), ended("for ever"))
	want := journal.Tombstone{At: 1_000, Until: 2_000}
	require.NoError(t, s.Delete(t.Context(), "run", want))
	require.NoError(t, s.Delete(t.Context(), "for ever", journal.Tombstone{At: 1_000}))
	check := func(err error, want journal.Tombstone) {
		t.Helper()
		var gone *journal.DeletedError
		require.ErrorAs(t, err, &gone)
		require.Equal(t, want, gone.Tombstone)
		require.ErrorIs(t, err, journal.ErrDeleted)
		require.ErrorIs(t, err, journal.ErrNotFound)
	}
	late := batch(1, "")
	late[0].At = 1_999
	_, err := read(s, "run", 1)
	check(err, want)
	_, err = s.Append(t.Context(), "run", 0, late, ended("run"))
	check(err, want)
	check(s.Delete(t.Context(), "run", journal.Tombstone{At: 5, Until: 6}), want)
	late[0].At = 1 << 60
	_, err = s.Append(t.Context(), "run", 3, late, ended("run"))
	check(err, want)
	_, err = s.Append(t.Context(), "run", 0, nil, ended("run"))
	check(err, want)
	_, err = s.Append(t.Context(), "for ever", 0, late, ended("for ever"))
	check(err, journal.Tombstone{At: 1_000})
}

func testFreeID(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(5, "old"), ended("run"))
	content, keeps := s.(journal.ContentStore)
	if keeps {
		require.NoError(t, content.PutContent(t.Context(), "run", [][]byte{{1}}))
	}
	require.NoError(t, s.Delete(t.Context(), "run", journal.Tombstone{At: 1, Until: 2_000}))
	place := newest(t, s)
	events := batch(2, "new")
	events[0].At, events[1].At = 2_000, 2_000
	mustAppend(t, s, "run", 0, events, journal.Head{Run: "run", Status: "running", Open: true})
	require.Equal(t, numbered(0, events), mustRead(t, s, "run", 1))
	require.Len(t, mustHeads(t, s, ""), 1)
	require.Equal(t, []string{"run"}, listed(t, s, journal.Query{Index: journal.ByStatus, Key: "running"}))
	require.Empty(t, listed(t, s, journal.Query{Index: journal.ByStatus, Key: "completed"}))
	require.Equal(t, map[string]uint64{"run": 2}, changes(t, s, place).last)
	mustAppend(t, s, "run", 2, batch(1, ""), ended("run"))
	if keeps {
		kept := 0
		require.NoError(t, content.SweepContent(t.Context(), "run", func(journal.Hash) bool { kept++; return true }))
		require.Zero(t, kept, "the content was that of the deleted run")
	}
	require.NoError(t, s.Delete(t.Context(), "run", journal.Tombstone{At: 3_000, Until: 4_000}), "it may be deleted again")
}

func testSweepTombstones(t *testing.T, s journal.Store) {
	for run, until := range map[string]int64{"free": 2_000, "not yet": 2_001, "never": 0} {
		mustAppend(t, s, run, 0, batch(2, ""), ended(run))
		require.NoError(t, s.Delete(t.Context(), run, journal.Tombstone{At: 1, Until: until}))
	}
	isGone := func(run string) bool { _, err := read(s, run, 1); return errors.Is(err, journal.ErrDeleted) }
	require.Empty(t, sweepStreams(t, s, journal.StreamSweep{Now: 1 << 60, Dry: true}))
	require.True(t, isGone("free"))
	require.Empty(t, sweepStreams(t, s, journal.StreamSweep{Now: 2_000}), "a tombstone is no stream")
	require.False(t, isGone("free"))
	require.Empty(t, mustRead(t, s, "free", 1))
	require.True(t, isGone("not yet"))
	require.True(t, isGone("never"))
	mustAppend(t, s, "free", 0, batch(2, ""), ended("free"))
	require.Len(t, mustRead(t, s, "free", 1), 2, "there is no trace of the deleted run")
}

// orphans fills a store with content to which runs and names refer, and with content to which nothing refers any more. It returns the
// streams of the latter.
func orphans(t *testing.T, s journal.Store) (unreferred []string) {
	hash, _, err := journal.HashOf("a value to which no event refers")
	require.NoError(t, err)
	define(t, s, "top", "child", "grandchild", "named", "below named", "old", "shared", "alone", "moved to", "of an act")
	mustAppend(t, s, hash.Stream(), 0, []journal.Event{{Type: journal.ContentStored, Value: "a value to which no event refers"}}, journal.Head{})
	mustAppend(t, s, "kept", 0, started("kept", "top", large("kept"), "child", "grandchild"), journal.Head{Run: "kept", Open: true})
	mustAppend(t, s, "also kept", 0, started("also kept", "shared", nil), ended("also kept"))
	mustAppend(t, s, "zz", 0, started("zz", "shared", large("zz")), ended("zz"))
	mustAppend(t, s, "gone", 0, started("gone", "old", large("kept"), "shared"), ended("gone"))
	published := started("", "named", nil, "below named")
	published[0].Type = journal.WorkflowPublished
	mustAppend(t, s, journal.NameStream("named"), 0, published, journal.Head{})
	moved, act := started("kept", "moved to", nil), started("", "of an act", nil)
	moved[0].Type, act[0].Type = journal.RunMoved, journal.BulkRecorded
	mustAppend(t, s, "kept", 1, moved, journal.Head{Run: "kept", Open: true})
	mustAppend(t, s, journal.BulkStream(1), 0, act, journal.Head{})
	require.NoError(t, s.Delete(t.Context(), "gone", journal.Tombstone{}))
	return []string{hash.Stream(), "def/alone", "def/old"}
}

func testSweepContent(t *testing.T, s journal.Store) {
	want := orphans(t, s)
	require.Equal(t, want, sweepStreams(t, s, journal.StreamSweep{}))
	for _, stream := range want {
		require.False(t, holds(t, s, stream), stream)
	}
	for _, hash := range []string{"top", "child", "grandchild", "named", "below named", "shared", "moved to", "of an act"} {
		require.True(t, holds(t, s, journal.DefinitionStream(hash)), hash)
	}
	require.Equal(t, large("kept"), mustRead(t, s, "kept", 1)[0].Value)
	require.Empty(t, sweepStreams(t, s, journal.StreamSweep{}), "nothing is left")
	define(t, s, "old") // the store no longer knows it
	require.True(t, holds(t, s, "def/old"))
	mustAppend(t, s, "later", 0, started("later", "old", large("zz")), journal.Head{Run: "later", Open: true})
	require.NoError(t, s.Delete(t.Context(), "zz", journal.Tombstone{}))
	require.Empty(t, sweepStreams(t, s, journal.StreamSweep{}))
	require.Equal(t, large("zz"), mustRead(t, s, "later", 1)[0].Value)
}

func testDrySweep(t *testing.T, s journal.Store) {
	want := orphans(t, s)
	require.Equal(t, want, sweepStreams(t, s, journal.StreamSweep{Dry: true}))
	withGone := sweepStreams(t, s, journal.StreamSweep{Dry: true, Gone: func(run string) bool { return run == "kept" }})
	require.Subset(t, withGone, append(want, "def/child", "def/grandchild", "def/top"))
	require.True(t, holds(t, s, "def/old"))
	require.Equal(t, large("kept"), mustRead(t, s, "kept", 1)[0].Value)
	require.Equal(t, want, sweepStreams(t, s, journal.StreamSweep{}))
}

func testSweepKeeps(t *testing.T, s journal.Store) {
	want := orphans(t, s)
	asked := []string{}
	keep := func(stream string) bool { asked = append(asked, stream); return stream == "def/old" }
	require.Equal(t, want[:2], sweepStreams(t, s, journal.StreamSweep{Keep: keep}))
	require.ElementsMatch(t, want, asked, "it is asked about what is about to be deleted")
	require.True(t, holds(t, s, "def/old"))
}

// testSweepRace appends a run in each pause of a sweep in turn, so also between the mark and the deletion. Its events refer to
// content that was stored before and to which nothing referred.
func testSweepRace(t *testing.T, s journal.Store) {
	for pause, paused := 1, true; paused; pause++ {
		define(t, s, "alone", "again")
		value := large("value")
		mustAppend(t, s, "first", 0, started("first", "top", value), ended("first"))
		require.NoError(t, s.Delete(t.Context(), "first", journal.Tombstone{At: 1, Until: 1})) // its value stays
		run := "a run"                                                                         // sorts before content, so it is visited first
		count := 0
		sweepStreams(t, s, journal.StreamSweep{Now: 1, Pause: func(context.Context) error {
			if count++; count == pause {
				mustAppend(t, s, run, 0, started(run, "alone", value), ended(run))
				define(t, s, "again")
			}
			return nil
		}})
		if paused = count >= pause; !paused {
			require.Greater(t, pause, 2, "there are pauses")
			break
		}
		require.True(t, holds(t, s, "def/alone"), "pause %d", pause)
		require.True(t, holds(t, s, "def/again"), "an append takes it for stored: pause %d", pause)
		events, err := read(s, run, 1)
		require.NoError(t, err, "pause %d", pause)
		require.Equal(t, value, events[0].Value)
		require.NoError(t, s.Delete(t.Context(), run, journal.Tombstone{At: 1, Until: 1}))
		sweepStreams(t, s, journal.StreamSweep{Now: 1})
		require.False(t, holds(t, s, "def/alone"))
	}
}

// testSweepBeside sweeps while runs with shared values begin and are deleted.
func testSweepBeside(t *testing.T, s journal.Store) {
	const writers, rounds = 4, 60
	var all sync.WaitGroup
	done := make(chan struct{})
	for w := range writers {
		all.Go(func() {
			for i := range rounds {
				run, hash := fmt.Sprint(w, "-", i), fmt.Sprint("w", i%3)
				value := large(fmt.Sprint("value ", i%5))
				_, err := s.Append(context.Background(), run, 0, started(run, hash, value), ended(run))
				if err != nil {
					t.Errorf("start %s: %v", run, err)
					return
				}
				if events, err := read(s, run, 1); err != nil || len(events) != 1 || events[0].Value != value {
					t.Errorf("read %s: %d events, %v", run, len(events), err)
				}
				if i%4 != 0 {
					if err := s.Delete(context.Background(), run, journal.Tombstone{}); err != nil {
						t.Errorf("delete %s: %v", run, err)
					}
				}
			}
		})
	}
	go func() { all.Wait(); close(done) }()
	for ended := false; !ended; {
		select {
		case <-done:
			ended = true
		default:
		}
		sweepStreams(t, s, journal.StreamSweep{})
	}
	for w := range writers {
		for i := 0; i < rounds; i += 4 {
			require.Equal(t, large(fmt.Sprint("value ", i%5)), mustRead(t, s, fmt.Sprint(w, "-", i), 1)[0].Value)
		}
	}
}

func testSweepEnds(t *testing.T, s journal.Store) {
	want := orphans(t, s)
	stop := errors.New("it must end")
	for pauses := 1; ; pauses++ {
		count := 0
		err := s.SweepStreams(t.Context(), &journal.StreamSweep{Dry: true, Pause: func(context.Context) error {
			if count++; count == pauses {
				return stop
			}
			return nil
		}})
		if count < pauses {
			require.NoError(t, err)
			break
		}
		require.ErrorIs(t, err, stop)
		require.Equal(t, pauses, count, "it goes on after an error")
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.SweepStreams(gone, &journal.StreamSweep{}), context.Canceled)
	for _, stream := range want {
		require.True(t, holds(t, s, stream), stream)
	}
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.SweepStreams(t.Context(), &journal.StreamSweep{}), journal.ErrClosed)
	_, err := s.Size(t.Context(), "kept")
	require.ErrorIs(t, err, journal.ErrClosed)
}

func testSize(t *testing.T, s journal.Store) {
	size := func(stream string) int64 {
		n, err := s.Size(t.Context(), stream)
		require.NoError(t, err)
		return n
	}
	mustAppend(t, s, "few", 0, batch(3, ""), ended("few"))
	mustAppend(t, s, "many", 0, batch(300, ""), ended("many"))
	require.Positive(t, size("few"))
	require.Greater(t, size("many"), 20*size("few"))
	require.Zero(t, size("fe"))
	if c, ok := s.(journal.ContentStore); ok {
		before := size("few")
		require.NoError(t, c.PutContent(t.Context(), "few", [][]byte{make([]byte, 10_000)}))
		require.GreaterOrEqual(t, size("few"), before+10_000)
	}
	require.NoError(t, s.Delete(t.Context(), "many", journal.Tombstone{}))
	require.Zero(t, size("many"))
}
