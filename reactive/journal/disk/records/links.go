package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// CheckLinks returns an error if a file of a store is a symbolic link. Two directories could share its target: each would change
// files of the other, and neither lock prevents that. The directory itself may be a link.
func CheckLinks(dir string) error {
	err := checkLinks(dir, func(name string) bool {
		name = strings.TrimSuffix(name, ".new")
		return name == LockName || name == VersionName || name == MarkName || name == DatabaseName
	})
	if err == nil {
		err = checkLinks(filepath.Join(dir, DatabaseName), func(string) bool { return true })
	}
	return err
}

// checkLinks is CheckLinks for the files of one directory that are ours.
func checkLinks(dir string, ours func(name string) bool) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, entry := range entries {
		if entry.Type()&fs.ModeSymlink != 0 && ours(entry.Name()) {
			return fmt.Errorf("%w: %s is a symbolic link; put what it leads to in its place, or make the whole directory a link",
				journal.ErrDamaged, filepath.Join(dir, entry.Name()))
		}
	}
	return err
}
