package journaltest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// model is a trivial store. A correct store must behave like it.
type model struct {
	streams map[string][]journal.Event
	heads   map[string]journal.Head
}

// append returns the right result of Store.Append: the new last sequence, or false for a conflict.
func (m *model) append(stream string, after uint64, events []journal.Event, head journal.Head) (uint64, bool) {
	last := uint64(len(m.streams[stream]))
	if last != after {
		return last, false
	}
	m.streams[stream] = append(m.streams[stream], numbered(after, events)...)
	if head.IsZero() {
		head = m.heads[stream]
	}
	if !head.IsZero() {
		head.Last = uint64(len(m.streams[stream]))
		m.heads[stream] = head
	}
	return uint64(len(m.streams[stream])), true
}

// after lists the heads of runs after a name, sorted.
func (m *model) after(name string) []journal.Head {
	list := []journal.Head{}
	for _, run := range slices.Sorted(maps.Keys(m.heads)) {
		if run > name {
			list = append(list, m.heads[run])
		}
	}
	return list
}

// testModel applies random appends and reads to the store and the model. All rounds share the store, each with its own
// names.
func testModel(t *testing.T, s journal.Store) {
	round := 0
	rapid.Check(t, func(t *rapid.T) {
		round++
		prefix := fmt.Sprintf("round%06d.", round)
		m := model{streams: map[string][]journal.Event{}, heads: map[string]journal.Head{}}
		names := rapid.SampledFrom([]string{prefix + "a", prefix + "ab", prefix + "b", prefix + "é"})
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) { appendBoth(t, s, &m, names.Draw(t, "stream")) },
			"read": func(t *rapid.T) {
				stream := names.Draw(t, "stream")
				from := rapid.IntRange(1, len(m.streams[stream])+2).Draw(t, "from")
				want := append([]journal.Event{}, m.streams[stream][min(from-1, len(m.streams[stream])):]...)
				require.Equal(t, want, mustRead(t, s, stream, uint64(from)))
			},
			"heads": func(t *rapid.T) {
				after := rapid.OneOf(rapid.Just(prefix), names).Draw(t, "after")
				got := mustHeads(t, s, after)
				got = slices.DeleteFunc(got, func(h journal.Head) bool { return !strings.HasPrefix(h.Run, prefix) })
				require.Equal(t, m.after(after), got)
			},
		})
	})
}

func appendBoth(t *rapid.T, s journal.Store, m *model, stream string) {
	after := uint64(len(m.streams[stream]))
	if rapid.IntRange(0, 9).Draw(t, "stale") == 0 {
		after += rapid.Uint64Range(0, 3).Draw(t, "off") - 1
	}
	events := batch(rapid.SampledFrom([]int{0, 1, 1, 2, 5, 40}).Draw(t, "events"), fmt.Sprint(after))
	var head journal.Head
	if rapid.Bool().Draw(t, "with head") {
		head = journal.Head{Run: stream, Status: rapid.StringN(0, 3, -1).Draw(t, "status"), Open: rapid.Bool().Draw(t, "open")}
	}
	want, ok := m.append(stream, after, events, head)
	got, err := s.Append(context.Background(), stream, after, events, head)
	if !ok {
		require.ErrorIs(t, err, journal.ErrConflict)
		return
	}
	require.NoError(t, err)
	require.Equal(t, want, got)
}
