package disk_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/journaltest"
)

func TestStore(t *testing.T) {
	journaltest.TestStore(t, func(t *testing.T) journal.Store { return open(t, t.TempDir(), disk.Config{}) })
}

func TestLists(t *testing.T) {
	journaltest.TestLists(t, func(t *testing.T) journal.Store { return open(t, t.TempDir(), disk.Config{}) })
}

func TestSweeps(t *testing.T) {
	journaltest.TestSweeps(t, func(t *testing.T) journal.Store { return open(t, t.TempDir(), disk.Config{}) })
}

func TestContent(t *testing.T) {
	journaltest.TestContent(t, func(t *testing.T) journal.ContentStore { return open(t, t.TempDir(), disk.Config{}) })
}

func open(t testing.TB, dir string, cfg disk.Config) *disk.Store {
	s, err := disk.Open(dir, cfg)
	require.NoError(t, err)
	return s
}

func TestDurable(t *testing.T) {
	journaltest.TestDurable(t, func(dir string) (journal.Store, error) { return disk.Open(dir, disk.Config{}) })
}

// The time for which a test waits for another goroutine, and the interval of its checks. No result depends on them.
const (
	waitMax  = time.Minute
	waitStep = time.Millisecond
)
