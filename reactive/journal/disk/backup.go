package disk

import (
	"cmp"
	"errors"
	"fmt"
	"syscall"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/commitlog"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// Backup copies the store to a directory, which must be missing or empty and must not be within the store's own. The copy has every
// append acknowledged before, and perhaps later ones, each batch whole; the store remains usable meanwhile. On the same file system,
// the copy shares tables by hard links, so it takes little time and room; to survive a loss of the disk, copy it elsewhere.
//
// If Backup fails, the directory and the store are unchanged: a full disk under the copy is not a fault of the store. The error wraps
// journal.ErrBackup if the directory cannot take a backup, and journal.ErrClosed after Close.
func (s *Store) Backup(dir string) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return journal.ErrClosed
	}
	s.copying.Lock()
	defer s.copying.Unlock()
	target, err := records.TakeTarget(s.files, s.dir, dir, s.cfg.FS == nil)
	if err != nil {
		return err
	}
	number := s.newest.Load() // the copy has this commit, and may have later ones
	end := s.shield.Spare(dir)
	err = checkpoint(s.db, s.shield, s.dir, dir, number)
	if err = cmp.Or(end(), err); err == nil {
		return nil
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; make room there, or name a directory on another disk", err)
	}
	return fmt.Errorf("back up to %s: %w", dir, errors.Join(err, target.Clear()))
}

// checkpoint copies the database of a store to dir, with at least the commits up to a number.
func checkpoint(db *pebble.DB, shielded *shield.FS, from, dir string, number uint64) error {
	files := shielded.Unwrap()
	to := files.PathJoin(dir, records.DatabaseName)
	err := db.Checkpoint(to, pebble.WithFlushedWAL())
	if err == nil && shielded.Raised() { // Pebble could not write its log
		err = commitlog.Copy(files, files.PathJoin(from, records.DatabaseName), to)
	}
	if err == nil {
		err = records.CreateFile(files, dir, records.MarkName, records.AppendMark(nil, number))
	}
	if err != nil {
		return err
	}
	// A directory without a version cannot be opened, so the version is written last.
	return errors.Join(records.WriteVersion(files, dir), shield.SyncDir(files, files.PathDir(dir)))
}
