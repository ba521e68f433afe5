package records

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// held identifies the files that must stay in place while a store is open.
type held struct {
	path string
	info fs.FileInfo
}

// Place is a directory whose files must stay in place while a store is open.
type Place struct {
	files vfs.FS
	real  bool // files is the operating system's, which tells files apart
	held  []held
}

// NewPlace returns a Place without files. Real says that files is the operating system's.
func NewPlace(files vfs.FS, real bool) Place { return Place{files: files, real: real} }

// Hold records the files of the directory.
func (p *Place) Hold(dir string) error {
	for _, name := range []string{"", LockName, MarkName, DatabaseName} {
		path := p.files.PathJoin(dir, name)
		info, err := p.stat(path)
		if err != nil {
			return err
		}
		p.held = append(p.held, held{path, info})
	}
	return nil
}

// Gone returns an error if a held file is not in its place: writes would go to files without a name, or of another store.
func (p *Place) Gone() error {
	for _, h := range p.held {
		info, err := p.stat(h.path)
		if err == nil && (!p.real || os.SameFile(info, h.info)) {
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

func (p *Place) stat(path string) (fs.FileInfo, error) {
	if p.real {
		return os.Stat(path)
	}
	return p.files.Stat(path)
}
