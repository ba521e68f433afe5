package disk

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// retryPause is how long a background job that failed waits before Pebble tries it again, which it does at once and
// forever.
const retryPause = 50 * time.Millisecond

// options are Pebble's. Writes come from one goroutine in large batches and are never deleted; reads are of one stream
// at a time or of all heads.
func (s *Store) options() *pebble.Options {
	o := &pebble.Options{
		FS:                 vfs.OnDiskFull(durableManifests{s.files}, s.diskFull),
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

// diskFull is called by whichever write finds the disk full, before Pebble learns of it; all writes wait until it
// returns. The write is tried once more afterwards.
func (s *Store) diskFull() {
	s.turnReadOnly(fmt.Errorf("%w: the disk of %s is full; make room and open it again: %w",
		journal.ErrReadOnly, s.dir, syscall.ENOSPC))
	time.Sleep(retryPause)
}

// backgroundError is called when a flush or a compaction fails. What was acknowledged is in the log, but from here on
// memory and disk would only grow.
func (s *Store) backgroundError(err error) {
	_ = s.fail("background job", err)
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

// durableManifests makes the name of each new MANIFEST durable before Pebble refers to it. Pebble syncs the directory only
// once, together with the name that refers; a file system that does not keep the order of the two could come back from a
// power failure with the reference alone.
type durableManifests struct{ vfs.FS }

func (f durableManifests) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	if err != nil || !strings.HasPrefix(f.PathBase(name), "MANIFEST-") {
		return file, err
	}
	if err = syncDir(f.FS, f.PathDir(name)); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Unwrap returns the file system below, for Pebble.
func (f durableManifests) Unwrap() vfs.FS { return f.FS }

// pebbleLogger passes Pebble's errors on and drops the rest.
type pebbleLogger struct{ log *slog.Logger }

func (pebbleLogger) Infof(string, ...any) {}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf must not return. It panics instead of ending the process, so that Open can make an error of it; anywhere else
// nobody could go on from here.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	l.log.Error("pebble: " + text)
	panic("pebble: " + text)
}
