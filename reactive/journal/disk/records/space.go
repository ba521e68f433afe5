package records

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// The intervals of the checks of free space, whichever ends first. A check takes a microsecond.
const (
	spaceEveryBytes   = 1 << 20
	spaceEveryCommits = 64
)

// spareParts is the divisor of the floor for removals: they write little, but the space that they free is available only after Pebble
// has compacted the tables, which first needs room.
const spareParts = 4

// Space watches the free space of the disk. Pebble does not survive a full disk, so the store stops adding data while there is still
// room for Pebble's background work, and for removals.
type Space struct {
	Files vfs.FS // file system of the disk
	Dir   string // on the disk
	Floor int64  // in bytes; negative: do not check

	bytes, commits int // since the last check
}

// Due reports whether to check the disk before a commit of about n bytes.
func (g *Space) Due(n int) bool {
	due := g.commits == 0 || g.bytes+n >= spaceEveryBytes
	g.commits, g.bytes = (g.commits+1)%spaceEveryCommits, g.bytes+n
	if due {
		g.bytes = 0
	}
	return due
}

// Low returns an error if fewer than Floor bytes would be free after n more, and reports whether there is room for removals. A file
// system that does not support the query is assumed to have enough; any other error of the query means no room.
func (g *Space) Low(n uint64) (removable bool, err error) {
	if g.Floor < 0 {
		return true, nil
	}
	usage, err := g.Files.GetDiskUsage(g.Dir)
	if errors.Is(err, vfs.ErrUnsupported) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("%w: cannot tell how much space is free: %w", journal.ErrReadOnly, err)
	}
	if usage.AvailBytes >= uint64(g.Floor)+n {
		return true, nil
	}
	removable, what := usage.AvailBytes >= uint64(g.Floor)/spareParts, "make room"
	if removable {
		what = "delete runs or make room"
	}
	return removable, fmt.Errorf("%w: the disk of %s is full (%d MiB free, %d MiB are kept in reserve); %s and open it again",
		journal.ErrReadOnly, g.Dir, usage.AvailBytes>>20, g.Floor>>20, what)
}
