package disk

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// retryPause is how long a background job that failed waits before Pebble tries it again, which it does at once and
// forever.
const retryPause = 50 * time.Millisecond

// options returns Pebble's. Writes come from one goroutine in large batches and are never deleted; reads are of one stream
// at a time or of all heads.
func (s *Store) options() *pebble.Options {
	o := &pebble.Options{
		FS:                 s.shield,
		FormatMajorVersion: pebble.FormatNewest,
		Logger:             pebbleLogger{s.log},
		EventListener: &pebble.EventListener{
			BackgroundError: s.backgroundError,
			DataCorruption: func(info pebble.DataCorruptionInfo) {
				s.log.Error("the journal is damaged", "dir", s.dir, "info", info.String())
			},
		},
		CacheSize:                   s.cfg.CacheBytes,
		MemTableSize:                memTableBytes,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       2,
		L0StopWritesThreshold:       1000,
		CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
		// Statistics serve deletions, of which there are none, and gathering them ends the process when a table is damaged.
		DisableTableStats: true,
		ReadOnly:          s.readOnly.Load() != nil,
	}
	o.Experimental.ReadSamplingMultiplier = -1 // no compactions because of reads
	for i := range o.Levels {
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // most lookups are of streams that do not exist yet
	}
	return o
}

// memTableBytes bounds what a killed process leaves in the log, which the next Open has to read.
const memTableBytes = 32 << 20

// backgroundError is called when a flush or a compaction fails. What was acknowledged is in the log, but from here on
// memory and disk would only grow.
func (s *Store) backgroundError(err error) {
	s.turnReadOnly(s.explain(s.dir, err))
	time.Sleep(retryPause)
}

// openPebble opens the database. Where Pebble panics about files that contradict each other, it returns an error.
func openPebble(dir string, o *pebble.Options) (db *pebble.DB, err error) {
	defer func() {
		if r := recover(); r != nil {
			db, err = nil, fmt.Errorf("%w: %v", journal.ErrDamaged, r)
		}
	}()
	db, err = pebble.Open(dir, o)
	return db, readError(err)
}

// pebbleLogger passes Pebble's errors on and drops the rest.
type pebbleLogger struct{ log *slog.Logger }

func (pebbleLogger) Infof(string, ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf must not return. It panics instead of ending the process, so that Open can make an error of it; anywhere else
// no process could go on from here.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.log.Error("pebble: " + text)
	panic("pebble: " + text)
}
