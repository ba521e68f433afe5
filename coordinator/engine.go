package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// Config is what an engine is made with. The zero Config is usable.
type Config struct {
	// Operations are what steps call, besides what their document binds. Two of one name are an error.
	Operations []Operation

	// Workflows that may have runs in the store and use Go functions. A workflow that is started is known by that.
	Workflows []*template.Workflow

	// Directory is who can be targeted, in place of what documents say. Default: the document's.
	Directory directory.Directory

	// IdleTimeout is how long a run stays in memory with nothing to do. Default: 10 s.
	IdleTimeout time.Duration

	// CallsMax bounds the calls of the whole process that are under way. A step beyond it stays ready. `sleep`, `wait` and pure
	// operations do not count. Default: no limit.
	CallsMax int

	// OnBlocked is what a playbook does when only tokens are left that its gates hold back, where the playbook does not say.
	// Default: it waits for its context to be patched.
	OnBlocked playbook.OnBlocked

	// PickUp says which of the unfinished runs in the store New goes on with; the engine also goes on with those it
	// starts, and with their child runs. The others are left alone: they can be read, and what somebody wishes for one
	// is journaled for the engine that will go on with it. Default: all.
	PickUp func(journal.Head) bool

	// Limits keep one run from taking the whole process. Default: see Limits.
	Limits Limits

	// Logger is told what nobody is waiting to hear. Default: slog.Default().
	Logger *slog.Logger
}

// Limits bound what one run may grow to. Negative: no limit.
type Limits struct {
	// NodesMax is how many steps, conditionals and maps a workflow may have. Starting a larger one is refused.
	// Default: 100,000.
	NodesMax int

	// MapItemsMax is how many items a map may have. A longer list fails the map with limit_exceeded. A run keeps the limit
	// it was started with. Default: 100,000.
	MapItemsMax int

	// EventsMax is how many events a run's journal may have. A run that reaches it is closed with limit_exceeded.
	// Default: 1,000,000.
	EventsMax int
}

func (l *Limits) complete() {
	for limit, most := range map[*int]int{&l.NodesMax: 100_000, &l.MapItemsMax: 100_000, &l.EventsMax: 1_000_000} {
		if *limit == 0 {
			*limit = most
		}
	}
}

// Engine runs workflows on a store. It is safe for concurrent use.
type Engine struct {
	store    journal.Store
	config   Config
	pool     *pool
	calls    capacity
	ctx      context.Context // of all loops
	cancel   context.CancelCauseFunc
	draining context.Context // ends when the engine begins to shut down
	drain    context.CancelFunc
	loops    sync.WaitGroup

	mu       sync.Mutex
	runs     map[string]*run     // in memory
	stopped  map[string]error    // why runs that have not finished cannot go on in this process
	mine     map[string]bool     // runs to go on with; nil: all
	wards    map[string][]string // unfinished children that were found in the store, by their parent's id, until it looks
	sleepers sleepers
	closed   bool

	library library
}

// New starts an engine on a store, which it owns from then on, and goes on with the runs it finds there that are not
// finished. Runs that only a timer, message or person can move stay on disk until then.
func New(ctx context.Context, store journal.Store, config Config) (*Engine, error) {
	if config.IdleTimeout <= 0 {
		config.IdleTimeout = 10 * time.Second
	}
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	config.Limits.complete()
	e := &Engine{store: store, config: config, pool: newPool(), runs: map[string]*run{}, stopped: map[string]error{}, wards: map[string][]string{}}
	if config.PickUp != nil {
		e.mine = map[string]bool{}
	}
	e.calls.max = config.CallsMax
	e.sleepers.wake = make(chan struct{}, 1)
	if err := e.library.init(e, config); err != nil {
		return nil, err
	}
	e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	e.draining, e.drain = context.WithCancel(context.Background())
	e.loops.Go(e.wakeSleepers)
	if err := e.pickUp(ctx); err != nil {
		e.Shutdown(ctx)
		return nil, err
	}
	return e, nil
}

// pickUp finds the runs that are to go on. All are known before the first goes on: a parent looks for its children then.
func (e *Engine) pickUp(ctx context.Context) error {
	var open []journal.Head
	for head, err := range e.store.Heads(ctx, "") {
		if err != nil {
			return fmt.Errorf("find unfinished runs: %w", err)
		}
		e.mu.Lock()
		if head.Open && e.choose(head) {
			open = append(open, head)
		}
		e.mu.Unlock()
	}
	alone := e.ward(open)
	for _, head := range open {
		e.mu.Lock()
		switch {
		case head.Status == string(reactive.RunRunning), len(e.wards[head.Run]) > 0:
			e.load(head.Run)
		case head.Due > 0:
			e.sleep(head.Run, head.Due)
		}
		e.mu.Unlock()
	}
	for parent, found := range alone {
		if err := e.disownAlone(ctx, parent, found); err != nil {
			return err
		}
	}
	return nil
}

