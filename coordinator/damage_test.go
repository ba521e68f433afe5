package coordinator_test

import (
	"context"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// Damage in the store parks only the run that it concerns.
func TestDamageParksOneRun(t *testing.T) {
	tests := map[string]struct {
		key    string // of the record that is damaged
		gone   bool
		text   string
		listed bool
	}{
		"the head":            {"hb", false, "its checksum is wrong", true},
		"the first event":     {"eb\x00\x00\x00\x00\x00\x00\x00\x00\x01", false, "its checksum is wrong", true},
		"the head is missing": {"hb", true, "it has events, but no head", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := vfs.NewMem()
			open := func() (*coordinator.Engine, *record) {
				log := &record{}
				store, err := disk.Open("data", disk.Config{FS: files})
				require.NoError(t, err)
				e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: log.logger()})
				require.NoError(t, err)
				return e, log
			}
			e, _ := open()
			for _, id := range []string{"a", "b", "c"} {
				start(t, e, waits2, coordinator.WithID(id))
			}
			require.NoError(t, e.Shutdown(t.Context()))
			db, err := pebble.Open("data/db", &pebble.Options{FS: files, FormatMajorVersion: pebble.FormatNewest})
			require.NoError(t, err)
			if test.gone {
				require.NoError(t, db.Delete([]byte(test.key), pebble.Sync))
			} else {
				require.NoError(t, db.Set([]byte(test.key), []byte("rubbish"), pebble.Sync))
			}
			require.NoError(t, db.Close())

			e, log := open()
			defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
			b := find(t, e, "b")
			state, err := b.State(t.Context())
			require.NoError(t, err)
			require.ErrorIs(t, state.Parked, journal.ErrDamaged)
			require.ErrorContains(t, state.Parked, test.text)
			var listed []string
			for head, err := range e.Runs(t.Context(), "") {
				require.NoError(t, err)
				listed = append(listed, head.Run)
				parked := e.Parked(t.Context(), &head)
				require.Equal(t, head.Run == "b", parked != nil, head.Run)
				if parked != nil {
					require.Contains(t, coordinator.ParkedReason(parked), "`sluice doctor`")
				}
			}
			if test.listed {
				require.Equal(t, []string{"a", "b", "c"}, listed)
				require.NotEmpty(t, log.lines("parked", "run=b"))
			}
			_, err = b.Wait(t.Context())
			require.ErrorIs(t, err, journal.ErrDamaged)
			require.ErrorIs(t, b.Send(t.Context(), "approve", 1), journal.ErrDamaged)
			_, err = e.Start(t.Context(), parse(t, waits2), nil, coordinator.WithID("b"))
			require.ErrorIs(t, err, journal.ErrDamaged, "the id is taken")
			for _, id := range []string{"a", "c"} {
				r := find(t, e, id)
				require.NoError(t, r.Send(t.Context(), "approve", id))
				result, err := r.Wait(t.Context())
				require.NoError(t, err)
				require.Equal(t, reactive.RunCompleted, result.Status)
				require.Equal(t, id, result.Output)
			}
		})
	}
}
