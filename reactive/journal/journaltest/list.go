package journaltest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// TestLists tests the lists, the change log and the deletions of a store. open returns an empty store, which TestLists closes.
func TestLists(t *testing.T, open func(t *testing.T) journal.Store) {
	tests := []struct {
		name string
		test func(t *testing.T, s journal.Store)
	}{
		{"every index has its heads, newest first", testIndexes},
		{"a list goes on from everywhere, in both orders", testListGoesOn},
		{"a list is bounded in time", testListBounds},
		{"a head that changes moves between lists", testListMoves},
		{"labels of any text are apart", testListLabels},
		{"a list that no store has is refused", testListRefuses},
		{"streams that are no runs are in no list", testListOfRuns},
		{"published names are listed by how they begin", testPublished},
		{"changes go on from every place", testChanges},
		{"a place that is not known is a gap", testChangesGap},
		{"changes are waited for", testAwaitChange},
		{"what is deleted is gone, and its id is not free", testDelete},
		{"what must stay is not deleted", testDeleteRefuses},
		{"a rebuild changes no list", testRebuild},
		{"a store that is closed or a call that is cancelled lists nothing", testListEnds},
		{"its lists are those of a slice that is sorted", testListModel},
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

// listed collects the ids of a list.
func listed(t require.TestingT, s journal.Store, q journal.Query) []string {
	ids := []string{}
	for h, err := range s.List(context.Background(), q) {
		require.NoError(t, err)
		ids = append(ids, h.Run)
	}
	return ids
}

// putHead starts a run with a head.
func putHead(t require.TestingT, s journal.Store, h journal.Head) {
	mustAppend(t, s, h.Run, 0, batch(1, ""), h)
}

func testIndexes(t *testing.T, s journal.Store) {
	putHead(t, s, journal.Head{Run: "a", Name: "order", Status: "waiting", Started: 10, Open: true, Due: 500, Labels: map[string]string{"team": "x"},
		Waits: []journal.Wait{{Kind: "person", Name: "ann"}, {Kind: "timer", Until: 500}, {Kind: "person", Name: "bob"}}})
	putHead(t, s, journal.Head{Run: "b", Name: "order", Status: "running", Started: 30, Open: true, Due: 400, Labels: map[string]string{"team": "x", "i": "1"}})
	putHead(t, s, journal.Head{Run: "c", Name: "refund", Status: "failed", Started: 20, Code: "timeout"})
	putHead(t, s, journal.Head{Run: "d", Name: "order", Status: "waiting", Started: 20, Open: true, Due: 300})
	putHead(t, s, journal.Head{Run: "b/s#1", Name: "refund", Status: "waiting", Started: 40, Open: true})
	putHead(t, s, journal.Head{Run: "c/s#1", Name: "refund", Status: "completed", Started: -5})
	for _, test := range []struct {
		q    journal.Query
		want string
	}{
		{journal.Query{Index: journal.ByStart}, "b/s#1 b c d a c/s#1"},
		{journal.Query{Index: journal.ByRun, Key: "b/s#1"}, "b/s#1"},
		{journal.Query{Index: journal.ByRun, Key: "b/s"}, ""},
		{journal.Query{Index: journal.ByRun, Key: "b", From: 31}, ""},
		{journal.Query{Index: journal.ByRun, Key: "b", After: journal.Position{At: 40, Run: "b/s#1"}}, "b"},
		{journal.Query{Index: journal.ByRun, Key: "b", After: journal.Position{At: 30, Run: "b"}}, ""},
		{journal.Query{Index: journal.ByWorkflow, Key: "order"}, "b d a"},
		{journal.Query{Index: journal.ByWorkflow, Key: "orde"}, ""},
		{journal.Query{Index: journal.ByLabel, Key: "team", Value: "x"}, "b a"},
		{journal.Query{Index: journal.ByLabel, Key: "team"}, ""},
		{journal.Query{Index: journal.ByStatus, Key: "waiting"}, "b/s#1 d a"},
		{journal.Query{Index: journal.ByStatus, Key: "completed"}, "c/s#1"},
		{journal.Query{Index: journal.ByWait, Key: "person"}, "a"},
		{journal.Query{Index: journal.ByWait, Key: "timer"}, "a"},
		{journal.Query{Index: journal.ByChild}, "b/s#1"},
		{journal.Query{Index: journal.ByDue}, "a d"},
		{journal.Query{Index: journal.ByDue, Oldest: true}, "d a"},
		{journal.Query{Index: journal.ByStart, Oldest: true}, "c/s#1 a d c b b/s#1"},
	} {
		require.Equal(t, test.want, strings.Join(listed(t, s, test.q), " "), "%+v", test.q)
	}
	for h, err := range s.List(context.Background(), journal.Query{Index: journal.ByWait, Key: "person"}) {
		require.NoError(t, err)
		require.Equal(t, mustHeads(t, s, "")[0], h, "a list has whole heads")
	}
}

func testListGoesOn(t *testing.T, s journal.Store) {
	for i := range 20 {
		putHead(t, s, journal.Head{Run: fmt.Sprintf("run-%02d", i), Name: "w", Status: "completed", Started: int64(i / 3)})
	}
	for _, oldest := range []bool{false, true} {
		q := journal.Query{Index: journal.ByWorkflow, Key: "w", Oldest: oldest}
		all := listed(t, s, q)
		require.Len(t, all, 20)
		for i, run := range all {
			at := q
			for h := range s.List(context.Background(), at) {
				if h.Run == run {
					at.After = journal.PositionOf(q.Index, &h)
					break
				}
			}
			require.Equal(t, all[i+1:], listed(t, s, at), "after %s, %v", run, oldest)
			at.After.Run += "~" // of a missing run
			behind := listed(t, s, at)
			require.Equal(t, all[len(all)-len(behind):], behind)
		}
	}
}

func testListBounds(t *testing.T, s journal.Store) {
	for i := range 10 {
		putHead(t, s, journal.Head{Run: fmt.Sprint(i), Started: int64(i), Status: "completed"})
	}
	for from := range int64(11) {
		for before := range int64(11) {
			for _, oldest := range []bool{false, true} {
				want := []string{}
				for i := range int64(10) {
					if (from == 0 || i >= from) && (before == 0 || i < before) {
						want = append(want, fmt.Sprint(i))
					}
				}
				if !oldest {
					slices.Reverse(want)
				}
				require.Equal(t, want, listed(t, s, journal.Query{Index: journal.ByStart, From: from, Before: before, Oldest: oldest}))
			}
		}
	}
}

func testListMoves(t *testing.T, s journal.Store) {
	at := func(i journal.Index, key string) []string { return listed(t, s, journal.Query{Index: i, Key: key}) }
	mustAppend(t, s, "r", 0, batch(1, ""), journal.Head{Run: "r", Name: "w", Status: "running", Started: 1, Open: true})
	mustAppend(t, s, "r", 1, batch(1, ""), journal.Head{})
	require.Equal(t, []string{"r"}, at(journal.ByStatus, "running"))
	require.Empty(t, at(journal.ByWait, "worker"))
	mustAppend(t, s, "r", 2, nil, journal.Head{Run: "r", Name: "w", Status: "running", Started: 1, Open: true, Waits: []journal.Wait{{Kind: "worker", Name: "bill", Step: "a"}}})
	require.Equal(t, []string{"r"}, at(journal.ByStatus, "running"))
	require.Equal(t, []string{"r"}, at(journal.ByWait, "worker"))
	require.Empty(t, at(journal.ByDue, ""), "it goes on at every start")
	mustAppend(t, s, "r", 2, nil, journal.Head{Run: "r", Name: "w", Status: "waiting", Started: 1, Open: true, Due: 9, Waits: []journal.Wait{{Kind: "timer"}}})
	require.Empty(t, at(journal.ByStatus, "running"))
	require.Equal(t, []string{"r"}, at(journal.ByStatus, "waiting"))
	require.Equal(t, []string{"r"}, at(journal.ByDue, ""))
	require.Equal(t, []string{"r"}, at(journal.ByWait, "timer"))
	require.Empty(t, at(journal.ByWait, "worker"))
	mustAppend(t, s, "r", 2, batch(1, ""), journal.Head{Run: "r", Name: "v", Status: "completed", Started: 1})
	require.Empty(t, at(journal.ByStatus, "waiting"))
	require.Empty(t, at(journal.ByDue, ""))
	require.Empty(t, at(journal.ByWait, "timer"))
	require.Empty(t, at(journal.ByWorkflow, "w"))
	require.Equal(t, []string{"r"}, at(journal.ByWorkflow, "v"))
	for h := range s.List(context.Background(), journal.Query{Index: journal.ByStart}) {
		require.EqualValues(t, 3, h.Last)
	}
}

func testListLabels(t *testing.T, s journal.Store) {
	pairs := [][2]string{{"a", ""}, {"a", "\x00"}, {"a\x00", ""}, {"", "a"}, {"ab", "c"}, {"a", "bc"}, {"a", strings.Repeat("x", 1024)}, {"ü", "é"}}
	for i, p := range pairs {
		putHead(t, s, journal.Head{Run: fmt.Sprint(i), Started: 1, Labels: map[string]string{p[0]: p[1]}})
	}
	for i, p := range pairs {
		require.Equal(t, []string{fmt.Sprint(i)}, listed(t, s, journal.Query{Index: journal.ByLabel, Key: p[0], Value: p[1]}))
	}
}

func testListRefuses(t *testing.T, s journal.Store) {
	for _, q := range []journal.Query{
		{}, {Index: "size"}, {Index: journal.ByStart, Key: "x"}, {Index: journal.ByDue, Key: "x"}, {Index: journal.ByStatus, Key: "x", Value: "y"},
	} {
		errs := errorsOf(s.List(context.Background(), q))
		require.Len(t, errs, 1, "%+v", q)
		require.ErrorIs(t, errs[0], journal.ErrInvalid)
	}
}

func testListOfRuns(t *testing.T, s journal.Store) {
	mustAppend(t, s, "#other", 0, batch(1, ""), journal.Head{})
	mustAppend(t, s, "def/x", 0, []journal.Event{{Type: journal.ContentStored, Value: "x"}}, journal.Head{})
	mustAppend(t, s, "headless", 0, batch(1, ""), journal.Head{})
	require.Empty(t, listed(t, s, journal.Query{Index: journal.ByStart}))
	require.Empty(t, listed(t, s, journal.Query{Index: journal.ByStatus, Key: "running"}))
	changed := changes(t, s, "")
	require.Equal(t, map[string]uint64{"headless": 1}, changed.last)
}

// log is the state of a reader of the change log.
type log struct {
	last   map[string]uint64
	places []journal.Place
}

func changes(t require.TestingT, s journal.Store, after journal.Place) log {
	l := log{last: map[string]uint64{}}
	for c, err := range s.Changes(context.Background(), after) {
		require.NoError(t, err)
		l.last[c.Run] = c.Last
		l.places = append(l.places, c.Place)
	}
	return l
}

func newest(t require.TestingT, s journal.Store) journal.Place {
	p, err := s.Newest(context.Background())
	require.NoError(t, err)
	return p
}

// testAwaitChange waits for changes of several kinds, each made before and after the begin of the wait.
func testAwaitChange(t *testing.T, s journal.Store) {
	changed := func(change func()) {
		place, returned := newest(t, s), make(chan error, 1)
		go func() { returned <- s.AwaitChange(context.Background(), place) }()
		change()
		require.NoError(t, <-returned)
		require.NotEqual(t, place, newest(t, s))
		require.NoError(t, s.AwaitChange(context.Background(), place), "there was a change since")
	}
	changed(func() { mustAppend(t, s, "run", 0, batch(1, ""), journal.Head{Run: "run", Status: "running"}) })
	changed(func() { mustAppend(t, s, "run", 1, batch(1, ""), journal.Head{Run: "run", Status: "completed"}) })
	changed(func() { require.NoError(t, s.Delete(context.Background(), "run", journal.Tombstone{})) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, s.AwaitChange(ctx, newest(t, s)), context.Canceled)
}

func testChanges(t *testing.T, s journal.Store) {
	require.Empty(t, changes(t, s, "").last)
	type state struct {
		place journal.Place
		last  map[string]uint64
	}
	last := map[string]uint64{}
	states := []state{{newest(t, s), maps.Clone(last)}}
	for i := range 60 {
		run := fmt.Sprint("run-", i%7)
		mustAppend(t, s, run, last[run], batch(1+i%3, ""), journal.Head{Run: run, Status: "completed"})
		last[run] += uint64(1 + i%3)
		if i == 50 {
			require.NoError(t, s.Delete(context.Background(), "run-1", journal.Tombstone{}))
			last["run-1"] = 0
			states = append(states, state{newest(t, s), maps.Clone(last)})
		}
		if i > 50 && (i+1)%7 == 1 {
			break // the id is not free
		}
		states = append(states, state{newest(t, s), maps.Clone(last)})
	}
	for _, from := range states {
		found := changes(t, s, from.place)
		want := map[string]uint64{}
		for run, seq := range last {
			if before, known := from.last[run]; !known || before != seq {
				want[run] = seq
			}
		}
		require.Equal(t, want, found.last, "after %q", from.place)
		for _, place := range found.places { // each is a place from which to continue
			rest := changes(t, s, place)
			for run, seq := range rest.last {
				require.Equal(t, want[run], seq)
			}
		}
		if n := len(found.places); n > 0 {
			require.Empty(t, changes(t, s, found.places[n-1]).last)
		}
	}
}

func testPublished(t *testing.T, s journal.Store) {
	ctx := context.Background()
	version := []journal.Event{{Type: journal.WorkflowPublished, At: 1, Detail: &journal.Detail{Start: &journal.Start{Name: "w", Workflow: "x"}}}}
	found := func(begun string) []string {
		names := []string{}
		for name, err := range s.Published(ctx, begun) {
			require.NoError(t, err)
			names = append(names, name)
		}
		return names
	}
	require.Empty(t, found(""))
	for range s.Tail(gone(), journal.NameStream("unpublished"), 1) { // a reader creates no name
	}
	want := []string{"a/b", "order", "orders", "örder", "\U0010ffff", "\U0010ffff!"}
	for i := range 1100 { // more than a store reads at once
		want = append(want, fmt.Sprintf("many-%04d", i))
	}
	for _, name := range want {
		mustAppend(t, s, journal.NameStream(name), 0, version, journal.Head{})
	}
	mustAppend(t, s, journal.NameStream("order"), 1, version, journal.Head{}) // a second version
	mustAppend(t, s, journal.HeldStream(), 0, batch(1, ""), journal.Head{})
	putHead(t, s, journal.Head{Run: "order-1", Name: "order"})
	slices.Sort(want)
	require.Equal(t, want, found(""))
	require.Equal(t, []string{"order", "orders"}, found("order"))
	require.Equal(t, []string{"orders"}, found("orders"))
	require.Equal(t, []string{"\U0010ffff", "\U0010ffff!"}, found("\U0010ffff"))
	require.Equal(t, want[len(want)-2:], found("\xf4"), "a part of a character")
	require.Empty(t, found("order-"))
	require.Empty(t, found("\xff"))
	n := 0
	for range s.Published(ctx, "") {
		if n++; n == 3 {
			break
		}
	}
	require.Equal(t, 3, n)
}

// gone returns a context that has ended.
func gone() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func testChangesGap(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(1, ""), journal.Head{})
	for _, place := range []journal.Place{"x", "-1", "99999999", "99999999999999999999999"} {
		errs := errorsOf(s.Changes(context.Background(), place))
		require.Len(t, errs, 1, place)
		require.ErrorIs(t, errs[0], journal.ErrGap)
	}
}

func testDelete(t *testing.T, s journal.Store) {
	ctx := context.Background()
	for _, run := range []string{"a", "ab", "a/b"} {
		mustAppend(t, s, run, 0, batch(3, run), journal.Head{Run: run, Status: "completed", Started: 1, Labels: map[string]string{"k": "v"}})
	}
	tail := s.Tail(ctx, "a", 3)
	ended := make(chan error)
	go func() {
		for _, err := range tail {
			if err != nil {
				ended <- err
			}
		}
	}()
	require.NoError(t, s.Delete(ctx, "a", journal.Tombstone{}))
	require.ErrorIs(t, <-ended, journal.ErrDeleted, "a tail ends")
	_, err := read(s, "a", 1)
	require.ErrorIs(t, err, journal.ErrDeleted)
	for _, after := range []uint64{0, 3} {
		_, err = s.Append(ctx, "a", after, batch(1, ""), journal.Head{Run: "a"})
		require.ErrorIs(t, err, journal.ErrDeleted)
	}
	require.ErrorIs(t, s.Delete(ctx, "a", journal.Tombstone{}), journal.ErrDeleted)
	require.Len(t, mustHeads(t, s, ""), 2)
	for _, q := range []journal.Query{{Index: journal.ByStart}, {Index: journal.ByLabel, Key: "k", Value: "v"}, {Index: journal.ByStatus, Key: "completed"}} {
		require.Equal(t, []string{"a/b", "ab"}, listed(t, s, q))
	}
	require.Len(t, mustRead(t, s, "ab", 1), 3, "others stay")
	require.Len(t, mustRead(t, s, "a/b", 1), 3)
	if c, ok := s.(journal.ContentStore); ok {
		_, err = c.Head(ctx, "a")
		require.ErrorIs(t, err, journal.ErrNotFound)
		require.ErrorIs(t, c.PutContent(ctx, "a", [][]byte{{1}}), journal.ErrNotFound)
	}
}

func testDeleteRefuses(t *testing.T, s journal.Store) {
	ctx := context.Background()
	mustAppend(t, s, "open", 0, batch(1, ""), journal.Head{Run: "open", Open: true})
	mustAppend(t, s, "def/x", 0, []journal.Event{{Type: journal.ContentStored, Value: "x"}}, journal.Head{})
	require.ErrorIs(t, s.Delete(ctx, "open", journal.Tombstone{}), journal.ErrInvalid)
	require.ErrorIs(t, s.Delete(ctx, "def/x", journal.Tombstone{}), journal.ErrInvalid)
	require.ErrorIs(t, s.Delete(ctx, "nobody", journal.Tombstone{}), journal.ErrNotFound)
	require.Len(t, mustRead(t, s, "open", 1), 1)
	require.Len(t, mustRead(t, s, "def/x", 1), 1)
}

func testRebuild(t *testing.T, s journal.Store) {
	ctx := context.Background()
	for i := range 30 {
		putHead(t, s, journal.Head{Run: fmt.Sprint(i), Name: "w", Status: []string{"completed", "waiting"}[i%2], Started: int64(i), Open: i%2 == 1, Due: int64(i)})
	}
	require.NoError(t, s.Delete(ctx, "4", journal.Tombstone{}))
	before := listed(t, s, journal.Query{Index: journal.ByStatus, Key: "waiting"})
	require.NoError(t, s.Rebuild(ctx))
	require.Equal(t, before, listed(t, s, journal.Query{Index: journal.ByStatus, Key: "waiting"}))
	require.Len(t, listed(t, s, journal.Query{Index: journal.ByStart}), 29)
	mustAppend(t, s, "1", 1, nil, journal.Head{Run: "1", Name: "w", Status: "failed", Started: 1})
	require.Len(t, listed(t, s, journal.Query{Index: journal.ByStatus, Key: "waiting"}), 14)
	require.Len(t, listed(t, s, journal.Query{Index: journal.ByDue}), 14)
	errs := errorsOf(s.Changes(ctx, "1"))
	require.Len(t, errs, 1, "what has changed before is forgotten")
	require.ErrorIs(t, errs[0], journal.ErrGap)
}

func testListEnds(t *testing.T, s journal.Store) {
	putHead(t, s, journal.Head{Run: "run", Started: 1})
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	check := func(ctx context.Context, want error) {
		for name, errs := range map[string][]error{
			"list":    errorsOf(s.List(ctx, journal.Query{Index: journal.ByStart})),
			"changes": errorsOf(s.Changes(ctx, "")),
			"names":   errorsOf(s.Published(ctx, "")),
		} {
			require.Len(t, errs, 1, name)
			require.ErrorIs(t, errs[0], want, name)
		}
		_, err := s.Newest(ctx)
		require.ErrorIs(t, err, want)
		require.ErrorIs(t, s.Delete(ctx, "run", journal.Tombstone{}), want)
		require.ErrorIs(t, s.Rebuild(ctx), want)
	}
	check(gone, context.Canceled)
	require.Equal(t, []string{"run"}, listed(t, s, journal.Query{Index: journal.ByStart}))
	for range s.List(context.Background(), journal.Query{Index: journal.ByStart}) {
		break // a reader may stop
	}
	require.NoError(t, s.Close())
	check(context.Background(), journal.ErrClosed)
}

// testListModel compares lists with naive lists, while heads change and runs are deleted.
func testListModel(t *testing.T, s journal.Store) {
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		workflow := fmt.Sprint("round ", round)
		last, heads, gone := map[string]uint64{}, map[string]journal.Head{}, map[string]bool{}
		ids := rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf("%06d%s", round, rapid.SampledFrom([]string{"a", "ab", "b", "c/x#1", "c", "d", "é"}).Draw(t, "id"))
		})
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				run := ids.Draw(t, "run")
				h := journal.Head{
					Run: run, Name: workflow, Status: rapid.SampledFrom([]string{"running", "waiting", "failed"}).Draw(t, "status"),
					Started: rapid.Int64Range(1, 4).Draw(t, "started"), Due: rapid.Int64Range(0, 3).Draw(t, "due"), Open: rapid.Bool().Draw(t, "open"),
					Labels: rapid.MapOfN(rapid.SampledFrom([]string{"k", "l"}), rapid.SampledFrom([]string{"", "v"}), 0, 2).Draw(t, "labels"),
				}
				for range rapid.IntRange(0, 2).Draw(t, "waits") {
					h.Waits = append(h.Waits, journal.Wait{Kind: rapid.SampledFrom([]string{"timer", "person", "worker"}).Draw(t, "kind")})
				}
				if len(h.Labels) == 0 {
					h.Labels = nil
				}
				n := rapid.IntRange(1, 3).Draw(t, "events")
				_, err := s.Append(context.Background(), run, last[run], batch(n, ""), h)
				if gone[run] {
					require.ErrorIs(t, err, journal.ErrDeleted)
					return
				}
				require.NoError(t, err)
				last[run] += uint64(n)
				h.Last = last[run]
				heads[run] = h
			},
			"delete": func(t *rapid.T) {
				run := ids.Draw(t, "run")
				h, known := heads[run]
				err := s.Delete(context.Background(), run, journal.Tombstone{})
				switch {
				case gone[run]:
					require.ErrorIs(t, err, journal.ErrDeleted)
				case !known:
					require.ErrorIs(t, err, journal.ErrNotFound)
				case h.Open:
					require.ErrorIs(t, err, journal.ErrInvalid)
				default:
					require.NoError(t, err)
					delete(heads, run)
					gone[run] = true
				}
			},
			"list": func(t *rapid.T) {
				q := journal.Query{
					Oldest: rapid.Bool().Draw(t, "oldest"), From: rapid.Int64Range(0, 3).Draw(t, "from"), Before: rapid.Int64Range(0, 5).Draw(t, "before"),
					Index: rapid.SampledFrom([]journal.Index{journal.ByStart, journal.ByRun, journal.ByWorkflow, journal.ByStatus, journal.ByLabel, journal.ByWait, journal.ByChild, journal.ByDue}).Draw(t, "index"),
				}
				switch q.Index {
				case journal.ByRun:
					q.Key = ids.Draw(t, "run")
				case journal.ByWorkflow:
					q.Key = workflow
				case journal.ByStatus:
					q.Key = rapid.SampledFrom([]string{"running", "waiting", "failed"}).Draw(t, "key")
				case journal.ByLabel:
					q.Key, q.Value = rapid.SampledFrom([]string{"k", "l"}).Draw(t, "key"), rapid.SampledFrom([]string{"", "v"}).Draw(t, "value")
				case journal.ByWait:
					q.Key = rapid.SampledFrom([]string{"timer", "person", "worker"}).Draw(t, "key")
				}
				if rapid.Bool().Draw(t, "goes on") {
					q.After = journal.Position{At: rapid.Int64Range(0, 4).Draw(t, "at"), Run: ids.Draw(t, "behind")}
				}
				got := []journal.Head{}
				for h, err := range s.List(context.Background(), q) {
					require.NoError(t, err)
					if strings.HasPrefix(h.Run, fmt.Sprintf("%06d", round)) {
						got = append(got, h)
					}
				}
				require.Equal(t, naive(heads, q), got)
			},
		})
	})
}

