package observe

import (
	"context"
	"errors"
	"iter"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/live"
)

// Live maintains signals of a run's steps, which follow the journal until the run ends. It calls setup once, with the current
// state, to make computeds and effects, and, after the run was moved to another workflow, again with the signals of that; these run on the goroutine of the caller of Live, one event at a time, so they need no
// locks.
//
// Live returns nil when the run has ended, or ctx's error if ctx ends first, joined with the errors of setup and of the
// effects. It disposes of everything made on the signals. For a run that has already ended, the signals show the end.
func Live(ctx context.Context, run *coordinator.Run, setup func(s *live.Signals) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	here, err := run.Last(ctx)
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(run.Roots(ctx))
	defer stop()
	var mirror *live.Signals
	var of *reactive.Root
	for {
		root, err, ok := next()
		if !ok || err != nil {
			return errors.Join(err, close(mirror))
		}
		if mirror != nil && root != of { // the run was moved
			if err := close(mirror); err != nil {
				return err
			}
			mirror = nil
		}
		if mirror == nil && root.Seq() >= here {
			mirror, of = live.Of(root), root
			if err := setup(mirror); err != nil {
				return errors.Join(err, close(mirror))
			}
		}
	}
}

// close disposes of a mirror, and returns the errors of its effects.
func close(mirror *live.Signals) error {
	if mirror == nil {
		return nil
	}
	return errors.Join(mirror.Err(), mirror.Graph().Root().Dispose())
}
