package feed

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/find"
)

// Options select the frames that an observer of one run receives.
type Options struct {
	View   View     // "": Steps
	Open   []string // of the view Steps: keys of the maps whose items it wants, too; EveryMap: all
	Resume bool     // it has seen the events up to After, and needs no snapshot
	After  uint64   // sequence
}

// Hub has the watchers of an engine's runs. It is safe for concurrent use.
type Hub struct {
	engine *coordinator.Engine
	ctx    context.Context
	cancel context.CancelFunc
	all    sync.WaitGroup

	mu     sync.Mutex
	topics map[string]*topic // of runs that are observed
	runs   *changes          // of all runs; nil: they have no observer

	encoded atomic.Int64 // events and heads that were encoded for the shared lists, for tests
	joined  atomic.Int64 // updates that were joined from encoded events
}

// New returns the hub of an engine. Close ends it.
func New(engine *coordinator.Engine) *Hub {
	h := &Hub{engine: engine, topics: map[string]*topic{}}
	h.ctx, h.cancel = context.WithCancel(context.Background())
	return h
}

// Close ends all watchers; observers then return coordinator.ErrShutdown.
func (h *Hub) Close() {
	h.cancel()
	h.all.Wait()
}

// await returns when there may be more frames. It returns an error if ctx or the hub has ended.
func (h *Hub) await(ctx context.Context, grown <-chan struct{}) error {
	select {
	case <-grown:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-h.ctx.Done():
		return coordinator.ErrShutdown
	}
}

// Run observes a run. The observer must be closed.
func (h *Hub) Run(ctx context.Context, id string, o Options) (*Observer, error) {
	wants, err := newWants(o.View, o.Open)
	if err != nil {
		return nil, err
	}
	run, err := h.engine.Run(ctx, id)
	if err != nil {
		return nil, err
	}
	if o.View == Net {
		if err := h.checkNet(ctx, id); err != nil {
			return nil, err
		}
	}
	last, err := run.Last(ctx)
	if err == nil && o.Resume && o.After > last {
		err = fmt.Errorf("%w: it has %d events, and is to be resumed behind event %d", ErrAhead, last, o.After)
	}
	if err != nil {
		return nil, err
	}
	return &Observer{hub: h, run: run, topic: h.join(run, last), least: last, wants: wants, pos: o.After, begun: o.Resume}, nil
}

// checkNet refuses a run that is known to have no net.
func (h *Hub) checkNet(ctx context.Context, id string) error {
	head, err := find.Head(ctx, h.engine, id)
	if err == nil && head.Kind != "" && head.Kind != "Playbook" {
		err = fmt.Errorf("%w: run %s has no net: only the run of a playbook has one", coordinator.ErrNotPossible, id)
	}
	return err
}

// join counts one more observer of a run, and returns its topic.
func (h *Hub) join(run *coordinator.Run, last uint64) *topic {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[run.ID()]
	if t == nil {
		t = newTopic(h, run, last)
		h.topics[run.ID()] = t
		h.all.Go(t.watch)
	}
	t.observers++
	return t
}

// leave counts one observer less. When the last one leaves, the watcher ends.
func (h *Hub) leave(t *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.observers--; t.observers == 0 {
		t.cancel()
		h.forget(t)
	}
}

// retire makes later observers begin a new topic: this one has ended.
func (h *Hub) retire(t *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.forget(t)
}

func (h *Hub) forget(t *topic) {
	if h.topics[t.run.ID()] == t {
		delete(h.topics, t.run.ID())
	}
}
