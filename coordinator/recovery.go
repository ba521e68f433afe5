package coordinator

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// recoveriesMax bounds the failed attempts to read or write a journal before its run is parked: about five seconds.
const recoveriesMax = 10

// recover makes the stepper if there is none: for a new run with an empty root, otherwise from the journal. It returns false if the
// run leaves memory.
func (r *run) recover(ctx context.Context) bool {
	if r.step != nil {
		return true
	}
	entry, root, ok := r.reread(ctx)
	if !ok {
		return false
	}
	r.seq = root.Seq()
	r.setRoot(entry, root, root.At())
	if r.calls.Ring == nil { // a run that is not durable yet has the ring of its start
		if ring := r.engine.ringOf(ctx, root); ring != nil {
			r.calls.Ring = ring // calls under way read the field, so nil is not written
		}
	}
	if !r.inbox.Holds(journal.NodeRetried) && r.finish() {
		return false
	}
	r.more = true
	if entry.Missing == nil {
		r.engine.parked.Remove(r.id)
		r.resume(ctx)
		return true
	}
	if r.inbox.Holds(journal.RunMoved) {
		return true // the new workflow may lack nothing: the next turn carries out the move
	}
	r.err = entry.Missing
	return false
}

// ringOf returns the ring for the secrets of a run and of those above it; nil if there are none.
func (e *Engine) ringOf(ctx context.Context, root *reactive.Root) *keychain.Ring {
	start := root.Start()
	if start == nil {
		return nil
	}
	return e.rings.Of(ctx, start.Run, root.Plan().Workflow, reader.Workload(root), start.Dir)
}

// reread makes the root from the journal. It retries errors that may pass for a while; all others park the run.
func (r *run) reread(ctx context.Context) (*registry.Entry, *reactive.Root, bool) {
	for tries := 1; ; tries++ {
		r.learned = r.engine.registry.Learned()
		entry, root, err := r.engine.reader.Replay(context.WithoutCancel(ctx), r.id, r.entry)
		if err == nil {
			return entry, root, true
		}
		if reader.Lasting(err) || tries == recoveriesMax {
			r.err = err
			return nil, nil, false
		}
		if !r.backoff.Wait(ctx) {
			return nil, nil, false
		}
	}
}

// survive handles a failed append. It parks the run if the store rejects the write for good or has done so recoveriesMax times; otherwise
// it lets the run recover from its journal, and keeps all items.
func (r *run) survive(ctx context.Context, err error) bool {
	if r.refusals++; reader.Lasting(err) || errors.Is(err, journal.ErrPartly) || r.refusals == recoveriesMax {
		r.err = fmt.Errorf("append run %s: %w", r.id, err)
		r.host.GiveUp(r.step.Room())
		return false
	}
	r.engine.config.Logger.Warn("append failed, trying again", "run", r.id, "error", err)
	r.rewind()
	return r.backoff.Wait(ctx)
}

// rewind drops decisions that are not durable, and puts their items back, to be applied once the run has been recovered.
func (r *run) rewind() {
	if r.step != nil {
		r.host.GiveUp(r.step.Room())
		r.step = nil
	}
	r.inbox.PutBack(r.pending, r.ended)
	r.pending, r.ended = nil, nil
}
