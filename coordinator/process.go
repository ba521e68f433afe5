package coordinator

import (
	"context"
	"time"

	"github.com/sluiceflow/sluice/coordinator/answering"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/commands"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/moving"
	"github.com/sluiceflow/sluice/coordinator/notes"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/parking"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/coordinator/starting"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// process implements the interfaces through which the parts of the engine use it.
type process struct{ *Engine }

var (
	_ answering.Runs  = process{}
	_ children.Engine = process{}
	_ commands.Engine = process{}
	_ moving.Engine   = process{}
	_ notes.Engine    = process{}
	_ parking.Engine  = process{}
	_ reader.Process  = process{}
	_ rerun.Engine    = process{}
	_ starting.Engine = process{}
)

// The state of the engine.

func (p process) Now() int64                                     { return p.clock.Now() }
func (p process) CheckOpen() error                               { return p.checkOpen() }
func (p process) ReadError(ctx context.Context, err error) error { return p.readError(ctx, err) }
func (p process) Report(what, run string, err error)             { p.report(what, run, err) }
func (p process) Go(f func())                                    { p.loops.Go(f) }
func (p process) Draining() context.Context                      { return p.draining }
func (p process) Shut() <-chan struct{}                          { return p.end.Shut() }

func (p process) Ending() error {
	if p.shutting() {
		return ErrShutdown
	}
	return nil
}

// The limits of a run, and its resources in the process.

func (p process) EventsMax() int { return p.config.Limits.OfRun().EventsMax }

func (p process) Cells() cells.Cache {
	return cells.Cache{Cells: p.config.CellsInMemory, Bytes: p.config.CellBytesInMemory}
}

func (p process) ForWorker(run, operation string) string { return p.workers.Explain(run, operation) }
func (p process) Unserved(operation string) time.Time    { return p.workers.Unserved(operation) }

func (p process) Host(run string, entry *registry.Entry, root *reactive.Root) decide.Host {
	return p.HostFor(run, entry, root)
}

func (p process) HostFor(run string, entry *registry.Entry, root *reactive.Root) *pool.Host {
	calls := newRun(p.Engine, run).calls
	return pool.NewHost(&calls, entry, root, p.config.Limits.OfRun())
}

func (p process) Ring(ctx context.Context, root *reactive.Root) *keychain.Ring {
	return p.ringOf(ctx, root)
}

// The places of a run: the store, memory, and the parked runs.

func (p process) Exists(ctx context.Context, run string) (bool, error) { return p.exists(ctx, run) }
func (p process) Drives(run string) bool                               { return p.driven.Has(run) }
func (p process) ParkedFor(run string) error                           { return p.parked.Reason(run) }
func (p process) Tried(run string) <-chan struct{}                     { return p.parked.Tried(run) }

func (p process) Holds(run string) bool { return p.active(run) != nil || p.parked.At(run) != nil }

func (p process) Parked(ctx context.Context, run string) error { return p.parked.ParkedNow(ctx, run) }

func (p process) Active(run string) (durable, unloaded <-chan struct{}) {
	if r := p.active(run); r != nil {
		return r.durable, r.unloaded
	}
	return nil, nil
}

func (p process) Driven(run string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && p.driven.Has(run)
}

func (p process) Outside(run string, f func()) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.runs[run] != nil {
		return false
	}
	f()
	return true
}

func (p process) LoadIf(run string, wanted func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wanted() && !p.closed {
		p.load(run)
	}
}

// Methods that act on a run.

func (p process) PickUp(ctx context.Context, run string) error { return p.pickUp(ctx, run) }

func (p process) Look(ctx context.Context, run string, look func(*reactive.Root)) error {
	return requests{&Run{engine: p.Engine, id: run}}.Look(ctx, look)
}

func (p process) Take(ctx context.Context, run, actor string, command journal.Event) error {
	_, err := requests{p.handle(run, actor)}.Take(ctx, command)
	return err
}

func (p process) Command(ctx context.Context, run string, command journal.Event, reply func(error)) error {
	return p.deliver(ctx, run, decide.Item{Event: command, Reply: reply})
}

func (p process) Note(ctx context.Context, run string, command journal.Event) error {
	_, err := p.notes.Take(ctx, run, command)
	return err
}

func (p process) Begin(ctx context.Context, entry *registry.Entry, input any, child children.Start) error {
	_, err := p.begin(ctx, entry, input, starting.Options{
		ID: child.ID, Parent: child.Call, Identity: child.Identity, Dir: child.Dir, From: child.From, Kept: child.Kept,
	})
	return err
}

func (p process) Wait(ctx context.Context, run string) (*Result, error) {
	return p.handle(run, "").Wait(ctx)
}

func (p process) Cancel(ctx context.Context, run, reason string) error {
	return p.handle(run, "").Cancel(ctx, reason)
}

func (p process) Lifted(ctx context.Context, run, act string) (bool, error) {
	return p.driven.Holds().Lifted(ctx, run, act)
}

func (p process) SweepContent(ctx context.Context, run string, dry bool) (int, error) {
	_, deleted, err := p.handle(run, "").Sweep(ctx, dry)
	return deleted, err
}

func (p process) WatchDefinitions() (func(string) bool, func()) { return p.registry.Watch() }

func (p process) CallChild(call *operation.Call, find func(context.Context) (*registry.Entry, error)) (any, error) {
	return p.children.CallChild(call, find)
}
