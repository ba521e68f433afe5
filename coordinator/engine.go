package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

// Config is what an engine is made with. The zero Config is usable.
type Config struct {
	// Operations are what steps call, besides what their document binds. Two of one name are an error.
	Operations []Operation

	// Workflows that may have runs in the store and use Go functions: a run finds those of its own definition alone, by its
	// hash. A workflow that is started is known by that.
	Workflows []*template.Workflow

	// Directory is who can be targeted, in place of what documents say. Default: the document's.
	Directory directory.Directory

	// PassEnv names the variables of this process's environment that programs of command bindings get besides PATH, HOME, LANG
	// and TMPDIR, as far as they are set. Default: none.
	PassEnv []string

	// IdleTimeout is how long a run stays in memory with nothing to do. Default: 10 s.
	IdleTimeout time.Duration

	// SecretTimeout is how long the answer of a server may take that a playbook's keychain asks for a secret. Default: 30 s.
	SecretTimeout time.Duration

	// CallsMax bounds the calls of the whole process that are under way, those to the participants of a fan-out included. A
	// step beyond it stays ready; a fan-out is requested when there is room for one participant, and the others wait. Calls to
	// decision sources have a bound of their own of the same size. `sleep`, `wait`, child runs and pure operations do not
	// count. Default: no limit.
	CallsMax int

	// ProgramsMax bounds the programs of command bindings that the process runs at a time, each of which costs it a thread and the
	// machine a process. A step beyond it stays ready, as with CallsMax; programs that are decision sources have a bound of their
	// own of the same size. Default: 256. Negative: no limit.
	ProgramsMax int

	// OnBlocked is what a playbook does when only tokens are left that its gates hold back, where the playbook does not say.
	// Default: it waits for its context to be patched.
	OnBlocked playbook.OnBlocked

	// PickUp says which of the unfinished runs in the store New goes on with; the engine also goes on with those it
	// starts, and with their child runs. The others are left alone: they can be read, and what somebody wishes for one
	// is journaled for the engine that will go on with it. Default: all.
	PickUp func(journal.Head) bool

	// Limits keep one run from taking the whole process. Default: see Limits.
	Limits Limits

	// Logger is told what nobody is waiting to hear. A line whose handler panics goes to standard error. Default:
	// slog.Default().
	Logger *slog.Logger
}

// What Config has where it does not say.
const (
	idleTime   = 10 * time.Second
	secretTime = 30 * time.Second
)

// Engine runs workflows on a store. It is safe for concurrent use.
type Engine struct {
	store    journal.Store
	config   Config
	clock    *clock
	pool     *pool
	room     [roomKinds]capacity
	inFlight inFlight        // answers of calls
	ctx      context.Context // of all loops
	cancel   context.CancelCauseFunc
	draining context.Context // ends when the engine begins to shut down
	drain    context.CancelFunc
	loops    sync.WaitGroup

	mu       sync.Mutex
	runs     map[string]*run     // in memory
	parked   map[string]*parking // those that cannot go on in this process
	notices  notices
	mine     map[string]bool     // runs to go on with; nil: all
	wards    map[string][]string // unfinished children that were found in the store, by their parent's id, until it looks
	families map[string]int      // how many runs are below those that nobody has started, by their ids
	sleepers sleepers
	before   []func() error // to be called before the shutdown begins
	ending   bool           // Shutdown was called
	closed   bool
	shut     chan struct{} // closed when Shutdown has done its work

	registry *registry.Registry
}

