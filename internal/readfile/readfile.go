// Package readfile reads files that a person or a document names by path: regular files only, and only within a limit. Reading
// a device may never end, and reading a pipe waits for its writer.
package readfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
)

// ErrTooLarge means that a file exceeds the limit.
var ErrTooLarge = errors.New("too large")

// Regular reads a regular file of at most limit bytes.
func Regular(path string, limit int) ([]byte, error) {
	data, _, err := Version(path, limit)
	return data, err
}

// Open opens a regular file for reading, of any size.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path) // before the open, as in Version
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Op = "open"
	}
	if err == nil {
		err = fits(path, info, math.MaxInt)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = fits(path, info, math.MaxInt)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Version is like Regular and also returns the version of the file. It calls Stat before it reads, so that the next call
// detects a change in between.
func Version(path string, limit int) ([]byte, fs.FileInfo, error) {
	// Before the open: opening a pipe waits for its writer.
	info, err := os.Stat(path)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Op = "open" // not stat
	}
	if err == nil {
		err = fits(path, info, limit)
	}
	if err != nil {
		return nil, nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = file.Close() }()
	if info, err = file.Stat(); err == nil {
		err = fits(path, info, limit)
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := All(file, path, limit) // the size of a file may differ from its number of bytes
	if err != nil {
		return nil, nil, err
	}
	return data, info, nil
}

func fits(path string, info fs.FileInfo, limit int) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is %s, not a regular file", path, describe(info.Mode()))
	}
	if info.Size() > int64(limit) {
		return fmt.Errorf("%s is %w: it has %d bytes, at most %d are read", path, ErrTooLarge, info.Size(), limit)
	}
	return nil
}

func describe(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	}
	return "something else"
}

// All reads r to its end, at most limit bytes. The name is for errors.
func All(r io.Reader, name string, limit int) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > limit {
		return nil, fmt.Errorf("%s is %w: it has more than the %d bytes that are read", name, ErrTooLarge, limit)
	}
	return data, nil
}
