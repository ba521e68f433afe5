// Package readfile reads what a person or a document names by its path: only what is a regular file, and never more of it than
// the caller has room for. A device has no end, and a pipe waits for its writer for as long as that likes.
package readfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// ErrTooLarge is the cause of every error about more bytes than a caller allows.
var ErrTooLarge = errors.New("too large")

// Regular reads a regular file of at most limit bytes.
func Regular(path string, limit int) ([]byte, error) {
	data, _, err := Version(path, limit)
	return data, err
}

// Version is Regular, and says which version of the file it has read. That is looked up before the content, so that a
// change in between is found by the next look.
func Version(path string, limit int) ([]byte, fs.FileInfo, error) {
	// Before it is opened: to open a pipe is to wait for its writer already.
	info, err := os.Stat(path)
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		e.Op = "open" // which is what the caller wants
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
	defer func() { _ = file.Close() }() // it was only read
	if info, err = file.Stat(); err == nil {
		err = fits(path, info, limit)
	}
	if err != nil {
		return nil, nil, err
	}
	data, err := All(file, path, limit) // the size that a file gives is not always what can be read of it
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

// All reads r to its end, which must come within limit bytes. The name is for messages.
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
