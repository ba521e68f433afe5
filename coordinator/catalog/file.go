package catalog

import (
	"context"
	"fmt"
	"io"

	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/value"
)

// CheckFile refuses a file of runs if a workflow in it uses a kind that is not allowed: runs can go on under it, be repeated, and
// move to it. Other faults of the file are found when it is imported.
func (a Allow) CheckFile(ctx context.Context, file io.Reader) error {
	for item, err := range archive.NewReader(file).Items() {
		if err != nil {
			return nil // the import finds it, too
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if item.Definition == nil {
			continue
		}
		if err := a.definition(item.Definition.Value); err != nil {
			return fmt.Errorf("%w; nothing was imported", err)
		}
	}
	return nil
}

// definition refuses a stored workflow that uses a kind that is not allowed. The workflows that it starts are stored, too, so no file is
// read for them.
func (a Allow) definition(stored any) error {
	data, err := value.JSON(stored)
	if err != nil {
		return err
	}
	w, err := kinds.ParseStored(data)
	if err != nil {
		return fmt.Errorf("%w: a workflow cannot be read, so its bindings are unknown: %w", ErrNotAllowed, err)
	}
	return a.workflow(w, func(string) bool { return true })
}
