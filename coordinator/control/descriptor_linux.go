package control

import (
	"fmt"
	"os"
)

// descriptorPath returns a short path of an open folder; "" if /proc is not mounted.
func descriptorPath(open *os.File) string {
	path := fmt.Sprintf("/proc/self/fd/%d", open.Fd())
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}
