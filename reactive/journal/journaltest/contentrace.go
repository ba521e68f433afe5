package journaltest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// testSweepRaces sweeps while blobs are put, as callers do: it notes the blobs before, and the first call of keep reads the
// notes. So the blobs must always be kept.
func testSweepRaces(t *testing.T, s journal.ContentStore) {
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{})
	put(t, s, "run", numbers(20)...)
	for round := range 300 {
		var noted atomic.Bool
		var wg sync.WaitGroup
		wg.Go(func() {
			noted.Store(true)
			put(t, s, "run", "raced", "number 3")
		})
		wg.Go(func() {
			marked, seen := false, false
			err := s.SweepContent(context.Background(), "run", func(h journal.Hash) bool {
				if !marked {
					marked, seen = true, noted.Load()
				}
				return h == hash("number 4") || seen && (h == hash("raced") || h == hash("number 3"))
			})
			if err != nil {
				t.Error(err)
			}
		})
		wg.Wait()
		requireContent(t, s, "run", "raced")
		requireContent(t, s, "run", "number 3")
		sweep(t, s, "run", "number 4")
		requireNoContent(t, s, "run", "raced")
		requireContent(t, s, "run", "number 4")
		if t.Failed() {
			t.Fatal("in round ", round)
		}
	}
}

