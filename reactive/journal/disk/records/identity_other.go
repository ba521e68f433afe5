//go:build !linux

package records

import "os"

// identity identifies a file among all that exist at the same time.
type identity struct{ info os.FileInfo }

// identify returns the identity of a file.
func identify(path string) (identity, error) {
	info, err := os.Stat(path)
	return identity{info}, err
}

// identifyChanged returns the identity of a file. Its time of change is 0, which means unknown.
func identifyChanged(path string) (id identity, changed int64, err error) {
	id, err = identify(path)
	return id, 0, err
}

func (i identity) is(other identity) bool { return os.SameFile(i.info, other.info) }
