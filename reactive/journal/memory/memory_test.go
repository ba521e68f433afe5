package memory_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func TestStore(t *testing.T) {
	journaltest.TestStore(t, func(*testing.T) journal.Store { return memory.New() })
}

func TestLists(t *testing.T) {
	journaltest.TestLists(t, func(*testing.T) journal.Store { return memory.New() })
}

func TestSweeps(t *testing.T) {
	journaltest.TestSweeps(t, func(*testing.T) journal.Store { return memory.New() })
}

func TestContent(t *testing.T) {
	journaltest.TestContent(t, func(*testing.T) journal.ContentStore { return memory.New() })
}

// TestEventCostsLittleMore counts the bytes that 200,000 events allocate: 72 each, and no copies to larger places.
func TestEventCostsLittleMore(t *testing.T) {
	const total, batch = 200_000, 2048
	s, events := memory.New(), make([]journal.Event, batch)
	for i := range events {
		events[i].Type = journal.CallRequested
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for last := uint64(0); last < total; {
		n := min(batch, total-last)
		next, err := s.Append(context.Background(), "run", last, events[:n], journal.Head{})
		require.NoError(t, err)
		last = next
	}
	runtime.ReadMemStats(&after)
	perEvent := float64(after.TotalAlloc-before.TotalAlloc) / total
	require.Less(t, perEvent, 74.0, "bytes allocated per event")
}

func ExampleStore() {
	ctx, s := context.Background(), memory.New()
	defer s.Close()
	started := []journal.Event{{Type: journal.RunStarted}, {Type: journal.CallRequested, Node: "split", Attempt: 1}}
	last, _ := s.Append(ctx, "run-1", 0, started, journal.Head{Run: "run-1", Status: "running", Open: true})
	_, err := s.Append(ctx, "run-1", 0, started, journal.Head{})
	fmt.Println(last, err)
	for e, err := range s.Read(ctx, "run-1", 1) {
		fmt.Println(e.Seq, e.Type, e.Node, err)
	}
	// Output:
	// 2 append to run-1 after 0: it is at 2: journal: the stream has moved on
	// 1 run.started  <nil>
	// 2 call.requested split <nil>
}

func BenchmarkAppend(b *testing.B) {
	for _, size := range []int{1, 10, 1000, 2048} {
		b.Run(fmt.Sprintf("batch=%d", size), func(b *testing.B) {
			b.ReportAllocs()
			events := make([]journal.Event, size)
			for i := range events {
				events[i] = journal.Event{Type: journal.CallRequested, Node: "a", Attempt: 1}
			}
			ctx, s, last := context.Background(), memory.New(), uint64(0)
			n := 0
			for b.Loop() {
				if n += size; n > 200_000 {
					s, last, n = memory.New(), 0, size
				}
				var err error
				if last, err = s.Append(ctx, "run", last, events, journal.Head{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size), "ns/event")
		})
	}
}

func BenchmarkRead(b *testing.B) {
	const total = 100_000
	ctx, s := context.Background(), memory.New()
	events := make([]journal.Event, total)
	for i := range events {
		events[i].Type = journal.CallRequested
	}
	_, err := s.Append(ctx, "run", 0, events, journal.Head{})
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for e := range s.Read(ctx, "run", 1) {
			n += int(e.Type)
		}
		if n != total*int(journal.CallRequested) {
			b.Fatal(n)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*total), "ns/event")
}
