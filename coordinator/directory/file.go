package directory

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Config configures how a File is kept up to date. The zero value is usable.
type Config struct {
	CheckEvery time.Duration // minimum time between checks of the file. Default: 1 s
	Logger     *slog.Logger  // logs new versions and broken ones. Default: slog.Default()
}

const checkEveryDefault = time.Second

// clockGrain is the time in which two changes may leave the same modification time: some file systems count in steps of two
// seconds. A file that was younger when read is read again.
const clockGrain = 2 * time.Second

// File is a directory in a YAML or JSON file, which may change at any time:
//
//	participants: {provider-a: {endpoint: "http://127.0.0.1:9001"}}
//	capabilities:
//	  offer-catalog: [{participant: provider-a, valid_until: 2027-01-01T00:00:00Z}]
//
// The first use after CheckEvery has passed compares time, size and identity of the file, and reads it if they have changed;
// concurrent uses go on with the current version. A version that cannot be read is logged once, and the previous one stays in
// use. So replace the file by renaming a complete one over it.
//
// A File has no goroutine and keeps no file open. It is safe for concurrent use.
//
// Invariants:
//
//  1. current is never nil, and always a version that was read and checked as a whole;
//  2. only the holder of mu reads the file and changes the fields below it.
type File struct {
	path    string
	every   time.Duration
	logger  *slog.Logger
	opened  time.Time
	current atomic.Pointer[template.Directory]
	due     atomic.Int64 // nanoseconds since opened of the next check

	mu      sync.Mutex
	seen    fs.FileInfo       // of the last version read, or nil if it must be read again
	content [sha256.Size]byte // of the last version whose bytes were read, broken or not
	fault   string            // fault of a broken version that was logged; "" for none
}

// Open reads a directory from a file. It returns all faults of the document as document.Errors, besides errors of the file
// system.
func Open(path string, config Config) (*File, error) {
	f := &File{path: path, every: config.CheckEvery, logger: config.Logger, opened: time.Now()}
	if f.every <= 0 {
		f.every = checkEveryDefault
	}
	if f.logger == nil {
		f.logger = slog.Default()
	}
	f.logger = usercode.Logger(f.logger)
	f.due.Store(int64(f.every))
	d, err := f.read()
	if err != nil {
		return nil, fmt.Errorf("open directory: %w", err)
	}
	f.current.Store(d)
	return f, nil
}

// Participant returns the data about a participant; see Directory.
func (f *File) Participant(id string) (value.Value, bool) { return f.latest().Participant(id) }

// Passports returns the passports for a capability; see Directory.
func (f *File) Passports(capability string) []template.Passport {
	return f.latest().Passports(capability)
}

// latest returns the current version, after a check of the file if one is due. One caller checks; concurrent callers do not wait
// for the disk.
func (f *File) latest() Directory {
	if int64(time.Since(f.opened)) >= f.due.Load() && f.mu.TryLock() {
		if now := int64(time.Since(f.opened)); now >= f.due.Load() {
			f.refresh()
			f.due.Store(call.After(now, f.every))
		}
		f.mu.Unlock()
	}
	return Of(f.current.Load())
}

// refresh switches to the file's current version if it is new and can be read.
func (f *File) refresh() {
	if info, err := os.Stat(f.path); err == nil && f.seen != nil && isSameVersion(f.seen, info) {
		return
	}
	d, err := f.read()
	switch {
	case err != nil:
		if f.fault != err.Error() {
			f.fault = err.Error()
			f.logger.Warn("the directory cannot be read; the previous version stays in use", "file", f.path, "error", err)
		}
	case d != f.current.Load():
		f.fault = ""
		f.current.Store(d)
		f.logger.Info("the directory has been read again", "file", f.path,
			"participants", len(d.Participants), "capabilities", len(d.Capabilities))
	}
}

// isSameVersion reports whether two results of Stat describe the same version of the file.
func isSameVersion(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// read reads the file and records its version. It returns the current version if the content is the same.
func (f *File) read() (*template.Directory, error) {
	f.seen = nil
	data, info, err := readfile.Version(f.path, document.BytesMax)
	if err != nil {
		return nil, err
	}
	if time.Since(info.ModTime()) > clockGrain {
		f.seen = info
	}
	before := f.content
	f.content = sha256.Sum256(data)
	if f.content == before && f.fault == "" {
		return f.current.Load(), nil
	}
	return parse(f.path, data)
}

// parse reads the one document of a file.
func parse(path string, data []byte) (*template.Directory, error) {
	nodes, err := document.Parse(path, data, document.Limits{})
	if err != nil {
		return nil, err
	}
	if len(nodes) > 1 {
		return nil, document.Errors{{Pos: nodes[1].Pos, Msg: "a second document in the file of a directory"}}
	}
	return template.ParseDirectory(nodes[0])
}
