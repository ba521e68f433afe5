package records

import (
	"errors"
	"fmt"

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
	real  bool // files is the operating system's, which tells files apart
	held  []held
}

// NewPlace returns a Place without files. Real says that files is the operating system's.
func NewPlace(files vfs.FS, real bool) Place { return Place{files: files, real: real} }

// Hold records the directory and its files.
func (p *Place) Hold(dir string) error {
	for _, name := range []string{"", LockName, MarkName, DatabaseName, LogName} {
		path := p.files.PathJoin(dir, name)
		id, err := p.identify(path)
		if err != nil {
			return err
		}
		p.held = append(p.held, held{path, id})
	}
	return nil
}

// Gone returns an error if a held file is not in its place: writes would go to files without a name, or of another store.
func (p *Place) Gone() error {
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
	return nil
}

func (p *Place) identify(path string) (id identity, err error) {
	if p.real {
		return identify(path)
	}
	_, err = p.files.Stat(path)
	return id, err
}
