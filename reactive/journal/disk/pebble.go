package disk

import (
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/sluiceflow/sluice/reactive/journal/disk/commitlog"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// options returns Pebble's options. Writes come from one goroutine in large batches, and only sweeps, trims and deletions of
// runs delete; reads are of one stream at a time or of all heads.
func (s *Store) options() *pebble.Options {
	o := &pebble.Options{
		FS:                 s.commits,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             shield.Logger{Log: s.log},
		EventListener: &pebble.EventListener{
			BackgroundError: s.backgroundError,
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				s.log.Error("the journal is damaged", "dir", s.dir, "info", info.String())
			},
		},
		// Pebble takes the room of the table in memory, and of the one before it, which it keeps for reuse, from the cache.
		CacheSize:                   s.cfg.CacheBytes + 2*memTableBytes,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: 4,
		WALBytesPerSync:             1 << 20, // the log is synced at its end: see package commitlog
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       1000,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		// Pebble uses statistics to compact deleted records earlier, but collecting them ends the process if a table is damaged.
		DisableTableStats: true,
		ReadOnly:          s.readOnly.Load() != nil,
	}
	o.Experimental.ReadSamplingMultiplier = -1 // no compactions because of reads
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // most lookups are for new streams
	}
	return o
}

// memTableBytes bounds the log that a killed process leaves for the next Open to read.
const memTableBytes = 32 << 20

// backgroundError is called when a flush or a compaction fails. Acknowledged appends are in the log, but the log would now grow
// without bound.
func (s *Store) backgroundError(err error) {
	_ = s.fail(s.dir, err)
	s.getStuck()
	time.Sleep(50 * time.Millisecond) // Pebble would retry at once, and forever
	s.retrying.RLock()
	defer s.retrying.RUnlock()
}

// openPebble opens the database. It returns an error if Pebble finds the files inconsistent, or cannot move its log into tables,
// which Pebble would retry forever. Pebble's goroutine and lock then stay in the process, but Pebble does no more work.
func (f *refusals) openPebble(dir string, o *pebble.Options) (*pebble.DB, error) {
	var db *pebble.DB
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		db, err = commitlog.Open(dir, o)
	}()
	select {
	case <-done:
		return db, records.OpenError(err)
	case <-f.stuck.Done():
		f.retrying.Lock()
		return nil, *f.readOnly.Load()
	}
}
