package journal_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// narrow is a store that accepts a limited number of events at once, and fails at one.
type narrow struct {
	journal.Store
	most  int
	bad   any
	sizes []int
	heads []string
}

var errBad = errors.New("bad")

func (s *narrow) Append(_ context.Context, _ string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if len(events) > s.most {
		return 0, journal.ErrTooLarge
	}
	for _, e := range events {
		if s.bad != nil && e.Value == s.bad {
			return 0, errBad
		}
	}
	s.sizes, s.heads = append(s.sizes, len(events)), append(s.heads, head.Status)
	return after + uint64(len(events)), nil
}

func TestAppendPartsHalvesWhatIsTooLarge(t *testing.T) {
	events := make([]journal.Event, 7)
	for i := range events {
		events[i].Value = i
	}
	appended := func(s *narrow) (uint64, error) {
		return journal.AppendParts(t.Context(), s, "run", 3, events, journal.Head{Status: "completed"}, journal.Head{Status: "running"})
	}
	s := &narrow{most: 2}
	last, err := appended(s)
	require.NoError(t, err)
	require.Equal(t, uint64(10), last)
	require.Equal(t, []int{1, 2, 2, 2}, s.sizes)
	require.Equal(t, []string{"running", "running", "running", "completed"}, s.heads)

	_, err = appended(&narrow{most: 2, bad: 0})
	require.ErrorIs(t, err, errBad)
	require.NotErrorIs(t, err, journal.ErrPartly, "nothing is stored")
	_, err = appended(&narrow{most: 2, bad: 6})
	require.ErrorIs(t, err, errBad)
	require.ErrorIs(t, err, journal.ErrPartly)
	_, err = appended(&narrow{most: 0})
	require.ErrorIs(t, err, journal.ErrTooLarge, "one event is not halved")

	rerun := journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{From: &journal.From{Run: "old"}}}}
	whole := &narrow{most: 2}
	_, err = journal.AppendParts(t.Context(), whole, "run", 0, append([]journal.Event{rerun}, events...), journal.Head{}, journal.Head{})
	require.ErrorIs(t, err, journal.ErrTooLarge, "the start of a rerun is not divided")
	require.Empty(t, whole.sizes)
}