// testContentRaces runs all operations on one stream at the same time. In the end, the blobs of each writer that no sweep
// removes must exist.
func testContentRaces(t *testing.T, s journal.ContentStore) {
	const writers, rounds = 4, 60
	ctx := context.Background()
	mustAppend(t, s, "run", 0, batch(1, "a"), journal.Head{Run: "run"})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for i := range rounds {
				put(t, s, "run", fmt.Sprint("kept ", w, i), fmt.Sprint("swept ", i))
				requireContent(t, s, "run", fmt.Sprint("kept ", w, i))
			}
		})
	}
	kept := map[journal.Hash]bool{}
	for w := range writers {
		for i := range rounds {
			kept[hash(fmt.Sprint("kept ", w, i))] = true
		}
	}
	wg.Go(func() {
		for range rounds / 2 {
			if err := s.SweepContent(ctx, "run", func(h journal.Hash) bool { return kept[h] }); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Go(func() {
		for i := range uint64(rounds) {
			mustAppend(t, s, "run", 2*i+1, batch(2, "a"), journal.Head{Run: "run", Snapshot: 2*i + 3})
		}
	})
	wg.Go(func() {
		for range rounds {
			head, err := s.Head(ctx, "run")
			if err = errors.Join(err, s.Trim(ctx, "run", head.Snapshot)); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for w := range writers {
		for i := range rounds {
			requireContent(t, s, "run", fmt.Sprint("kept ", w, i))
		}
	}
	sweep(t, s, "run")
	requireNoContent(t, s, "run", "kept 00")
	require.NoError(t, s.Trim(ctx, "run", 2*rounds+1))
	require.Len(t, mustRead(t, s, "run", 2*rounds+1), 1)
}

func testContentEnds(t *testing.T, s journal.ContentStore) {
	mustAppend(t, s, "run", 0, batch(5, "a"), journal.Head{Run: "run", Snapshot: 5})
	put(t, s, "run", "a")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	refused := func(ctx context.Context, want error) {
		errs := map[string]error{
			"put":   s.PutContent(ctx, "run", [][]byte{[]byte("b")}),
			"sweep": s.SweepContent(ctx, "run", func(journal.Hash) bool { return false }),
			"trim":  s.Trim(ctx, "run", 4),
		}
		_, errs["content"] = s.Content(ctx, "run", hash("a"))
		_, errs["head"] = s.Head(ctx, "run")
		for name, err := range errs {
			require.ErrorIs(t, err, want, name)
		}
	}
	refused(ctx, context.Canceled)
	requireContent(t, s, "run", "a")
	requireNoContent(t, s, "run", "b")
	require.Len(t, mustRead(t, s, "run", 1), 5)
	require.NoError(t, s.Close())
	refused(context.Background(), journal.ErrClosed)
}

// contentModel is the content of one stream.
type contentModel struct {
	model
	content map[string]map[journal.Hash]string // by stream
	first   map[string]uint64
}

// testContentModel applies random changes to the store and to maps. All rounds share the store, each with its own names.
func testContentModel(t *testing.T, s journal.ContentStore) {
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		prefix := fmt.Sprintf("round%06d.", round)
		m := contentModel{
			model{map[string][]journal.Event{}, map[string]journal.Head{}}, map[string]map[journal.Hash]string{}, map[string]uint64{},
		}
		names := rapid.SampledFrom([]string{prefix + "a", prefix + "ab", prefix + "b"})
		texts := rapid.SampledFrom(numbers(12))
		action := func(act func(*rapid.T, journal.ContentStore, string, *rapid.Generator[string])) func(*rapid.T) {
			return func(t *rapid.T) { act(t, s, names.Draw(t, "stream"), texts) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"append": action(m.grow), "put": action(m.put), "get": action(m.get), "sweep": action(m.sweep), "trim": action(m.trim),
			"read": action(m.read),
		})
	})
}

func (m *contentModel) grow(t *rapid.T, s journal.ContentStore, stream string, _ *rapid.Generator[string]) {
	after := uint64(len(m.streams[stream]))
	events := batch(rapid.SampledFrom([]int{1, 2, 5, 40}).Draw(t, "events"), fmt.Sprint(after))
	var head journal.Head
	if rapid.Bool().Draw(t, "with head") {
		head = journal.Head{Run: stream, Snapshot: rapid.Uint64Range(0, after+uint64(len(events))).Draw(t, "snapshot")}
	}
	m.append(stream, after, events, head)
	mustAppend(t, s, stream, after, events, head)
}

func (m *contentModel) put(t *rapid.T, s journal.ContentStore, stream string, texts *rapid.Generator[string]) {
	drawn := rapid.SliceOfN(texts, 1, 4).Draw(t, "texts")
	if len(m.streams[stream]) == 0 {
		require.ErrorIs(t, s.PutContent(context.Background(), stream, [][]byte{{1}}), journal.ErrNotFound)
		return
	}
	put(t, s, stream, drawn...)
	if m.content[stream] == nil {
		m.content[stream] = map[journal.Hash]string{}
	}
	for _, text := range drawn {
		m.content[stream][sha256.Sum256([]byte(text))] = text
	}
}

func (m *contentModel) get(t *rapid.T, s journal.ContentStore, stream string, texts *rapid.Generator[string]) {
	text := texts.Draw(t, "text")
	if _, ok := m.content[stream][hash(text)]; ok {
		requireContent(t, s, stream, text)
	} else {
		requireNoContent(t, s, stream, text)
	}
}

func (m *contentModel) sweep(t *rapid.T, s journal.ContentStore, stream string, texts *rapid.Generator[string]) {
	if len(m.streams[stream]) == 0 {
		return
	}
	kept := map[journal.Hash]bool{}
	for _, text := range rapid.SliceOfN(texts, 0, 12).Draw(t, "kept") {
		kept[hash(text)] = true
	}
	var asked []journal.Hash
	require.NoError(t, s.SweepContent(context.Background(), stream, func(h journal.Hash) bool {
		asked = append(asked, h)
		return kept[h]
	}))
	require.ElementsMatch(t, slices.Collect(maps.Keys(m.content[stream])), asked)
	maps.DeleteFunc(m.content[stream], func(h journal.Hash, _ string) bool { return !kept[h] })
}

func (m *contentModel) trim(t *rapid.T, s journal.ContentStore, stream string, _ *rapid.Generator[string]) {
	head := m.heads[stream]
	before := rapid.Uint64Range(0, head.Snapshot+1).Draw(t, "before")
	err := s.Trim(context.Background(), stream, before)
	switch {
	case len(m.streams[stream]) == 0:
		require.ErrorIs(t, err, journal.ErrNotFound)
	case before > head.Snapshot:
		require.ErrorIs(t, err, journal.ErrInvalid)
	default:
		require.NoError(t, err)
		if before > 2 {
			m.first[stream] = max(m.first[stream], before)
		}
	}
}

func (m *contentModel) read(t *rapid.T, s journal.ContentStore, stream string, _ *rapid.Generator[string]) {
	from := rapid.IntRange(1, len(m.streams[stream])+2).Draw(t, "from")
	all, first := m.streams[stream], m.first[stream]
	want := append([]journal.Event{}, all[min(from-1, len(all)):]...)
	if uint64(from) >= first {
		require.Equal(t, want, mustRead(t, s, stream, uint64(from)))
	} else {
		events, err := read(s, stream, uint64(from))
		requireTrimmedError(t, err, first)
		require.Len(t, events, max(0, 2-from))
	}
	if want, ok := m.heads[stream]; ok {
		want.First = first
		got, err := s.Head(context.Background(), stream)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
