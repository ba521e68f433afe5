package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/folder"
)

// remedies describe faults of a path and what to do about them, by error of the operating system.
var remedies = []struct {
	cause        error
	what, remedy string
}{
	{syscall.EDQUOT, "has used up its quota", "make room or raise the quota"},
	{syscall.EROFS, "is on a disk that is mounted read-only", "mount it for writing"},
	{syscall.EIO, "is on a disk that fails", "look for its errors in the system's log"},
	{syscall.EMFILE, "needs more open files than this process may have", "raise `ulimit -n`"},
	{syscall.ENFILE, "needs more open files than the system has left", "close some"},
	{fs.ErrPermission, "may not be written by this process", "give it the permission"},
	{syscall.ENODEV, "is on a disk that is gone", "mount it"},
	{syscall.ENOTCONN, "is on a disk that is gone", "mount it"},
}

// explain returns an error of one line about writes that are no longer possible: the fault, the path, and the remedy.
func (s *Store) explain(path string, cause error) error {
	if errors.Is(cause, journal.ErrReadOnly) {
		return cause
	}
	if gone := s.gone(); gone != nil {
		return gone
	}
	what, remedy := "cannot be written", "mend it"
	if errors.Is(cause, syscall.ENOSPC) {
		what, remedy = s.full()
	}
	for _, r := range remedies {
		if errors.Is(cause, r.cause) {
			what, remedy = r.what, r.remedy
		}
	}
	return fmt.Errorf("%w: %s %s; %s and open the journal again: %w", journal.ErrReadOnly, path, what, remedy, cause)
}

// unopened returns why a directory cannot be opened.
func (s *Store) unopened(cause error) error {
	known := errors.Is(cause, syscall.ENOSPC)
	for _, r := range remedies {
		known = known || errors.Is(cause, r.cause)
	}
	if !known {
		return cause
	}
	return s.explain(s.dir, cause)
}

// full returns which resource is exhausted when the disk is full. A disk without inodes may still have free space.
func (s *Store) full() (what, remedy string) {
	const room = 1 << 20
	usage, err := s.files.GetDiskUsage(s.dir)
	if errors.Is(err, fs.ErrNotExist) { // not made yet
		usage, err = s.files.GetDiskUsage(s.files.PathDir(s.dir))
	}
	if err == nil && usage.AvailBytes >= room {
		return "is on a disk that is full: no inodes are left", "remove files (`df -i` shows inodes)"
	}
	return "is on a disk that is full", "make room"
}

// held identifies the files that must stay in place while a store is open.
type held struct {
	path string
	info fs.FileInfo
}

// hold records the files of the directory.
func (s *Store) hold() error {
	for _, name := range []string{"", folder.LockName, folder.MarkName, folder.DatabaseName} {
		path := s.files.PathJoin(s.dir, name)
		info, err := s.stat(path)
		if err != nil {
			return err
		}
		s.held = append(s.held, held{path, info})
	}
	return nil
}

// gone returns an error if a held file is not in its place: writes would go to files without a name, or of another store.
func (s *Store) gone() error {
	for _, h := range s.held {
		info, err := s.stat(h.path)
		if err == nil && (s.cfg.FS != nil || os.SameFile(info, h.info)) {
			continue
		}
		if err == nil {
			err = errors.New("another file has its place")
		}
		return fmt.Errorf("%w: %s is gone: it was removed, renamed or unmounted while this process worked with it; put it back "+
			"and open the journal again: %w", journal.ErrReadOnly, h.path, err)
	}
	return nil
}

func (s *Store) stat(path string) (fs.FileInfo, error) {
	if s.cfg.FS == nil {
		return os.Stat(path)
	}
	return s.files.Stat(path)
}

// blame returns why something could not be read: data missing because the directory is gone is not damage.
func (s *Store) blame(err error) error {
	if err == nil || !errors.Is(err, journal.ErrDamaged) {
		return err
	}
	return cmp.Or(s.gone(), err)
}
