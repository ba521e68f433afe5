package records

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// identity identifies a file among all that exist at the same time.
type identity struct {
	major, minor uint32 // of the device
	inode        uint64
}

// identify returns the identity of a file. Unlike os.Stat, it does not query the file's times: after such a query, Linux sets a new
// timestamp at the next write, which costs a transaction of the file system that the next sync waits for.
func identify(path string) (identity, error) {
	id, _, err := statx(path, unix.STATX_INO)
	return id, err
}

// identifyChanged returns the identity of a file and its time of change in nanoseconds. It is for files that are not written.
func identifyChanged(path string) (id identity, changed int64, err error) {
	id, at, err := statx(path, unix.STATX_INO|unix.STATX_CTIME)
	return id, at.Sec*1e9 + int64(at.Nsec), err
}

func statx(path string, mask int) (id identity, changed unix.StatxTimestamp, err error) {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, mask, &s); err != nil {
		return identity{}, changed, fmt.Errorf("stat %s: %w", path, err)
	}
	return identity{s.Dev_major, s.Dev_minor, s.Ino}, s.Ctime, nil
}

func (i identity) is(other identity) bool { return i == other }