// Operation is what steps call: a name with an implementation, as operation.Define gives.
type Operation interface {
	Name() string
	Implementation() any
}

// An Option changes how a run is started.
type Option func(*startOptions)

type startOptions struct {
	id     string
	named  bool   // the id is the caller's: it may exist
	parent string // the call that starts a child run
	labels map[string]string
	actor  string
}

// WithID gives the run its id: printable, without `/ [ ] #` and white space. Default: a new UUID v7.
func WithID(id string) Option { return func(o *startOptions) { o.id = id } }

// WithLabels marks the run for those who list runs.
func WithLabels(labels map[string]string) Option { return func(o *startOptions) { o.labels = labels } }

// WithActor records who started the run.
func WithActor(actor string) Option { return func(o *startOptions) { o.actor = actor } }

// Register compiles a workflow and remembers its operations and Go functions, so that its runs can be recovered. Start
// does it too.
func (e *Engine) Register(w *template.Workflow) error {
	_, err := e.library.add(w)
	return err
}

// Start begins a run. When it returns without an error, the run is durable and under way, and survives this process.
// Starting an id that exists with the same workflow and input gives that run again, else ErrRunExists. An input that the
// workflow's schema refuses is an *InputError, and nothing is journaled.
func (e *Engine) Start(ctx context.Context, w *template.Workflow, input any, opts ...Option) (*Run, error) {
	var o startOptions
	for _, opt := range opts {
		opt(&o)
	}
	entry, err := e.library.add(w)
	if err != nil {
		return nil, err
	}
	in, err := value.Of(input)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if err := entry.schema.check(in); err != nil {
		return nil, err
	}
	if o.id == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make a run id: %w", err)
		}
		o.id = id.String()
	} else if err := template.ValidID(o.id); err != nil {
		return nil, fmt.Errorf("run id: %w", err)
	} else {
		o.named = true
	}
	return e.begin(ctx, entry, in, o)
}

// begin gives a new run its first event. The run's loop decides what starts before it appends, so that the start and the
// first requests are durable with one sync.
func (e *Engine) begin(ctx context.Context, entry *entry, input any, o startOptions) (*Run, error) {
	if most := e.config.Limits.NodesMax; most > 0 && len(entry.plan.Checked.Items) > most {
		return nil, fmt.Errorf("%w: workflow %s has %d steps, conditionals and maps; NodesMax is %d",
			ErrLimit, entry.plan.Workflow.Name, len(entry.plan.Checked.Items), most)
	}
	children, all, err := e.bundle(ctx, entry)
	if err != nil {
		return nil, err
	}
	for _, one := range all {
		if err := e.library.prepare(ctx, e.store, one); err != nil {
			return nil, err
		}
	}
	p := entry.plan
	first := Started(o.id, p, input)
	start := first.Detail.Start
	start.Children, start.MapItemsMax = children, int32(max(0, e.config.Limits.MapItemsMax))
	start.Parent, start.Labels, start.Actor, start.OnBlocked = o.parent, o.labels, o.actor, string(e.onBlocked(p.Workflow))
	if o.named {
		if known, err := e.exists(ctx, o.id); err != nil || known {
			return e.again(ctx, &first)
		}
	}
	ring, err := secrets(ctx, p.Workflow, input)
	if err != nil {
		return nil, err
	}
	r := newRun(e, o.id)
	r.ring = ring
	r.adopt(entry, NewRoot(p), 0)
	done := make(chan error, 1)
	r.inbox.add(Item{Event: first, Reply: func(err error) { done <- err }})
	if !e.enter(r) {
		return e.again(ctx, &first)
	}
	e.loops.Go(func() { r.loop(e.ctx) })
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case err := <-done:
		switch {
		case err == nil:
			return &Run{engine: e, id: o.id}, nil
		case errors.Is(err, journal.ErrConflict):
			return e.again(ctx, &first)
		}
		return nil, fmt.Errorf("start run %s: %w", o.id, err)
	}
}

// onBlocked is what a run does when only denied tokens are left: as its playbook says, else as the engine does.
func (e *Engine) onBlocked(w *template.Workflow) playbook.OnBlocked {
	book, ok := playbook.Of(w)
	if !ok {
		return ""
	}
	return cmp.Or(book.Executor.OnBlocked, e.config.OnBlocked, playbook.BlockedWaits)
}

