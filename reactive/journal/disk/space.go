package disk

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// How often free space is checked, whichever comes first. A check takes a microsecond.
const (
	spaceEveryBytes   = 1 << 20
	spaceEveryCommits = 64
)

// space watches the free space of the disk. Pebble does not survive a full disk, so the store stops writing while there is
// still room for Pebble's background work. Owned by the committer.
type space struct {
	files vfs.FS
	dir   string
	floor int64 // in bytes; negative: do not check

	bytes, commits int // since the last check
}

// check checks the disk if it is time to, before a commit of about n bytes, and makes s read-only if there is too little
// room.
func (g *space) check(s *Store, n int) {
	due := g.commits == 0 || g.bytes+n >= spaceEveryBytes
	g.commits, g.bytes = (g.commits+1)%spaceEveryCommits, g.bytes+n
	if !due {
		return
	}
	g.bytes = 0
	if err := g.low(uint64(n)); err != nil {
		s.turnReadOnly(err)
	}
}

// low returns an error if fewer than floor bytes would be free after n more. A file system that cannot report its free space
// is assumed to have enough.
func (g *space) low(n uint64) error {
	if g.floor < 0 {
		return nil
	}
	usage, err := g.files.GetDiskUsage(g.dir)
	if errors.Is(err, vfs.ErrUnsupported) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: cannot tell how much space is free: %w", journal.ErrReadOnly, err)
	}
	if usage.AvailBytes >= uint64(g.floor)+n {
		return nil
	}
	return fmt.Errorf("%w: the disk of %s is full (%d MiB free, %d MiB are kept in reserve); make room and open it again",
		journal.ErrReadOnly, g.dir, usage.AvailBytes>>20, g.floor>>20)
}

// turnReadOnly makes all further appends fail with reason. The first reason stays.
func (s *Store) turnReadOnly(reason error) {
	if s.readOnly.CompareAndSwap(nil, &reason) {
		close(s.failed)
		s.log.Error("the journal takes no more writes", "dir", s.dir, "reason", reason)
	}
}

// fail makes the store read-only because a write at a path failed: the state of the disk is unknown, and a retry could
// complete an append that was reported as failed. It returns why the store is read-only.
func (s *Store) fail(path string, cause error) error {
	s.turnReadOnly(s.explain(path, cause))
	s.shield.Raise()
	return *s.readOnly.Load()
}

// stood returns an error if the last commit did not reach the files at their paths.
func (s *Store) stood() error {
	gone := s.place.Gone()
	switch {
	case s.shield.Raised():
		return *s.readOnly.Load()
	case gone != nil:
		return s.fail(s.dir, gone)
	}
	return nil
}
