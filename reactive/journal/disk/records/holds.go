package records

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// Holds reports whether a directory holds a store. If it has no version but other files of a store, Holds returns ErrDamaged with the
// kind of the directory: a store that has lost its version, or the folder of another program. It changes nothing. A nil files means
// the operating system's.
func Holds(files vfs.FS, dir string) (bool, error) {
	if files == nil {
		files = vfs.Default
	}
	switch has, err := exists(files, dir, VersionName); {
	case has || err != nil:
		return has, err
	}
	what, err := remains(files, dir)
	if err != nil || what == "" {
		return false, err
	}
	if has, err := exists(files, dir, VersionName); has || err != nil { // another process may be making the store
		return has, err
	}
	return false, fmt.Errorf("%w: %s is missing, but there is %s", journal.ErrDamaged, files.PathJoin(dir, VersionName), what)
}

// remains describes the content of a directory without a version, or returns "" for an empty directory and for the files of a store
// whose creation a crash interrupted.
func remains(files vfs.FS, dir string) (string, error) {
	db := files.PathJoin(dir, DatabaseName)
	info, err := files.Stat(db)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var names []string
	if err == nil && info.IsDir() {
		if names, err = files.List(db); err != nil {
			return "", err
		}
	}
	marked, unknown := exists(files, dir, MarkName)
	switch {
	case unknown != nil:
		return "", unknown
	case err == nil && !info.IsDir():
		return DatabaseName + ", which is no folder: " + foreign, nil
	case slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "MANIFEST-") }):
		return "a database: the folder is a journal that has lost this file. " + lost, nil
	case len(names) > 0:
		return DatabaseName + " with " + names[0] + ", which is no database: " + foreign, nil
	case marked:
		return MarkName + ": the folder is a journal that has lost this file and its database. " + lost, nil
	}
	return "", nil
}

// The remedies for such a directory.
var (
	lost = fmt.Sprintf("Nothing was changed; copy the file from a backup, or write it again: in a journal of this version of the program "+
		"it is the line %q", strings.TrimSpace(fmt.Sprintf(versionFormat, NewestVersion)))
	foreign = "the folder is of another program, or damaged. Nothing was changed; take another folder for the journal"
)

func exists(files vfs.FS, dir, name string) (bool, error) {
	_, err := files.Stat(files.PathJoin(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if info, statErr := files.Stat(dir); err != nil && statErr == nil && !info.IsDir() {
		err = fmt.Errorf("it is a file, %w", syscall.ENOTDIR) // not a directory
	}
	return err == nil, err
}

// MakeFolder creates the directory of a store and of its database, and makes their names durable. It refuses a directory for which
// Holds returns an error.
func MakeFolder(files vfs.FS, dir string) error {
	if _, err := Holds(files, dir); err != nil {
		return err
	}
	db := files.PathJoin(dir, DatabaseName)
	if _, err := files.Stat(db); err == nil {
		return nil
	}
	if err := files.MkdirAll(db, 0o700); err != nil {
		return err
	}
	return errors.Join(shield.SyncDir(files, dir), shield.SyncDir(files, files.PathDir(dir)))
}
