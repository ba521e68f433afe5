package cells_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// In a trimmed world, a moment behind the older snapshot is read as from the whole journal; the state at an earlier moment is no longer
// known.
func TestATrimmedWorldIsReadAsItWas(t *testing.T) {
	store, k, gone, all, _ := trimmed(t)
	e, whole := engine(t, store, k, false), engine(t, untrimmed(t, all), k, false)
	defer shut(t, e)
	defer shut(t, whole)
	var snapshots []*journal.Event
	for i := range all {
		if all[i].Type == journal.WorldSnapshotted {
			snapshots = append(snapshots, &all[i])
		}
	}
	older := world.Upto(snapshots[len(snapshots)-2])
	require.LessOrEqual(t, gone.To, older)
	known := 0
	for i := range all {
		m := coordinator.Moment{Seq: all[i].Seq}
		got, err := found(t, e).At(m).State(t.Context())
		cell, cellErr := found(t, e).At(m).Cell(t.Context(), "account[k1]")
		_, whyErr := found(t, e).At(m).Explain(t.Context(), "account[k1]")
		if m.Seq < older {
			for _, err := range []error{err, cellErr, whyErr} {
				require.ErrorIs(t, err, journal.ErrTrimmed, "at event %d; %d are gone, and the older snapshot is of %d", m.Seq, gone.To, older)
				require.ErrorContains(t, err, fmt.Sprintf("the state is known from event %d on", older))
			}
			continue
		}
		known++
		require.NoError(t, err, m.Seq)
		want, err := found(t, whole).At(m).State(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, got, m.Seq)
		wantCell, wantErr := found(t, whole).At(m).Cell(t.Context(), "account[k1]")
		require.NoError(t, errors.Join(wantErr, cellErr, whyErr))
		require.Equal(t, wantCell, cell)

		if m.Seq == older { // that event is gone, and so is its instant
			continue
		}
		then, err := found(t, e).At(coordinator.Moment{Time: time.Unix(0, all[i].At)}).State(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, then.Seq, m.Seq, "an instant is after all of its events")
		require.Equal(t, all[i].At, then.Updated)
	}
	require.Greater(t, known, 5)
}
