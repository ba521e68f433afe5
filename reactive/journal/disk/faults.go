package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// remedies has descriptions of faults of a path and their remedies, by error of the operating system.
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

// explain returns an error in one line that the store can no longer be written: the path, the fault, and the remedy.
func (s *Store) explain(path string, cause error) error {
	if errors.Is(cause, journal.ErrReadOnly) {
		return cause
	}
	if gone := s.place.Gone(); gone != nil {
		return gone
	}
	what, remedy := "cannot be written", "mend it"
	if errors.Is(cause, syscall.ENOSPC) {
		what, remedy = full(s.files, s.dir)
	}
	for _, r := range remedies {
		if errors.Is(cause, r.cause) {
			what, remedy = r.what, r.remedy
		}
	}
	return fmt.Errorf("%w: %s %s; %s and open the journal again: %w", journal.ErrReadOnly, path, what, remedy, cause)
}

// unopened returns the error of opening a directory, with its remedy if known.
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

// full describes the exhausted resource of the full disk of a directory, and the remedy. A disk without inodes may still have free space.
func full(files vfs.FS, dir string) (what, remedy string) {
	const room = 1 << 20
	usage, err := files.GetDiskUsage(dir)
	if errors.Is(err, fs.ErrNotExist) { // not made yet
		usage, err = files.GetDiskUsage(files.PathDir(dir))
	}
	if err == nil && usage.AvailBytes >= room {
		return "is on a disk that is full: no inodes are left", "remove files (`df -i` shows inodes)"
	}
	return "is on a disk that is full", "make room"
}

// readFault returns the error of a read. Data that is missing because the directory is gone is not damage.
func (s *Store) readFault(err error) error {
	if err == nil || !errors.Is(err, journal.ErrDamaged) {
		return err
	}
	return cmp.Or(s.place.Gone(), err)
}
