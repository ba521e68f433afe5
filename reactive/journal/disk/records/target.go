package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Target is a directory for a copy of a store, which was empty or missing.
type Target struct {
	files vfs.FS
	dir   string
	made  bool // by TakeTarget
}

// TakeTarget creates a directory, or checks that it is empty. If the directory is the store's own or below it, the error wraps
// journal.ErrBackup. real is true for the operating system's files, where it follows symbolic links.
func TakeTarget(files vfs.FS, own, dir string, real bool) (t Target, err error) {
	if inside, err := within(own, dir, real); err != nil {
		return t, fmt.Errorf("%w: %s: %w", journal.ErrBackup, dir, err)
	} else if inside {
		return t, fmt.Errorf("%w: %s is within the folder itself, %s; name a directory elsewhere", journal.ErrBackup, dir, own)
	}
	t = Target{files: files, dir: dir}
	names, err := files.List(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		t.made = true
		return t, files.MkdirAll(dir, 0o700)
	case err != nil:
		return t, fmt.Errorf("%w: %s: %w", journal.ErrBackup, dir, err)
	case len(names) > 0:
		return t, fmt.Errorf("%w: %s is not empty; name a new directory", journal.ErrBackup, dir)
	}
	return t, nil
}

// Clear removes the files of a failed copy.
func (t *Target) Clear() error {
	if t.made {
		return t.files.RemoveAll(t.dir)
	}
	names, err := t.files.List(t.dir)
	for _, name := range names {
		err = errors.Join(err, t.files.RemoveAll(t.files.PathJoin(t.dir, name)))
	}
	return err
}

// within reports whether dir is the store's directory or below it.
func within(own, dir string, real bool) (bool, error) {
	if !real {
		return below(own, dir), nil
	}
	own, err := filepath.Abs(own)
	if err != nil {
		return false, err
	}
	if own, err = filepath.EvalSymlinks(own); err != nil {
		return false, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return false, err
	}
	rest := ""
	for { // the existing part of the path may have links
		path, err := filepath.EvalSymlinks(dir)
		if err == nil {
			return below(own, filepath.Join(path, rest)), nil
		}
		if !errors.Is(err, os.ErrNotExist) || dir == filepath.Dir(dir) {
			return false, err
		}
		dir, rest = filepath.Dir(dir), filepath.Join(filepath.Base(dir), rest)
	}
}

func below(own, dir string) bool {
	rest, err := filepath.Rel(own, dir)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
