package lists

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// Export writes runs as lines of JSON, each with the runs that its calls have started: see package archive for the format. Runs go on
// meanwhile. Import reads them back, here or elsewhere, as the same bytes.
func (l Lists) Export(ctx context.Context, w io.Writer, runs ...string) error {
	if err := l.engine.CheckOpen(); err != nil {
		return err
	}
	return l.engine.ReadError(ctx, l.moves.Export(ctx, w, runs...))
}

// Import writes the runs of an exported file into the store, or refuses the file as a whole: then the error wraps archive.ErrRefused
// and names the line. A run that the store has with the same content is confirmed, and one with other content refused. Runs that
// have not ended are held: no engine drives them before Run.Resume, because the process from which they come may still do so. If the file
// could not be written to its end, runs may be incomplete: see ErrIncomplete. Import records the actor, a person or a program.
func (l Lists) Import(ctx context.Context, file io.ReaderAt, actor string) ([]transfer.Imported, error) {
	if err := l.engine.CheckOpen(); err != nil {
		return nil, err
	}
	runs, err := l.moves.Import(ctx, file, actor)
	return runs, l.engine.ReadError(ctx, err)
}

// Held reports whether a run, or the run to which it belongs, is held since it was imported.
func (l Lists) Held(run string) bool { return l.moves.Holds.Has(run) }

// Incomplete reports whether a run is held because its import, or the import of the run to which it belongs, goes on or was interrupted.
func (l Lists) Incomplete(run string) bool { return l.moves.Holds.Incomplete(run) }

// Backup makes a copy of the store in a directory, which must be missing or empty and may not be within the store's own, while runs go
// on. The copy has everything that was durable when Backup was called. It returns decide.ErrNotPossible if the store is in
// memory.
func (l Lists) Backup(ctx context.Context, dir string) error {
	if err := l.engine.CheckOpen(); err != nil {
		return err
	}
	store, ok := l.store.(interface{ Backup(dir string) error })
	if !ok {
		return fmt.Errorf("%w: the store is not in a folder", decide.ErrNotPossible)
	}
	if err := store.Backup(dir); err != nil {
		return l.engine.ReadError(ctx, errors.Join(err, ctx.Err()))
	}
	return nil
}
