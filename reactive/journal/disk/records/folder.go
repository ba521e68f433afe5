package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/shield"
)

// Names in a store's directory.
const (
	LockName     = "LOCK"    // locked by the process that has the directory open
	VersionName  = "VERSION" // see CheckVersion
	MarkName     = "COMMIT"  // see Mark
	DatabaseName = "db"      // Pebble's directory
)

// NewestVersion is the version of the layout of a store's directory. Version 1 has no indexes and no change log.
const NewestVersion = 2

const versionFormat = "sluice journal %d\n"

// CheckVersion reads the version file of a directory and returns the version, or writes it if the directory is new: see MakeFolder.
// The file is written first, so a program that does not know the version changes nothing.
func CheckVersion(files vfs.FS, dir string) (version int, err error) {
	path := files.PathJoin(dir, VersionName)
	text, err := ReadFile(files, path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return NewestVersion, WriteVersion(files, dir)
	case errors.Is(err, journal.ErrDamaged):
		return 0, fmt.Errorf("%w. %s", err, lost)
	case err != nil:
		return 0, err
	}
	n, _ := fmt.Sscanf(string(text), versionFormat, &version)
	switch {
	case n == 1 && version > NewestVersion:
		return 0, fmt.Errorf("%w: directory of version %d, and this program reads %d; use a later version of the program", journal.ErrVersion, version, NewestVersion)
	case n != 1 || version < 1 || string(text) != fmt.Sprintf(versionFormat, version):
		return 0, fmt.Errorf("%w: %s holds %.40q. %s", journal.ErrDamaged, path, text, lost)
	}
	return version, nil
}

// WriteVersion writes the version of this program.
func WriteVersion(files vfs.FS, dir string) error {
	return CreateFile(files, dir, VersionName, fmt.Appendf(nil, versionFormat, NewestVersion))
}

// CreateFile creates a file, which is complete or missing after a crash.
func CreateFile(files vfs.FS, dir, name string, content []byte) error {
	path := files.PathJoin(dir, name)
	temporary := path + ".new"
	f, err := files.Create(temporary, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = files.Rename(temporary, path); err != nil {
		return err
	}
	return shield.SyncDir(files, dir)
}

// OpenError converts an error of Pebble on opening a database. It is damage if the files are inconsistent, which Pebble does not
// always report as corruption, or if a file is missing or is a directory. Other errors of the system are not damage.
func OpenError(err error) error {
	var errno syscall.Errno
	ofSystem := errors.As(err, &errno) && !slices.Contains([]syscall.Errno{syscall.ENOENT, syscall.EISDIR, syscall.ENOTDIR}, errno)
	if err == nil || ofSystem || errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrReadOnly) {
		return err
	}
	return fmt.Errorf("%w: %w", journal.ErrDamaged, err)
}

// Missing returns an error if a directory without a database has had one: commits were acknowledged, or there are tables, which
// a new database would delete. A process that dies while it makes a database leaves no tables.
func Missing(files vfs.FS, dir string, marked uint64) error {
	if marked > 0 {
		return fmt.Errorf("%w: %s holds no database, but commit %d was acknowledged", journal.ErrDamaged, dir, marked)
	}
	names, err := files.List(dir)
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			return fmt.Errorf("%w: %s holds no database, but a table: %s", journal.ErrDamaged, dir, name)
		}
	}
	return err
}

// smallFileMax bounds the bytes read of a version or a mark. Each has a few dozen.
const smallFileMax = 4 << 10

// ReadFile reads a small file, and stops at smallFileMax.
func ReadFile(files vfs.FS, path string) ([]byte, error) {
	info, err := files.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%w: %s is no regular file", journal.ErrDamaged, path)
	}
	if err != nil {
		return nil, err
	}
	f, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, smallFileMax+1))
	if err == nil && len(text) > smallFileMax {
		err = fmt.Errorf("%w: %s has more than %d bytes", journal.ErrDamaged, path, smallFileMax)
	}
	return text, err
}

// Mark is a small file with the number of the last acknowledged commit. Pebble reads invalid data at the end of a log as a torn
// end after a crash, and opens without it; the mark reveals the loss. A store with fewer commits than its mark has lost
// acknowledged ones.
//
//	┌──────────────┬─────────────────────┐
//	│ number (8)   │ CRC-32C of it (4)   │
//	└──────────────┴─────────────────────┘
//
// It is written after each sync but not synced itself: that costs a microsecond instead of doubling the cost of a commit.
// After the death of only the process, the mark is exact. After the death of the machine, it may be as old as the kernel's last
// write-back, usually half a minute: a loss of newer commits would not be detected, a loss of older ones would be. It is never
// ahead of the durable commits. Removing the file of a damaged store accepts the store as it is.
type Mark struct {
	f   vfs.File
	buf [markBytes]byte
}

const markBytes = 8 + 4

// OpenMark opens the mark and returns its number. If the mark does not exist, OpenMark creates it, with number 0.
func OpenMark(files vfs.FS, dir string) (m *Mark, number uint64, err error) {
	path := files.PathJoin(dir, MarkName)
	text, err := ReadFile(files, path)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = AppendMark(nil, 0), CreateFile(files, dir, MarkName, AppendMark(nil, 0))
	}
	if err != nil {
		return nil, 0, err
	}
	if number, err = MarkIn(text); err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	f, err := files.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, 0, err
	}
	return &Mark{f: f}, number, nil
}

// MarkIn returns the number in the content of a mark.
func MarkIn(text []byte) (uint64, error) {
	if len(text) != markBytes || binary.BigEndian.Uint32(text[8:]) != crc32.Checksum(text[:8], castagnoli) {
		return 0, fmt.Errorf("%w: the checksum of %s is wrong", journal.ErrDamaged, MarkName)
	}
	return binary.BigEndian.Uint64(text), nil
}

// AppendMark appends the content of a mark.
func AppendMark(dst []byte, number uint64) []byte {
	begin := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, number)
	return binary.BigEndian.AppendUint32(dst, crc32.Checksum(dst[begin:], castagnoli))
}

// Write replaces the number.
func (m *Mark) Write(number uint64) error {
	_, err := m.f.WriteAt(AppendMark(m.buf[:0], number), 0)
	return err
}

// Close syncs the mark and closes its file.
func (m *Mark) Close() error { return errors.Join(m.f.Sync(), m.f.Close()) }
