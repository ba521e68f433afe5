package journaltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// TestStore tests the contract of journal.Store. open returns an empty store, which TestStore closes.
func TestStore(t *testing.T, open func(t *testing.T) journal.Store) {
	tests := []struct {
		name string
		test func(t *testing.T, s journal.Store)
	}{
		{"an unknown stream yields nothing", testUnknownStream},
		{"append numbers events from 1 and read starts anywhere", testNumbers},
		{"an append elsewhere than at the end is a conflict and changes nothing", testConflict},
		{"every field of an event comes back", testFields},
		{"large values come back", testLargeValues},
		{"append keeps no reference to the events", testNoReference},
		{"an append that no store takes is refused", testInvalid},
		{"a cancelled append writes nothing", testCancelled},
		{"heads are listed in order of id", testHeads},
		{"a zero head leaves the head", testZeroHead},
		{"an append without events replaces the head", testHeadOnly},
		{"content is stored once", testContent},
		{"read yields what is there when it starts", testReadIsBounded},
		{"tail yields what is there and what comes", testTail},
		{"tail ends with its context", testTailEnds},
		{"many tails miss nothing", testTailsMissNothing},
		{"one of many writers wins each sequence", testWritersRace},
		{"writers of different streams do not meet", testWritersApart},
		{"a closed store refuses", testClosed},
		{"close ends a tail", testCloseEndsTail},
		{"it does what a map of slices does", testModel},
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

// batch makes n events with different values.
func batch(n int, tag string) []journal.Event {
	events := make([]journal.Event, n)
	for i := range events {
		events[i] = journal.Event{
			Type: journal.CallRequested, At: int64(1_000_000 + i), Node: fmt.Sprintf("step%d", i%3), Attempt: 1,
			Value: fmt.Sprintf("%s/%d", tag, i),
		}
	}
	return events
}

// numbered returns events with the sequences that a store sets.
func numbered(after uint64, events []journal.Event) []journal.Event {
	events = slices.Clone(events)
	for i := range events {
		events[i].Seq = after + uint64(i) + 1
	}
	return events
}

func mustAppend(t require.TestingT, s journal.Store, stream string, after uint64, events []journal.Event, head journal.Head) {
	last, err := s.Append(context.Background(), stream, after, events, head)
	require.NoError(t, err)
	require.Equal(t, after+uint64(len(events)), last)
}

// read collects the events of a stream, up to an error if there is one.
func read(s journal.Store, stream string, from uint64) ([]journal.Event, error) {
	events := []journal.Event{}
	for e, err := range s.Read(context.Background(), stream, from) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

func mustRead(t require.TestingT, s journal.Store, stream string, from uint64) []journal.Event {
	events, err := read(s, stream, from)
	require.NoError(t, err)
	return events
}

func heads(s journal.Store, after string) ([]journal.Head, error) {
	list := []journal.Head{}
	for h, err := range s.Heads(context.Background(), after) {
		if err != nil {
			return list, err
		}
		list = append(list, h)
	}
	return list, nil
}

func mustHeads(t require.TestingT, s journal.Store, after string) []journal.Head {
	list, err := heads(s, after)
	require.NoError(t, err)
	return list
}

func testUnknownStream(t *testing.T, s journal.Store) {
	require.Empty(t, mustRead(t, s, "nobody", 1))
	require.Empty(t, mustRead(t, s, "nobody", 0))
	require.Empty(t, mustHeads(t, s, ""))
	mustAppend(t, s, "somebody", 0, batch(1, "a"), journal.Head{})
	require.Empty(t, mustRead(t, s, "some", 1), "a prefix of a name is another stream")
	require.Empty(t, mustRead(t, s, "somebody2", 1))
}

func testNumbers(t *testing.T, s journal.Store) {
	want := []journal.Event{}
	for i, n := range []int{1, 1, 2, 3, 7, 24, 100, 1, 1024, 2048, 5} {
		after := uint64(len(want))
		events := batch(n, fmt.Sprint("batch", i))
		mustAppend(t, s, "run", after, events, journal.Head{})
		want = append(want, numbered(after, events)...)
	}
	require.Equal(t, want, mustRead(t, s, "run", 0), "0 reads like 1")
	for _, from := range []int{1, 2, 3, 4, 8, 9, 38, 39, 138, 139, 140, 1163, 1164, 3000, len(want), len(want) + 1, len(want) + 100} {
		expected := want[min(from-1, len(want)):]
		require.Equal(t, expected, mustRead(t, s, "run", uint64(from)), "from %d", from)
	}
}

func testConflict(t *testing.T, s journal.Store) {
	ctx := context.Background()
	head := journal.Head{Run: "run", Status: "first"}
	mustAppend(t, s, "run", 0, batch(3, "a"), head)
	before := mustRead(t, s, "run", 1)
	for _, after := range []uint64{0, 1, 2, 4, 1 << 40} {
		_, err := s.Append(ctx, "run", after, batch(1, "b"), journal.Head{Run: "run", Status: "second"})
		require.ErrorIs(t, err, journal.ErrConflict, "after %d", after)
	}
	_, err := s.Append(ctx, "other", 1, batch(1, "b"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrConflict, "an empty stream is at 0")
	require.Equal(t, before, mustRead(t, s, "run", 1))
	require.Empty(t, mustRead(t, s, "other", 1))
	require.Equal(t, "first", mustHeads(t, s, "")[0].Status)
}

func testFields(t *testing.T, s journal.Store) {
	events := []journal.Event{
		{
			Type: journal.RunStarted, At: 1, Value: map[string]any{"orders": []any{int64(1), 2.5, nil, true, "x"}},
			Detail: &journal.Detail{Start: &journal.Start{
				Run: "run", Workflow: "cafe", Name: "n", Version: "1", FailurePolicy: "p", MaxConcurrency: 2, Engine: 1,
				Expressions: 1, Functions: []string{"f"}, Parent: "p/a#1", Labels: map[string]string{"k": "v"}, Actor: "ann",
				From: &journal.From{Run: "old", Seq: 9, Kept: 1},
			}},
		},
		{
			Type: journal.ResultKept, Node: "a", Attempt: 2, Value: "v", Detail: &journal.Detail{
				About: []any{"report"},
				Kept:  &journal.Kept{Run: "old", Seq: 8, Status: "completed", Fulfillment: "fulfilled", Input: []byte{1, 2}, If: true},
			},
		},
		{
			Type: journal.CallError, At: -5, Node: "a/b", Attempt: 2, Detail: &journal.Detail{
				Failure:     &journal.Failure{Code: "timeout", Message: "m", Details: []any{}, Retryable: true},
				Participant: "p", Participants: []string{"p", "q"}, Timer: "retry", State: "s", Name: "n", Actor: "a",
				Reason: "r", Key: "k", Received: 1, Due: 2, RetryAt: 3, Count: 4,
			},
		},
		{Type: journal.BranchDecided, Value: false},
		{Type: journal.CallError, Detail: &journal.Detail{Failure: &journal.Failure{}}},
	}
	mustAppend(t, s, "run", 0, events, journal.Head{})
	require.Equal(t, numbered(0, events), mustRead(t, s, "run", 1))
}

func testLargeValues(t *testing.T, s journal.Store) {
	large := strings.Repeat("large ", 20_000)
	huge := []any{strings.Repeat("huge", 300_000), int64(1)}
	want := []journal.Event{}
	for _, values := range [][]any{{large, "small", large}, {huge}, {large, strings.Repeat("x", 32<<10), nil}} {
		events := batch(len(values), "")
		for i := range events {
			events[i].Value = values[i]
		}
		after := uint64(len(want))
		mustAppend(t, s, "run", after, events, journal.Head{})
		want = append(want, numbered(after, events)...)
	}
	require.Equal(t, want, mustRead(t, s, "run", 1))
	require.Equal(t, want[3:], mustRead(t, s, "run", 4))
	require.Empty(t, mustHeads(t, s, ""), "where large values are kept is not listed")
}

func testNoReference(t *testing.T, s journal.Store) {
	events := batch(10, "a")
	want := numbered(0, events)
	mustAppend(t, s, "run", 0, events, journal.Head{})
	require.Zero(t, events[3].Seq, "append does not write to the caller's events")
	clear(events)
	require.Equal(t, want, mustRead(t, s, "run", 1))
}

func testInvalid(t *testing.T, s journal.Store) {
	content := []journal.Event{{Type: journal.ContentStored, Value: "x"}}
	tests := map[string]struct {
		stream string
		events []journal.Event
		head   journal.Head
	}{
		"no name":                    {"", batch(1, ""), journal.Head{}},
		"a zero byte in a name":      {"a\x00b", batch(1, ""), journal.Head{}},
		"a name that is no text":     {"a\xff", batch(1, ""), journal.Head{}},
		"a long name":                {strings.Repeat("n", journal.StreamNameMax+1), batch(1, ""), journal.Head{}},
		"no type":                    {"run", []journal.Event{{}}, journal.Head{}},
		"an unknown type":            {"run", []journal.Event{{Type: 200}}, journal.Head{}},
		"content in a run":           {"run", content, journal.Head{}},
		"another run's head":         {"run", batch(1, ""), journal.Head{Run: "walk"}},
		"a head of no run":           {"run", batch(1, ""), journal.Head{Status: "running"}},
		"steps in a content stream":  {"def/1", batch(1, ""), journal.Head{}},
		"two contents":               {"def/1", append(content, content...), journal.Head{}},
		"a head of a content stream": {"def/1", content, journal.Head{Run: "def/1"}},
		"a name in a run":            {"run", []journal.Event{{Type: journal.WorkflowPublished}}, journal.Head{}},
		"steps of a name":            {"#wf/order", batch(1, ""), journal.Head{}},
		"a head of a name":           {"#wf/order", []journal.Event{{Type: journal.WorkflowPublished}}, journal.Head{Run: "#wf/order"}},
		"an act in a run":            {"run", []journal.Event{{Type: journal.BulkRecorded}}, journal.Head{}},
		"steps of an act":            {"#bulk/1", batch(1, ""), journal.Head{}},
		"steps of all acts":          {"#bulk", batch(1, ""), journal.Head{}},
		"a blob of another hash":     {"blob/" + strings.Repeat("0", 64), content, journal.Head{}},
	}
	for name, test := range tests {
		_, err := s.Append(context.Background(), test.stream, 0, test.events, test.head)
		require.ErrorIs(t, err, journal.ErrInvalid, name)
		require.Empty(t, mustRead(t, s, test.stream, 1), name)
	}
	require.Empty(t, mustHeads(t, s, ""))
	longest := strings.Repeat("n", journal.StreamNameMax)
	mustAppend(t, s, longest, 0, batch(2, "a"), journal.Head{Run: longest})
	require.Len(t, mustRead(t, s, longest, 1), 2)
}

func testCancelled(t *testing.T, s journal.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := s.Append(ctx, "run", 0, batch(1, "a"), journal.Head{Run: "run"})
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, mustRead(t, s, "run", 1))
	require.Empty(t, mustHeads(t, s, ""))
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	for name, errs := range map[string][]error{
		"read":  errorsOf(s.Read(ctx, "run", 1)),
		"heads": errorsOf(s.Heads(ctx, "")),
	} {
		require.Len(t, errs, 1, name)
		require.ErrorIs(t, errs[0], context.Canceled, name)
	}
}

// errorsOf collects the errors of an iteration.
func errorsOf[T any](seq func(yield func(T, error) bool)) (errs []error) {
	for _, err := range seq {
		if err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

func testHeads(t *testing.T, s journal.Store) {
	names := []string{"b", "a", "run-10", "run-1", "Z", "run-2", "é"}
	want := []journal.Head{}
	for i, name := range names {
		h := journal.Head{
			Run: name, Workflow: "cafe", Name: "order", Status: "running", Started: 1, Updated: int64(i), Due: 7, Open: i%2 == 0,
			Labels: map[string]string{"i": fmt.Sprint(i)},
		}
		mustAppend(t, s, name, 0, batch(i+1, "a"), h)
		h.Last = uint64(i + 1)
		want = append(want, h)
	}
	mustAppend(t, s, "headless", 0, batch(1, "a"), journal.Head{})
	mustAppend(t, s, "def/x", 0, []journal.Event{{Type: journal.ContentStored, Value: "x"}}, journal.Head{})
	slices.SortFunc(want, func(a, b journal.Head) int { return strings.Compare(a.Run, b.Run) })
	require.Equal(t, want, mustHeads(t, s, ""))
	for i, h := range want {
		require.Equal(t, want[i+1:], mustHeads(t, s, h.Run))
	}
	require.Equal(t, want[3:], mustHeads(t, s, "run"))

	mustAppend(t, s, "a", want[1].Last, batch(2, "b"), journal.Head{Run: "a", Status: "completed"})
	want[1] = journal.Head{Run: "a", Status: "completed", Last: want[1].Last + 2}
	require.Equal(t, want, mustHeads(t, s, ""), "a head is replaced whole")
	for h := range s.Heads(context.Background(), "") {
		require.Equal(t, want[0], h, "a reader may stop")
		break
	}
}

func testZeroHead(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	require.Empty(t, mustHeads(t, s, ""))
	mustAppend(t, s, "run", 1, batch(1, "a"), journal.Head{Run: "run", Status: "running"})
	mustAppend(t, s, "run", 2, batch(3, "a"), journal.Head{})
	require.Equal(t, []journal.Head{{Run: "run", Status: "running", Last: 5}}, mustHeads(t, s, ""))
}

func testHeadOnly(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(2, "a"), journal.Head{Run: "run", Status: "running"})
	mustAppend(t, s, "run", 2, nil, journal.Head{Run: "run", Status: "paused"})
	_, err := s.Append(context.Background(), "run", 1, nil, journal.Head{Run: "run", Status: "late"})
	require.ErrorIs(t, err, journal.ErrConflict)
	require.Equal(t, []journal.Head{{Run: "run", Status: "paused", Last: 2}}, mustHeads(t, s, ""))
	require.Len(t, mustRead(t, s, "run", 1), 2)
}

func testContent(t *testing.T, s journal.Store) {
	document := map[string]any{"kind": "Workflow", "steps": []any{"a"}}
	hash, _, err := journal.HashOf(document)
	require.NoError(t, err)
	content := []journal.Event{{Type: journal.ContentStored, At: 1, Value: document}}
	for _, stream := range []string{hash.Stream(), journal.DefinitionStream("cafe")} {
		mustAppend(t, s, stream, 0, content, journal.Head{})
		_, err = s.Append(context.Background(), stream, 0, content, journal.Head{})
		require.ErrorIs(t, err, journal.ErrConflict, "already there")
		_, err = s.Append(context.Background(), stream, 1, content, journal.Head{})
		require.Error(t, err, "content does not grow")
		require.Equal(t, numbered(0, content), mustRead(t, s, stream, 1))
		require.Empty(t, mustRead(t, s, stream, 2))
	}
	require.Empty(t, mustHeads(t, s, ""))
}

func testReadIsBounded(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(2000, "a"), journal.Head{})
	last := uint64(2000)
	n := 0
	for e, err := range s.Read(context.Background(), "run", 1) {
		require.NoError(t, err)
		n++
		require.Equal(t, uint64(n), e.Seq)
		if n%100 == 0 {
			mustAppend(t, s, "run", last, batch(10, "b"), journal.Head{})
			last += 10
		}
	}
	require.Equal(t, 2000, n)
	for range s.Read(context.Background(), "run", 1) {
		break // a reader may stop early
	}
	require.Len(t, mustRead(t, s, "run", 2001), 200)
}

func testClosed(t *testing.T, s journal.Store) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{Run: "run"})
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "closing twice is harmless")
	ctx := context.Background()
	_, err := s.Append(ctx, "run", 1, batch(1, "b"), journal.Head{})
	require.ErrorIs(t, err, journal.ErrClosed)
	for name, errs := range map[string][]error{
		"read":  errorsOf(s.Read(ctx, "run", 1)),
		"tail":  errorsOf(s.Tail(ctx, "run", 1)),
		"heads": errorsOf(s.Heads(ctx, "")),
	} {
		require.Len(t, errs, 1, name)
		require.ErrorIs(t, errs[0], journal.ErrClosed, name)
	}
}
