package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/folder"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// ErrBackup is wrapped by the errors about a directory that takes no backup.
var ErrBackup = errors.New("journal: no backup is made there")

// Backup makes a copy of the store in a directory, which must be missing or empty and may not be within the store's own. It has every
// append that was acknowledged before, and perhaps later ones, each batch whole; the store goes on meanwhile. On the same file
// system, tables are shared by hard links, so a copy takes little time and room; to survive the disk, it has to be copied elsewhere.
//
// If it fails, the directory is left as it was, and the store too: a full disk under the copy is no fault of the store. The error wraps
// ErrBackup if the directory cannot take a backup, and ErrClosed after Close.
func (s *Store) Backup(dir string) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return journal.ErrClosed
	}
	s.copying.Lock()
	defer s.copying.Unlock()
	made, err := s.emptyDir(dir)
	if err != nil {
		return err
	}
	number := s.newest.Load() // the copy has this commit, and may have later ones
	end := s.shield.Spare(dir)
	err = s.checkpoint(dir, number)
	if err = errors.Join(end(), err); err != nil {
		return fmt.Errorf("back up to %s: %w", dir, errors.Join(err, s.clear(dir, made)))
	}
	return nil
}

func (s *Store) checkpoint(dir string, number uint64) error {
	if err := s.db.Checkpoint(s.files.PathJoin(dir, folder.DatabaseName), pebble.WithFlushedWAL()); err != nil {
		return err
	}
	mark := folder.AppendMark(nil, number)
	return errors.Join(folder.WriteVersion(s.files, dir), folder.CreateFile(s.files, dir, folder.MarkName, mark), shield.SyncDir(s.files, s.files.PathDir(dir)))
}

// emptyDir makes a directory, or checks that it is empty. It reports whether it has made it.
func (s *Store) emptyDir(dir string) (made bool, err error) {
	if within, err := s.within(dir); err != nil || within {
		return false, errors.Join(err, fmt.Errorf("%w: %s is within the folder itself, %s", ErrBackup, dir, s.dir))
	}
	names, err := s.files.List(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, s.files.MkdirAll(dir, 0o700)
	case err != nil:
		return false, fmt.Errorf("%w: %w", ErrBackup, err)
	case len(names) > 0:
		return false, fmt.Errorf("%w: %s is not empty; name a new directory", ErrBackup, dir)
	}
	return false, nil
}

// within reports whether dir is the store's directory or below it, also by symbolic links.
func (s *Store) within(dir string) (bool, error) {
	if s.cfg.FS != nil {
		return below(s.dir, dir), nil
	}
	own, err := filepath.Abs(s.dir)
	if err != nil {
		return false, err
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	rest := ""
	for { // the part of the path that exists may have links
		real, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return below(own, filepath.Join(real, rest)), nil
		}
		if !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return false, err
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
}

func below(own, dir string) bool {
	rest, err := filepath.Rel(own, dir)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}

// clear removes what a failed backup has written.
func (s *Store) clear(dir string, made bool) error {
	if made {
		return s.files.RemoveAll(dir)
	}
	names, err := s.files.List(dir)
	for _, name := range names {
		err = errors.Join(err, s.files.RemoveAll(s.files.PathJoin(dir, name)))
	}
	return err
}
