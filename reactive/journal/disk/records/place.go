package records

import (
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// held identifies the files that must stay in place while a store is open.
type held struct {
	path string
	id   identity
}

// Place is a directory whose files must stay in place while a store is open.
type Place struct {
	files vfs.FS
	real  bool   // files is the operating system's, so files can be identified
	held  []held // the directory first
	seen  atomic.Pointer[sight]
}

// sight is the result of a check that has found every file in its place.
type sight struct {
	at      time.Time
	changed int64 // the directory's time of change before the check
}

// A sight holds for sightHolds while the directory's time of change is the same: removing or renaming a file in it changes that time,
// but a mount over a file does not. A recent time of change proves nothing, because the directory may change again at the same time:
// file systems count in steps of up to 10 ms, and the clocks of two machines differ.
const (
	sightHolds  = time.Second
	changeSteps = 100 * time.Millisecond
)

// NewPlace returns a Place without files. real is true if files is the operating system's.
func NewPlace(files vfs.FS, real bool) *Place { return &Place{files: files, real: real} }

// Hold records the directory and its files.
func (p *Place) Hold(dir string) error {
	for _, name := range []string{"", LockName, MarkName, DatabaseName} {
		path := p.files.PathJoin(dir, name)
		id, err := p.identify(path)
		if err != nil {
			return err
		}
		p.held = append(p.held, held{path, id})
	}
	return nil
}

// Gone returns an error if a held file is not in its place: writes would go to files without a name, or to another store. Many
// goroutines may call it. Each commit calls it, so it checks only the directory if possible.
func (p *Place) Gone() error {
	changed, stands := p.directory()
	if s := p.seen.Load(); s != nil && stands && s.changed == changed && time.Since(s.at) < sightHolds {
		return nil
	}
	for _, h := range p.held {
		id, err := p.identify(h.path)
		if err == nil && (!p.real || id.is(h.id)) {
			continue
		}
		if err == nil {
			err = errors.New("another file has its place")
		}
		return fmt.Errorf("%w: %s is gone: it was removed, renamed or unmounted while this process worked with it; put it back "+
			"and open the journal again: %w", journal.ErrReadOnly, h.path, err)
	}
	if now := time.Now(); stands && now.UnixNano()-changed > int64(changeSteps) {
		p.seen.Store(&sight{now, changed})
	}
	return nil
}

// directory returns the directory's time of change in nanoseconds. It reports whether the time is known and the directory is in
// its place.
func (p *Place) directory() (changed int64, stands bool) {
	if !p.real || len(p.held) == 0 {
		return 0, false
	}
	id, changed, err := identifyChanged(p.held[0].path)
	return changed, err == nil && changed != 0 && id.is(p.held[0].id)
}

func (p *Place) identify(path string) (id identity, err error) {
	if p.real {
		return identify(path)
	}
	_, err = p.files.Stat(path)
	return id, err
}