// New starts an engine on a store, which it owns from then on, and goes on with the runs it finds there that are not
// finished. Runs that only a timer, message or person can move stay on disk until then.
func New(ctx context.Context, store journal.Store, config Config) (*Engine, error) {
	if config.IdleTimeout <= 0 {
		config.IdleTimeout = idleTime
	}
	if config.SecretTimeout <= 0 {
		config.SecretTimeout = secretTime
	}
	config.ProgramsMax = cmp.Or(config.ProgramsMax, programsMax)
	if config.Logger == nil {
		config.Logger = slog.Default()
	}
	config.Logger = usercode.Logger(config.Logger)
	for _, name := range config.PassEnv {
		if err := operation.CheckVariable(name); err != nil {
			return nil, fmt.Errorf("Config.PassEnv: %w", err)
		}
	}
	config.Limits.complete()
	e := &Engine{
		store: store, config: config, clock: newClock(), pool: newPool(), runs: map[string]*run{}, parked: map[string]*parking{},
		notices: notices{}, wards: map[string][]string{}, families: map[string]int{}, shut: make(chan struct{}),
	}
	if config.PickUp != nil {
		e.mine = map[string]bool{}
	}
	e.room[inCalls].max, e.room[inDeciders].max = config.CallsMax, config.CallsMax
	e.room[inPrograms].max, e.room[inDecidingPrograms].max = max(0, config.ProgramsMax), max(0, config.ProgramsMax)
	e.inFlight = newInFlight(config.Limits.AnswersBytesMax)
	e.sleepers.wake = make(chan struct{}, 1)
	err := usercode.Call(func() (err error) {
		e.registry, err = registry.New(store, registry.Config{
			Operations: config.Operations, Workflows: config.Workflows, PassEnv: config.PassEnv, Children: children{e},
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	e.ctx, e.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	e.draining, e.drain = context.WithCancel(context.Background())
	e.loops.Go(e.wakeSleepers)
	e.loops.Go(e.watchClock)
	ready := false
	defer func() {
		if !ready { // PickUp may have ended the caller's goroutine, too
			_ = e.Shutdown(ctx)
		}
	}()
	if err := usercode.Call(func() error { return e.pickUp(ctx) }); err != nil {
		return nil, fmt.Errorf("find unfinished runs: %w", err)
	}
	ready = true
	return e, nil
}

// pickUp finds the runs that are to go on. All are known before the first goes on: a parent looks for its children then.
func (e *Engine) pickUp(ctx context.Context) error {
	var open []journal.Head
	for head, err := range e.store.Heads(ctx, "") {
		switch {
		case err != nil && unreadable(&head, err):
			e.parkAsleep(head.Run, err, nil, e.registry.Learned())
		case err != nil:
			return err
		case head.Open && e.choose(head):
			open = append(open, head)
		}
	}
	alone := e.ward(open)
	var asleep []string
	for _, head := range open {
		e.mu.Lock()
		switch {
		case head.Status == string(reactive.RunRunning), head.Status == string(reactive.RunPaused), len(e.wards[head.Run]) > 0:
			e.load(head.Run) // a pause does not end the calls that were under way
		case head.Due > 0:
			e.sleep(head.Run, head.Due)
			asleep = append(asleep, head.Run)
		default:
			asleep = append(asleep, head.Run)
		}
		e.mu.Unlock()
	}
	e.loops.Go(func() { e.survey(asleep) })
	for parent, found := range alone {
		if err := e.disownAlone(ctx, parent, found); err != nil {
			e.config.Logger.Warn("it is not known whether child runs are still needed: they go on", "parent", parent, "error", err)
		}
	}
	return nil
}

// Operation is what steps call: a name with an implementation, as operation.Define returns.
type Operation = registry.Operation

// InputError says what a workflow's schema refuses in a run's input.
type InputError = registry.InputError

// An Option changes how a run is started.
type Option func(*startOptions)

type startOptions struct {
	id     string
	named  bool   // the id is the caller's: it may exist
	parent string // the call that starts a child run
	labels map[string]string
	actor  string
	in     *journal.Identity // in whose name
}

// WithID gives the run its id: printable, without `/ [ ] #` and white space. Default: a new UUID v7.
func WithID(id string) Option { return func(o *startOptions) { o.id = id } }

// WithLabels marks the run for those who list runs: at most 64 labels, with names of 1 to 128 bytes and texts of at most 1024.
func WithLabels(labels map[string]string) Option {
	labels = maps.Clone(labels)
	return func(o *startOptions) { o.labels = labels }
}

// WithActor records who started the run, in at most ActorMax bytes.
func WithActor(actor string) Option { return func(o *startOptions) { o.actor = actor } }

// WithIdentity says in whose name the run makes its calls: operations read it as operation.Call.Identity, child runs have
// the same, and it is journaled. Sluice does not judge it.
func WithIdentity(id journal.Identity) Option { return func(o *startOptions) { o.in = &id } }

// Register compiles a workflow and remembers its operations and Go functions, so that its runs can be recovered; those that
// were parked because they lacked them go on. Start does it too. An operation's name stands for one implementation in the whole engine, a Go function's for one function in
// all definitions of the same hash; what would change that is refused.
func (e *Engine) Register(w *template.Workflow) error {
	_, err := e.learn(w)
	return err
}

// learn returns the entry of a workflow. What is wrong with a tree that was made by hand must not end the process.
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
		e.retryMissing()
	}
	return entry, err
}

// Start begins a run. When it returns without an error, the run is durable and under way, and survives this process.
// Starting an id that exists with the same workflow and input gives that run again, else an *ExistsError, which is ErrRunExists;
// of several starts of one id at the same time one comes first, and the others wait for it. An input that the workflow's schema
// refuses is an *InputError, and nothing is journaled.
func (e *Engine) Start(ctx context.Context, w *template.Workflow, input any, opts ...Option) (*Run, error) {
	var o startOptions
	for _, opt := range opts {
		if opt != nil {
			opt(&o)
		}
	}
	if err := errors.Join(checkLabels(o.labels), checkActor(o.actor)); err != nil {
		return nil, err
	}
	entry, err := e.learn(w)
	if err != nil {
		return nil, err
	}
	in, err := value.Own(input)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if err := entry.Schema.Check(in); err != nil {
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
func (e *Engine) begin(ctx context.Context, entry *registry.Entry, input any, o startOptions) (*Run, error) {
	if most := e.config.Limits.NodesMax; most > 0 && len(entry.Plan.Checked.Items) > most {
		return nil, fmt.Errorf("%w: workflow %s has %d steps, conditionals and maps; NodesMax is %d",
			ErrLimit, entry.Plan.Workflow.Name, len(entry.Plan.Checked.Items), most)
	}
	children, all, err := e.registry.Bundle(ctx, entry)
	if err != nil {
		return nil, e.why(ctx, err)
	}
	for _, one := range all {
		if err := e.registry.Store(ctx, one); err != nil {
			return nil, e.why(ctx, err)
		}
	}
	p := entry.Plan
	first := decide.Started(o.id, p, input, e.config.Limits.OfRun())
	start := first.Detail.Start
	start.Children = children
	start.Parent, start.Labels, start.Actor, start.OnBlocked = o.parent, o.labels, o.actor, string(e.onBlocked(p.Workflow))
	if start.Identity, err = identity(o.in); err != nil {
		return nil, err
	}
	for {
		run, err := e.beginOnce(ctx, entry, first, o.named)
		if err != errUnbegun {
			return run, err
		}
	}
}

// beginOnce begins a run, or finds it when the id may exist. It returns errUnbegun when another start of the id, which had come
// first, has failed.
func (e *Engine) beginOnce(ctx context.Context, entry *registry.Entry, first journal.Event, named bool) (*Run, error) {
	p, id := entry.Plan, first.Detail.Start.Run
	if named {
		if known, err := e.exists(ctx, id); err != nil {
			return nil, err
		} else if known {
			return e.again(ctx, &first)
		}
	}
	ring, err := e.secrets(ctx, p.Workflow, first.Value)
	if err != nil {
		return nil, err
	}
	r := newRun(e, id)
	r.ring, r.started = ring, true
	r.adopt(entry, decide.NewRoot(p), 0)
	done := make(chan error, 1)
	r.inbox.add(decide.Item{Event: first, Reply: once(done)})
	if !e.enter(r) {
		return e.again(ctx, &first)
	}
	if parent := e.active(journal.ParentRun(id)); parent != nil && parent.paused.Load() {
		r.inbox.add(decide.Item{Event: decide.PauseFromAbove(parent.id, true)})
	}
	e.loops.Go(func() { r.loop(e.ctx) })
	switch err, told := e.reply(ctx, done); {
	case err == nil:
		return &Run{engine: e, id: id}, nil
	case !told:
		return nil, err
	case errors.Is(err, journal.ErrConflict):
		run, again := e.again(ctx, &first)
		if again == errUnbegun { // what is there is no run
			return nil, fmt.Errorf("%w: %s", ErrRunExists, id)
		}
		return run, again
	default:
		return nil, fmt.Errorf("start run %s: %w", id, err)
	}
}

// identity is a copy of an identity that nobody changes any more, with its resources as a value.
func identity(of *journal.Identity) (*journal.Identity, error) {
	if of == nil {
		return nil, nil
	}
	resources, err := value.Own(of.Resources)
	if err != nil {
		return nil, fmt.Errorf("resources of the identity: %w", err)
	}
	return &journal.Identity{ID: of.ID, Scopes: slices.Clone(of.Scopes), Resources: resources}, nil
}

// once is a reply into a channel with room for one. Who waits is told the first.
func once(done chan<- error) func(error) {
	return func(err error) {
		select {
		case done <- err:
		default:
		}
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

// exists reports whether there is a run of that id. One whose first record is damaged does exist.
func (e *Engine) exists(ctx context.Context, id string) (bool, error) {
	if err := e.down(); err != nil {
		return false, err
	}
	e.mu.Lock()
	known := e.runs[id] != nil || e.parked[id] != nil
	e.mu.Unlock()
	if known {
		return true, nil
	}
	for _, err := range e.store.Read(ctx, id, 1) {
		if err != nil && !errors.Is(err, journal.ErrDamaged) && !errors.Is(err, journal.ErrVersion) {
			return false, e.why(ctx, fmt.Errorf("read run %s: %w", id, err))
		}
		return true, nil
	}
	return false, nil
}

// Shutdown takes no more starts and lets calls that are under way come home, as long as ctx lasts; then it ends them, and gives
// them five seconds more. What has not returned by then is left to itself, and the error, ErrUnreturned, names it: nothing comes of
// what it returns later. Runs that have not finished go on when an engine is next made on the store. It closes the store. From
// then on every method returns ErrShutdown, but for Shutdown, which waits for the first call of it to be done. See also
// BeforeShutdown.
func (e *Engine) Shutdown(ctx context.Context) error {
	e.mu.Lock()
	if e.ending {
		e.mu.Unlock()
		select {
		case <-e.shut:
			return nil
		case <-ctx.Done():
			return cancelled.Error(ctx)
		}
	}
	e.ending = true
	before := e.before
	e.mu.Unlock()
	defer close(e.shut)
	left := e.leaveFirst(ctx, before)
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	for i := range e.room {
		e.room[i].close()
	}
	e.drain()
	select {
	case <-e.pool.idle():
	case <-ctx.Done():
	}
	e.cancel(ErrShutdown)
	return errors.Join(e.comeToAnEnd(ctx, left), e.store.Close())
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

// active is the run of that id if it is in memory; nil otherwise.
func (e *Engine) active(id string) *run {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.runs[id]
}

// load brings a run back into memory, to be recovered by its loop, which finds the items that it is loaded for. The
// caller holds mu. A run that is in memory stays as it is.
func (e *Engine) load(id string, items ...decide.Item) {
	if e.runs[id] != nil {
		return
	}
	if p := e.parked[id]; p != nil {
		p.tried()
	}
	r := newRun(e, id)
	r.inbox.items = items
	e.runs[id] = r
	e.loops.Go(func() { r.loop(e.ctx) })
}

// deliver puts an item to a run, which is brought back into memory for it.
func (e *Engine) deliver(ctx context.Context, id string, it decide.Item) error {
	for {
		e.mu.Lock()
		if e.closed {
			e.mu.Unlock()
			return ErrShutdown
		}
		it.Received = e.clock.now()
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
			return cancelled.Error(ctx)
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
	delete(e.families, r.id)
	if due := r.root.NextDue(); due > 0 {
		e.sleep(r.id, due)
	}
	return true
}

// directory is who can be targeted by a workflow.
func (e *Engine) directory(entry *registry.Entry) directory.Directory {
	if e.config.Directory != nil {
		return e.config.Directory
	}
	return entry.Directory
}
