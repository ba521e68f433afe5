package coordinator

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/answering"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/clock"
	"github.com/sluiceflow/sluice/coordinator/closing"
	"github.com/sluiceflow/sluice/coordinator/commands"
	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/coordinator/lists"
	"github.com/sluiceflow/sluice/coordinator/moving"
	"github.com/sluiceflow/sluice/coordinator/notes"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/parking"
	"github.com/sluiceflow/sluice/coordinator/pickup"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/coordinator/residence"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/coordinator/starting"
	"github.com/sluiceflow/sluice/coordinator/tally"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/internal/goroutines"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// systemClock is the clock of new engines.
var systemClock = clock.System

// Engine runs workflows on a store. It is safe for concurrent use.
type Engine struct {
	lists.Lists // of the runs in the store: see there
	store       journal.Store
	config      Config
	clock       *clock.Clock
	alarms      *clock.Alarms // for the runs that left memory with a timer
	pool        *pool.Pool
	workers     *workers.Hub    // nil: there are none
	logs        *calllog.Logs   // of running calls
	tally       tally.Tally     // of journaled events
	ctx         context.Context // of all loops
	cancel      context.CancelCauseFunc
	draining    context.Context // ends when the engine begins to shut down
	drain       context.CancelFunc
	loops       *goroutines.Group
	content     sync.RWMutex // of the content of runs: see cells.Run

	mu     sync.Mutex
	runs   map[string]*run // in memory
	driven *pickup.Runs
	stay   *residence.Runs
	starts residence.Starts
	closed bool

	end      *closing.End
	registry *registry.Registry
	reader   *reader.Reader
	parked   *parking.Parker // runs that cannot go on in this process
	rings    *keychain.Rings
	children *children.Children
	starting *starting.Starts
	notes    *notes.Notes // for the runs that do not go on here
	taker    *commands.Taker
	mover    *moving.Mover
	reruns   *rerun.Rerunner
}

