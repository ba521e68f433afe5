package observe

import (
	"context"
	"errors"
	"iter"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/live"
)

// Live keeps a mirror of a run: signals of its steps, which follow the journal until the run ends. setup is called once, with
// the run as it stands, and makes computeds and effects; what comes of them runs on the goroutine that has called Live, one
// event at a time, so they need no locks.
//
// Live returns nil when the run has ended, ctx's error when that ends first, and beside either what setup or the effects have
// returned. Everything that was made on the signals ends with it. A run that has ended already is shown as it ended.
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
	for {
		root, err, ok := next()
		if !ok || err != nil {
			return errors.Join(err, close(mirror))
		}
		if mirror == nil && root.Seq() >= here {
			mirror = live.Of(root)
			if err := setup(mirror); err != nil {
				return errors.Join(err, close(mirror))
			}
		}
	}
}

// close disposes of what was made on a mirror, and returns what its effects have returned.
func close(mirror *live.Signals) error {
	if mirror == nil {
		return nil
	}
	return errors.Join(mirror.Err(), mirror.Graph().Root().Dispose())
}
