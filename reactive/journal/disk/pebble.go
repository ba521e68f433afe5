package disk

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/commitlog"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// retryPause is the pause after a failed background job, which Pebble otherwise retries at once and forever.
const retryPause = 50 * time.Millisecond

// options returns Pebble's options. Writes come from one goroutine in large batches, and only sweeps and trims delete; reads are
// of one stream at a time or of all heads.
func (s *Store) options() *pebble.Options {
	o := &pebble.Options{
		FS:                 s.commits,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             pebbleLogger{s.log},
		EventListener: &pebble.EventListener{
			BackgroundError: s.backgroundError,
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				s.log.Error("the journal is damaged", "dir", s.dir, "info", info.String())
			},
		},
		// Pebble takes the room of the table in memory and of the one before it, which it keeps to use it again, from the cache.
		CacheSize:                   s.cfg.CacheBytes + 2*memTableBytes,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: 4,
		WALBytesPerSync:             1 << 20, // the log is synced at its end: see package commitlog
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       1000,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		// Statistics serve to compact deleted records earlier, and gathering them ends the process when a table is damaged.
		DisableTableStats: true,
		ReadOnly:          s.readOnly.Load() != nil,
	}
	o.Experimental.ReadSamplingMultiplier = -1 // no compactions because of reads
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // most lookups are of streams that do not exist yet
	}
	return o
}

// memTableBytes bounds the log that a killed process leaves for the next Open to read.
const memTableBytes = 32 << 20

// backgroundError is called when a flush or a compaction fails. Acknowledged appends are in the log, but memory and disk use
// would only grow from here on.
func (s *Store) backgroundError(err error) {
	s.turnReadOnly(s.explain(s.dir, err))
	time.Sleep(retryPause)
}

// openPebble opens the database. If its logs lack a batch, or Pebble panics about inconsistent files, it returns an error.
func openPebble(dir string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%w: %v", journal.ErrDamaged, r)
		}
	}()
	if err = commitlog.Check(o.FS, dir); err == nil {
		db, err = pebble.Open(dir, o)
	}
	return db, records.OpenError(err)
}

// pebbleLogger passes Pebble's errors on and drops the rest.
type pebbleLogger struct{ log *slog.Logger }

func (pebbleLogger) Infof(string, ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf must not return. It panics instead of ending the process, so that Open can return an error; anywhere else the
// process cannot continue.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.log.Error("pebble: " + text)
	panic("pebble: " + text)
}
