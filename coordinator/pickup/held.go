package pickup

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Admit reports whether a command, which is not journaled, releases a held run: see Release. For a held run it refuses all commands
// except those that resume or cancel it; if the run is incomplete, it refuses these, too.
func (r *Runs) Admit(run string, command *journal.Event) (releases bool, err error) {
	if err := r.held.Check(run); err != nil {
		return false, err
	}
	if !r.held.Has(run) || command.Type == journal.RunCancelled {
		return false, nil
	}
	switch parent := journal.ParentRun(run); {
	case command.Type != journal.RunResumed:
		return false, fmt.Errorf("%w: run %s is held since it was imported; once no other process goes on with it, resume it here", decide.ErrNotPossible, run)
	case parent != "":
		return false, fmt.Errorf("%w: run %s is held with the run that has started it; resume that one", decide.ErrNotPossible, run)
	}
	return true, nil
}

// Release carries out the command, with the detail d, that releases a held run: the run and those that belong to it may be taken up then.
func (r *Runs) Release(ctx context.Context, run string, d *journal.Detail) error {
	return r.held.LiftFor(ctx, d.ID, d.Actor, run)
}
