//go:build !linux

package records

import "os"

// identity tells a file from all others that exist at the same time.
type identity struct{ info os.FileInfo }

// identify returns the identity of a file.
func identify(path string) (identity, error) {
	info, err := os.Stat(path)
	return identity{info}, err
}

func (i identity) is(other identity) bool { return os.SameFile(i.info, other.info) }