// New starts an engine on a store and goes on with the unfinished runs it finds there. The engine owns the store. Runs that
// only a timer, a message or a person can move stay on disk until then.
func New(ctx context.Context, store journal.Store, config Config) (*Engine, error) {
	if config.IdleTimeout <= 0 {
		config.IdleTimeout = idleTime
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	config.Logger = usercode.Logger(config.Logger)
	for _, name := range config.PassEnv {
		if err := operation.CheckVariable(name); err != nil {
			return nil, fmt.Errorf("Config.PassEnv: %w", err)
		}
	}
	config.Limits = config.Limits.Completed()
	e := &Engine{
		store: store, config: config, clock: clock.New(systemClock()), runs: map[string]*run{},
		end: closing.New(), logs: calllog.New(), loops: goroutines.New(),
	}
	held := holds.New(store)
	if e.driven = pickup.New(config.PickUp, held); config.NotesOnly {
		e.driven = pickup.None(held)
	}
	e.stay, e.starts = residence.New(config.RunsInMemory), residence.NewStarts()
	if config.Workers != nil {
		e.workers = workers.New(answering.New(process{e}, e.logs, config.Logger), config.Workers)
	}
	e.pool = pool.New(pool.Config{
		CallsMax: config.CallsMax, ProgramsMax: config.ProgramsMax, AnswersBytesMax: config.Limits.AnswersBytesMax, Directory: config.Directory,
		ActivationTimeout: config.ActivationTimeout, Verifier: config.Verifier, Workers: e.workers, Logs: e.logs,
	})
	e.alarms = clock.NewAlarms(e.clock)
	err := usercode.Call(func() (err error) {
		e.registry, err = registry.New(store, registry.Config{
			Operations: config.Operations, Workflows: config.Workflows, PassEnv: config.PassEnv, Children: process{e}, Loaded: config.Loaded,
			Machines: config.Machines, Workers: config.Workers != nil,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	e.draining, e.drain = context.WithCancel(context.Background())
	e.makeParts()
	e.loops.Go(func() { e.alarms.Run(e.ctx, e.wake) })
	e.loops.Go(func() { e.clock.Watch(e.ctx, e.checkTimers) })
	ready := false
	defer func() {
		if !ready { // also if PickUp has ended the goroutine
			_ = e.Shutdown(ctx)
		}
	}()
	if err := usercode.Call(func() error { return errors.Join(retention.Begin(ctx, store, e.clock.Now()), e.pickUp(ctx, "")) }); err != nil {
		return nil, fmt.Errorf("find unfinished runs: %w", err)
	}
	if !config.NotesOnly && config.PickUp == nil {
		bulk.GoOn(e.Acts)
	}
	ready = true
	return e, nil
}

// makeParts makes the parts of the engine that use the engine and one another.
func (e *Engine) makeParts() {
	config := &e.config
	e.reader = reader.New(e.ctx, e.store, e.registry, process{e})
	e.parked = parking.For(parking.Config{Context: e.ctx, Engine: process{e}, Reader: e.reader, Registry: e.registry, Logger: config.Logger})
	e.rings = keychain.NewRings(config.SecretTimeout, reader.Begun(e.reader))
	e.Lists = lists.New(e.store, e.reader, process{e}, transfer.Config{Registry: e.registry, Holds: e.driven.Holds(), Lock: &e.content})
	e.children = children.New(children.Config{
		Engine: process{e}, Reader: e.reader, Context: e.ctx, Draining: e.draining, Logger: config.Logger,
		DepthMax: config.Limits.DepthMax, DescendantsMax: config.Limits.DescendantsMax,
	})
	e.notes = notes.New(process{e}, e.reader, e.children)
	e.starting = starting.New(starting.Config{
		Engine: process{e}, Store: e.store, Registry: e.registry, Limits: config.Limits, OnBlocked: config.OnBlocked,
	})
	maker := rerun.Maker{Store: e.store, Registry: e.registry, Limits: config.Limits.OfRun(), Now: e.clock.Now, Host: process{e}.Host}
	e.reruns = &rerun.Rerunner{Maker: maker, Engine: process{e}, Holds: e.driven.Holds(), Starts: e.starting}
	e.taker = commands.New(commands.Config{
		Engine: process{e}, Reader: e.reader, Driven: e.driven, Parked: e.parked, Notes: e.notes, Logger: config.Logger,
	})
	e.mover = moving.New(moving.Config{
		Engine: process{e}, Reader: e.reader, Registry: e.registry, Driven: e.driven, Notes: e.notes, NodesMax: config.Limits.NodesMax,
	})
}

// pickUp takes up the unfinished runs: all, or a run that was held and those below it. It finds all before it loads the first, because a
// loaded parent claims its children.
func (e *Engine) pickUp(ctx context.Context, held string) error {
	found, err := e.driven.FindOf(ctx, e.store, held)
	if err != nil {
		return err
	}
	for run, reason := range found.Unreadable {
		e.parked.ParkAsleep(run, reason, nil, e.registry.Learned())
	}
	e.workers.Expect(found.Open)
	parentless := e.children.AddFound(found.Open)
	asleep := e.takeUp(found.Open, found.Later)
	e.loops.Go(func() { pickup.Survey(e.ctx, asleep, e.parked.Examine) })
	e.children.CancelOrphans(ctx, parentless)
	return nil
}

// takeUp loads the runs that do not sleep, and sets alarms for the others, which it returns, and for those that are due later.
func (e *Engine) takeUp(open []journal.Head, later journal.Position) (asleep []string) {
	for _, head := range open {
		e.mu.Lock()
		if head.Moves() || e.children.HasUnclaimed(head.Run) { // a pause does not end the calls in progress
			e.load(head.Run)
		} else if asleep = append(asleep, head.Run); head.Due > 0 {
			e.alarms.Set(head.Run, head.Due)
		}
		e.mu.Unlock()
	}
	if later.At > 0 {
		e.alarms.Set(pickup.AlarmOf(later), later.At)
	}
	return asleep
}

// Workers returns the hub at which workers take calls and deliver answers; nil if there are none, see Config.Workers.
func (e *Engine) Workers() *workers.Hub { return e.workers }

// Tally returns the counts of the events that this engine has journaled.
func (e *Engine) Tally() *tally.Tally { return &e.tally }

// Uses returns the use of the limits that the calls of all runs share.
func (e *Engine) Uses() []pool.Use { return e.pool.Uses() }

// Limits returns the bounds of each run.
func (e *Engine) Limits() Limits { return e.config.Limits }

// Moving reports whether a run may move without a command: a run is in memory, or a timer is due within a duration. A run that does not
// move leaves memory after Config.IdleTimeout.
func (e *Engine) Moving(within time.Duration) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs) > 0 || e.alarms.Within(within)
}

// Operation is a named implementation that steps call, as returned by operation.Define.
type Operation = registry.Operation

// InputError reports where a run's input violates the schema of its workflow.
type InputError = registry.InputError

// Register compiles a workflow and keeps its operations and Go functions, so that its runs can be recovered; runs that were
// parked because they lacked them go on. Start registers its workflow too. An operation's name has one implementation in the whole
// engine, and a Go function's name has one function in all definitions with the same hash; Register refuses to change either.
func (e *Engine) Register(w *template.Workflow) error {
	_, err := e.learn(w)
	return err
}

// Registry returns the engine's compiled workflows, for package parcel and others that start workflows found there; ErrShutdown once
// the engine has shut down.
func (e *Engine) Registry() (*registry.Registry, error) { return e.registry, e.checkOpen() }

// learn returns the entry of a workflow. It recovers panics: a tree made in Go may be malformed.
func (e *Engine) learn(w *template.Workflow) (entry *registry.Entry, err error) {
	switch {
	case e.shutting():
		return nil, ErrShutdown
	case w == nil:
		return nil, errors.New("coordinator: the workflow is nil")
	}
	before := e.registry.Learned()
	err = usercode.Call(func() (err error) {
		entry, err = e.registry.Add(w)
		return err
	})
	if e.registry.Learned() != before {
		e.parked.RetryMissing()
		e.checkTimers() // runs whose cells lacked a machine look again
	}
	return entry, err
}

// Run finds a run by its id, finished or not. It returns ErrRunNotFound if there is none.
func (e *Engine) Run(ctx context.Context, id string) (*Run, error) {
	ok, err := e.exists(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%w: %s", ErrRunNotFound, id)
	}
	return e.handle(id, ""), nil
}

// exists reports whether there is a run with that id. A run whose first record is damaged exists.
func (e *Engine) exists(ctx context.Context, id string) (bool, error) {
	if err := e.checkOpen(); err != nil {
		return false, err
	}
	if (process{e}).Holds(id) {
		return true, nil
	}
	ok, err := e.reader.Exists(ctx, id, e.clock.Now())
	return ok, e.readError(ctx, err)
}

func (e *Engine) shutting() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// enter adds a run to those in memory. It returns false if a run with this id is in memory already or the engine is shutting down.
func (e *Engine) enter(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.runs[r.id] != nil {
		return false
	}
	e.runs[r.id] = r
	e.stay.Count(len(e.runs))
	e.driven.Add(r.id)
	return true
}

// active returns the run with that id if it is in memory, otherwise nil.
func (e *Engine) active(id string) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[id]
}

// load starts the loop of a run, with items, unless the run is in memory already. The caller holds mu.
func (e *Engine) load(id string, items ...decide.Item) {
	if e.runs[id] != nil {
		return
	}
	e.parked.Retrying(id)
	r := newRun(e, id)
	r.inbox.Add(items...)
	e.runs[id] = r
	e.stay.Count(len(e.runs))
	e.loops.Reuse(func() { r.loop(e.ctx) })
}

// wake loads a run whose timer is due, or sets the next alarms.
func (e *Engine) wake(id string) {
	if behind, ok := pickup.Behind(id); ok {
		open, later, err := e.driven.Sleeping(e.ctx, e.store, behind)
		if e.takeUp(open, later); err != nil && e.ctx.Err() == nil {
			e.config.Logger.Warn("cannot read which timers are due, trying again", "error", err)
			e.alarms.Set(id, e.clock.Now()+int64(time.Second))
		}
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.load(id)
}

// checkTimers makes all runs check their timers.
func (e *Engine) checkTimers() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.runs {
		r.Wake()
	}
	e.alarms.Look()
}

// deliver passes items to a run, loading the run if necessary.
func (e *Engine) deliver(ctx context.Context, id string, items ...decide.Item) error {
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return ErrShutdown
		}
		for i := range items {
			items[i].Received = e.clock.Now()
		}
		r := e.runs[id]
		if r == nil {
			e.load(id, items...)
		}
		e.mu.Unlock()
		if r == nil || r.inbox.Add(items...) {
			return nil
		}
		select { // it is leaving memory, and is then loaded again
		case <-ctx.Done():
			return cancelled.Error(ctx)
		case <-r.unloaded:
		}
	}
}

// retire removes an idle run from memory, unless an item has arrived. Its timer stays set.
func (e *Engine) retire(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !r.inbox.CloseIfEmpty() {
		return false
	}
	delete(e.runs, r.id)
	e.stay.Left(&r.place, len(e.runs))
	e.children.Forget(r.id)
	if due := r.step.NextDue(); due > 0 {
		e.alarms.Set(r.id, due)
	}
	return true
}
