package disk

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

// A lookup of a new run reads the tables of all other runs, which the cache must hold. Pebble takes the room of its tables in
// memory from the cache, so a cache of only that size holds nothing.
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
