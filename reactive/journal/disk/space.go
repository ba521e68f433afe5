package disk

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// How often free space is looked at, whichever comes first. A look takes a microsecond.
const (
	spaceEveryBytes   = 1 << 20
	spaceEveryCommits = 64
)

// space watches how much room the disk has left. Pebble does not survive a full disk, so the store stops writing while
// there is still room for what Pebble does in the background. Owned by the committer.
type space struct {
	files vfs.FS
	dir   string
	floor int64 // in bytes; negative: do not look

	bytes, commits int // since the last look
}

// check looks at the disk, if it is time to, before a commit of about n bytes, and turns s read-only if there is too
// little room.
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

// low returns an error if fewer than floor bytes would be free after n more. A file system that cannot say how many are
// free is one that has enough.
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

// turnReadOnly makes reason the answer to all further appends. The first reason stays.
func (s *Store) turnReadOnly(reason error) {
	if s.readOnly.CompareAndSwap(nil, &reason) {
		close(s.failed)
		s.log.Error("the journal takes no more writes", "dir", s.dir, "reason", reason)
	}
}

// fail turns the store read-only because a write at a path failed: what is on the disk is not known any more, and trying
// again could turn an append that was reported as failed into one that happened. It returns why the store is read-only.
func (s *Store) fail(path string, cause error) error {
	s.turnReadOnly(s.explain(path, cause))
	s.shield.raised.Store(true)
	return *s.readOnly.Load()
}

// stood returns an error if what was just written is not on the disk, where it is found again.
func (s *Store) stood() error {
	gone := s.gone()
	switch {
	case s.shield.raised.Load():
		return *s.readOnly.Load()
	case gone != nil:
		return s.fail(s.dir, gone)
	}
	return nil
}
