package disk

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// Whether a run is new is looked up in the tables of all others, which the cache holds. Pebble takes the room of its tables in
// memory from the cache: when it had no more than that, it held nothing.
func TestTheCacheHoldsWhatStartsLookUp(t *testing.T) {
	if testing.Short() {
		t.Skip("a hundred thousand starts take long under the race detector")
	}
	const runs = 100_000
	s, err := Open(t.TempDir(), Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	journaltest.Many(t, s, runs, 0)
	cache := s.db.Metrics().BlockCache
	require.NoError(t, s.Close())
	require.Greater(t, cache.Hits+cache.Misses, int64(runs/2), "starts look into the tables")
	require.Less(t, cache.Misses, int64(runs/10))
}
