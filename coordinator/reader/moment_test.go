package reader_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// A moment is an event or an instant; one that the run does not have is refused, and the error has the number of the run's events, the
// time of its start, or states that the instant is yet to come.
func TestMoments(t *testing.T) {
	r := newRoom(t)
	r.process.now = 100
	responded, finished := responded, finished
	responded.At, finished.At = 20, 30
	r.write("r", 0, false, r.started("r"), requested, responded, finished)
	at := func(m reader.Moment) (string, error) {
		s, err := r.StateAt(t.Context(), "r", m)
		if err != nil {
			return "", err
		}
		require.False(t, s.Late)
		return string(s.Status) + " " + s.Steps[0].Status.String(), nil
	}
	for seq, want := range []string{1: "running ready", "running running", "running completed", "completed completed"} {
		if seq > 0 {
			got, err := at(reader.Moment{Seq: uint64(seq)})
			require.NoError(t, err)
			require.Equal(t, want, got, seq)
		}
	}
	instant := func(ns int64) reader.Moment { return reader.Moment{Time: time.Unix(0, ns)} }
	for ns, want := range map[int64]string{
		1: "running running", 19: "running running", 20: "running completed", 29: "running completed", 30: "completed completed", 100: "completed completed",
	} {
		got, err := at(instant(ns))
		require.NoError(t, err)
		require.Equal(t, want, got, ns)
	}
	for text, m := range map[string]reader.Moment{
		"run r has 4 events, and so no event 5":                                           {Seq: 5},
		"run r was started at 1970-01-01T00:00:00.000000001Z, after 1970-01-01T00:00:00Z": {Time: time.Unix(0, 0).UTC()},
		"1970-01-01T00:00:00.000000101Z is yet to come":                                   {Time: time.Unix(0, 101).UTC()},
		"run r was started at 1970-01-01T00:00:00.000000001Z, after 0001-01-01T00:00:01Z": {Time: time.Time{}.Add(time.Second)},
		"9999-01-01T00:00:00Z is yet to come":                                             {Time: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		for _, ask := range []func() error{
			func() error { _, err := at(m); return err },
			func() error { _, err := r.ExplainAt(t.Context(), "r", "a", m); return err },
			func() error { _, err := r.CallGraphAt(t.Context(), "r", m); return err },
		} {
			require.ErrorIs(t, ask(), decide.ErrNoMoment)
			require.ErrorContains(t, ask(), text)
		}
	}
	for _, m := range []reader.Moment{{Seq: 1}, instant(1)} {
		_, err := r.StateAt(t.Context(), "other", m)
		require.ErrorIs(t, err, decide.ErrRunNotFound)
		_, _, err = r.CellAt(t.Context(), "r", "a", m)
		require.ErrorIs(t, err, decide.ErrNotWorld)
	}
}

// Timers that have fallen due since the moment, and events after it that are damaged, do not count.
func TestAMomentIsAsItWasJournaled(t *testing.T) {
	r := newRoom(t)
	r.write("r", 0, true, r.started("r"), requested)
	r.process.now = int64(time.Hour) // the step's timeout has passed
	now, err := r.State(t.Context(), "r")
	require.NoError(t, err)
	require.True(t, now.Late)
	then, err := r.StateAt(t.Context(), "r", reader.Moment{Seq: 2})
	require.NoError(t, err)
	require.Equal(t, []any{"running", false, uint64(2)}, []any{then.Steps[0].Status.String(), then.Late, then.Seq})
	x, err := r.ExplainAt(t.Context(), "r", "", reader.Moment{Seq: 2})
	require.NoError(t, err)
	for _, reason := range x.Reasons {
		require.NotContains(t, []string{"late", "nobody", "parked"}, reason.Kind)
	}
	r.write("r", 2, true, journal.Event{Type: journal.CallResponded, Node: "no such step", Attempt: 1, At: 3})
	_, err = r.StateAt(t.Context(), "r", reader.Moment{Seq: 2})
	require.NoError(t, err)
}
