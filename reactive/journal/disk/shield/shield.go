// Package shield prevents Pebble from ending the process when the disk fails.
//
//	files := shield.New(vfs.Default, func(path string, cause error) { … })      once, before Pebble sees the error
//	db, err := pebble.Open(dir, &pebble.Options{FS: files})
//
// Pebble ends the process when a write of its own bookkeeping fails (a log that begins or ends, the manifest, the name of a
// directory). So the first failed write raises the shield, and no further write reaches the disk, which stays as after a crash
// at that moment. Pebble sees success, so the caller must check Raised before it acknowledges a write. Tables are an exception:
// their creation fails, because Pebble handles that, and would otherwise read a table that does not exist.
package shield

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// FS is the file system under Pebble. It is safe for concurrent use. Make one with New.
type FS struct {
	vfs.FS
	raised  atomic.Bool
	failing func(path string, cause error)
	spared  atomic.Pointer[spared] // a directory with a separate shield; nil: none
}

// New returns a shield over files. When a write fails, it calls failing and then raises the shield.
func New(files vfs.FS, failing func(path string, cause error)) *FS {
	return &FS{FS: files, failing: failing}
}

// Raise ends all writes.
func (f *FS) Raise() { f.raised.Store(true) }

// Raised reports whether writes have ended.
func (f *FS) Raised() bool { return f.raised.Load() }

// Spare makes a separate shield for a directory into which Pebble writes a copy: a failure there is not a fault of the database.
// end removes that shield and returns its first failure. There is one such directory at a time.
func (f *FS) Spare(dir string) (end func() error) {
	own := &spared{FS: New(f.FS, nil), dir: strings.TrimRight(dir, "/")}
	own.failing = func(_ string, cause error) { own.cause = cause }
	f.spared.Store(own)
	return func() error {
		f.spared.Store(nil)
		return own.cause
	}
}

// spared is the shield of a directory.
type spared struct {
	*FS
	dir   string
	cause error
}

// over returns the shield that covers a path.
func (f *FS) over(path string) *FS {
	if own := f.spared.Load(); own != nil && (path == own.dir || strings.HasPrefix(path, own.dir+"/")) {
		return own.FS
	}
	return f
}

// SyncDir makes the names in a directory durable.
func SyncDir(files vfs.FS, dir string) error {
	d, err := files.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// errRaised is the error of creating a table while the shield is raised.
var errRaised = errors.New("the journal takes no more writes")

// change makes a change at a path, unless the shield is raised.
func (f *FS) change(path string, change func() error) error {
	if own := f.over(path); own != f {
		return own.change(path, change)
	}
	cause := errRaised
	if !f.raised.Load() {
		if cause = change(); cause == nil {
			return nil
		}
		f.failing(path, cause)
		f.raised.Store(true)
	}
	if isTable(path) {
		return cause
	}
	return nil
}

func isTable(path string) bool {
	extension := filepath.Ext(path)
	return extension == ".sst" || extension == ".blob"
}

// Create implements vfs.FS.
func (f *FS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file(name, func() (vfs.File, error) {
		file, err := f.FS.Create(name, category)
		if err != nil || !strings.HasPrefix(f.PathBase(name), "MANIFEST-") {
			return file, err
		}
		// The name of a new manifest must be durable before Pebble refers to it. Pebble syncs the directory only once, together
		// with the name that refers to the manifest; a file system that does not keep the order of the two could have only the
		// reference after a power failure.
		if err = SyncDir(f.FS, f.PathDir(name)); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	})
}

// ReuseForWrite implements vfs.FS.
func (f *FS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.file(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, category) })
}

// OpenReadWrite implements vfs.FS.
func (f *FS) OpenReadWrite(name string, category vfs.DiskWriteCategory, o ...vfs.OpenOption) (vfs.File, error) {
	return f.file(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, category, o...) })
}

// OpenDir implements vfs.FS.
func (f *FS) OpenDir(name string) (vfs.File, error) {
	return f.file(name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

func (f *FS) file(name string, open func() (vfs.File, error)) (vfs.File, error) {
	var file vfs.File
	err := f.change(name, func() (err error) { file, err = open(); return err })
	if err != nil {
		return nil, err
	}
	if file == nil { // not created, because the shield is raised: nothing is written to it either
		if file, err = vfs.NewMem().Create("nothing", vfs.WriteCategoryUnspecified); err != nil {
			return nil, err
		}
	}
	return &shieldedFile{File: file, path: name, fs: f}, nil
}

// Link implements vfs.FS. In a spared directory, a failed link is not a failure, because Pebble then copies the file.
func (f *FS) Link(oldname, newname string) error {
	if own := f.over(newname); own != f && !own.raised.Load() {
		return f.FS.Link(oldname, newname)
	}
	return f.change(newname, func() error { return f.FS.Link(oldname, newname) })
}

// Rename implements vfs.FS.
func (f *FS) Rename(oldname, newname string) error {
	return f.change(newname, func() error { return f.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (f *FS) MkdirAll(dir string, perm os.FileMode) error {
	return f.change(dir, func() error { return f.FS.MkdirAll(dir, perm) })
}

// Remove implements vfs.FS. A failure to remove a file does not raise the shield.
func (f *FS) Remove(name string) error {
	if f.over(name).raised.Load() {
		return nil
	}
	return f.FS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (f *FS) RemoveAll(name string) error {
	if f.over(name).raised.Load() {
		return nil
	}
	return f.FS.RemoveAll(name)
}

// Unwrap returns the file system below, for Pebble.
func (f *FS) Unwrap() vfs.FS { return f.FS }

// shieldedFile is a file of a shield.
type shieldedFile struct {
	vfs.File
	path string
	fs   *FS
}

func (f *shieldedFile) Write(p []byte) (int, error) {
	n := len(p)
	err := f.fs.change(f.path, func() (err error) { n, err = f.File.Write(p); return err })
	if err == nil {
		n = len(p)
	}
	return n, err
}

func (f *shieldedFile) WriteAt(p []byte, offset int64) (int, error) {
	n := len(p)
	err := f.fs.change(f.path, func() (err error) { n, err = f.File.WriteAt(p, offset); return err })
	if err == nil {
		n = len(p)
	}
	return n, err
}

// Preallocate does nothing: Pebble requests tens of MiB for each log, and few logs fill them.
func (f *shieldedFile) Preallocate(int64, int64) error { return nil }

func (f *shieldedFile) Sync() error { return f.fs.change(f.path, f.File.Sync) }

func (f *shieldedFile) SyncData() error { return f.fs.change(f.path, f.File.SyncData) }

func (f *shieldedFile) SyncTo(length int64) (full bool, err error) {
	err = f.fs.change(f.path, func() (err error) { full, err = f.File.SyncTo(length); return err })
	return full, err
}

// Close closes the file, even if the shield is raised.
func (f *shieldedFile) Close() error {
	err := f.File.Close()
	return f.fs.change(f.path, func() error { return err })
}
