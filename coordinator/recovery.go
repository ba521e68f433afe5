package coordinator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// recoveriesMax is how often a journal is read, or written, in vain before its run is parked: for about five seconds.
const recoveriesMax = 10

// recover makes the root, unless it is there: a new run's is empty, any other's follows from the journal. It reports
// false when there is nothing to drive.
func (r *run) recover(ctx context.Context) bool {
	if r.step != nil {
		return true
	}
	entry, root, ok := r.reread(ctx)
	if !ok {
		return false
	}
	r.seq = root.Seq()
	r.adopt(entry, root, root.At())
	if body := root.Body(); body != nil && r.calls.Ring == nil {
		r.calls.Ring = keychain.New(root.Plan().Workflow, body.Workload(), r.engine.config.SecretTimeout)
	}
	if !r.inbox.Holds(journal.NodeRetried) && r.finish() {
		return false
	}
	if r.err = entry.Missing; r.err != nil {
		return false
	}
	r.engine.parked.Leave(r.id)
	r.more = true
	r.resume(ctx)
	return true
}

// reread reads the journal. What may be otherwise the next time is tried again, for a while; anything else parks the run.
func (r *run) reread(ctx context.Context) (*registry.Entry, *reactive.Root, bool) {
	for tries := 1; ; tries++ {
		r.known = r.engine.registry.Learned()
		entry, root, err := r.engine.reader.Replay(context.WithoutCancel(ctx), r.id, r.entry)
		if err == nil {
			return entry, root, true
		}
		if reader.Lasting(err) || tries == recoveriesMax {
			r.err = err
			return nil, nil, false
		}
		if !r.pause(ctx) {
			return nil, nil, false
		}
	}
}

// survive decides what a failed append means. A store that takes no more from us, or has not for as long as recoveriesMax
// says, parks the run, and the journal stays as it is; until then it is tried again from what the journal says, with nothing
// lost that came in.
func (r *run) survive(ctx context.Context, err error) bool {
	if r.refusals++; reader.Lasting(err) || errors.Is(err, errHalf) || r.refusals == recoveriesMax {
		r.err = fmt.Errorf("append run %s: %w", r.id, err)
		r.host.GiveUp(r.step.Room())
		return false
	}
	r.engine.config.Logger.Warn("append failed, trying again", "run", r.id, "error", err)
	r.rewind()
	return r.pause(ctx)
}

// rewind forgets what was decided and is not durable. What came in is put back, to be looked at again when the run has been
// made anew from its journal.
func (r *run) rewind() {
	if r.step != nil {
		r.host.GiveUp(r.step.Room())
		r.step = nil
	}
	r.inbox.PutBack(r.pending, r.landed)
	r.pending, r.landed = nil, nil
}

// pause waits, longer each time, before something is tried again. It reports false when the engine shuts down.
func (r *run) pause(ctx context.Context) bool {
	r.backoff = min(max(2*r.backoff, 10*time.Millisecond), time.Second)
	timer := time.NewTimer(r.backoff)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