// again is a start whose id is taken: fine when it is the same run, else an error.
func (e *Engine) again(ctx context.Context, first *journal.Event) (*Run, error) {
	start := first.Detail.Start
	for was, err := range e.store.Read(ctx, start.Run, 1) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", start.Run, err)
		}
		input, err := value.Of(was.Value)
		if err == nil && was.Detail != nil && was.Detail.Start != nil && was.Detail.Start.Workflow == start.Workflow &&
			value.Equal(input, first.Value) {
			return &Run{engine: e, id: start.Run}, nil
		}
		break
	}
	if e.ctx.Err() != nil || e.shutting() {
		return nil, ErrShutdown
	}
	return nil, fmt.Errorf("%w: %s", ErrRunExists, start.Run)
}

// Run finds a run by its id, finished or not; ErrRunNotFound.
func (e *Engine) Run(ctx context.Context, id string) (*Run, error) {
	ok, err := e.exists(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("%w: %s", ErrRunNotFound, id)
	}
	return &Run{engine: e, id: id}, nil
}

// exists reports whether there is a run of that id.
func (e *Engine) exists(ctx context.Context, id string) (bool, error) {
	e.mu.Lock()
	_, ok := e.runs[id]
	e.mu.Unlock()
	if ok {
		return true, nil
	}
	for _, err := range e.store.Read(ctx, id, 1) {
		if err != nil {
			return false, fmt.Errorf("read run %s: %w", id, err)
		}
		return true, nil
	}
	return false, nil
}

// Shutdown takes no more starts and lets calls that are under way come home, as long as ctx lasts; then it ends them.
// Runs that have not finished go on when an engine is next made on the store. It closes the store.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	e.calls.close()
	e.drain()
	select {
	case <-e.pool.idle():
	case <-ctx.Done():
	}
	e.cancel(ErrShutdown)
	e.loops.Wait()
	e.pool.all.Wait()
	return e.store.Close()
}

func (e *Engine) shutting() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}

// enter puts a run into memory; false when its id is there already, or the engine is shutting down.
func (e *Engine) enter(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed || e.runs[r.id] != nil {
		return false
	}
	e.runs[r.id] = r
	e.adopt(r.id)
	return true
}

// load brings a run back into memory, to be recovered by its loop, which finds the items that it is loaded for. The
// caller holds mu. A run that is in memory stays as it is.
func (e *Engine) load(id string, items ...Item) {
	if e.runs[id] != nil {
		return
	}
	delete(e.stopped, id)
	r := newRun(e, id)
	r.inbox.items = items
	e.runs[id] = r
	e.loops.Go(func() { r.loop(e.ctx) })
}

// deliver puts an item to a run, which is brought back into memory for it.
func (e *Engine) deliver(ctx context.Context, id string, it Item) error {
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return ErrShutdown
		}
		it.Received = time.Now().UnixNano()
		r := e.runs[id]
		if r == nil {
			e.load(id, it)
		}
		e.mu.Unlock()
		if r == nil || r.inbox.add(it) {
			return nil
		}
		select { // it is leaving; the next one takes the item
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-r.over:
		}
	}
}

// retire takes a run that has nothing to do out of memory, unless something has come in. Its timer stays here.
func (e *Engine) retire(r *run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !r.inbox.shutIfEmpty() {
		return false
	}
	delete(e.runs, r.id)
	if due := r.step.root.NextDue(); due > 0 {
		e.sleep(r.id, due)
	}
	return true
}

// forget takes a run out of memory.
func (e *Engine) forget(r *run) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.runs[r.id] != r {
		return
	}
	delete(e.runs, r.id)
	if r.err != nil {
		if len(e.stopped) >= stoppedMax {
			clear(e.stopped)
		}
		e.stopped[r.id] = r.err
	}
}

// stoppedMax bounds how many runs are remembered as stopped.
const stoppedMax = 1024

// replay makes a run's root from its journal. A run with none is a new one if it is known what it will be started as.
func (e *Engine) replay(ctx context.Context, id string, fresh *entry) (*entry, *reactive.Root, error) {
	var root *reactive.Root
	var start *journal.Start
	for event, err := range e.store.Read(ctx, id, 1) {
		if err == nil && root == nil {
			if root, err = e.rootFor(ctx, &event); err == nil {
				start = event.Detail.Start
			}
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read run %s: %w", id, err)
		}
		root.Apply(&event)
	}
	switch {
	case root != nil:
		entry, err := e.library.read(ctx, e.store, start.Workflow, start.Children)
		return entry, root, err
	case fresh != nil:
		return fresh, NewRoot(fresh.plan), nil
	}
	return nil, nil, fmt.Errorf("%w: %s", ErrRunNotFound, id)
}

// directory is who can be targeted by a workflow.
func (e *Engine) directory(entry *entry) directory.Directory {
	if e.config.Directory != nil {
		return e.config.Directory
	}
	return entry.directory
}

// about is what bindings see of a participant.
func (e *Engine) about(entry *entry, participant string) map[string]any {
	known, _ := e.directory(entry).Participant(participant)
	about, _ := known.(map[string]any)
	return about
}