// naive is a list without an index. It shares nothing with Query.Selects.
func naive(heads map[string]journal.Head, q journal.Query) []journal.Head {
	list := []journal.Head{}
	at := func(h journal.Head) int64 {
		if q.Index == journal.ByDue {
			return h.Due
		}
		return h.Started
	}
	order := func(a, b journal.Head) int {
		c := cmp.Or(cmp.Compare(at(b), at(a)), strings.Compare(a.Run, b.Run))
		if q.Oldest {
			return -c
		}
		return c
	}
	for _, h := range heads {
		in := map[journal.Index]bool{
			journal.ByStart: true, journal.ByRun: h.Run == q.Key, journal.ByWorkflow: h.Name == q.Key, journal.ByStatus: h.Status == q.Key,
			journal.ByChild: h.Open && strings.Contains(h.Run, "/"),
			journal.ByDue:   h.Open && h.Due > 0 && h.Status == "waiting",
		}[q.Index]
		if text, has := h.Labels[q.Key]; q.Index == journal.ByLabel {
			in = has && text == q.Value
		}
		for _, w := range h.Waits {
			in = in || q.Index == journal.ByWait && h.Open && w.Kind == q.Key
		}
		if q.From > 0 && at(h) < q.From || q.Before > 0 && at(h) >= q.Before {
			in = false
		}
		marker := journal.Head{Run: q.After.Run, Started: q.After.At, Due: q.After.At}
		if q.After.Run != "" && order(h, marker) <= 0 {
			in = false
		}
		if in {
			list = append(list, h)
		}
	}
	slices.SortFunc(list, order)
	return list
}
