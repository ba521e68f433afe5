//go:build !linux

package control

import "os"

// descriptorPath returns "": only Linux has paths through an open folder.
func descriptorPath(*os.File) string { return "" }
