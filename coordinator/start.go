package coordinator

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"

	"github.com/google/uuid"

	"github.com/sluiceflow/sluice/coordinator/inbox"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// An Option changes how a run is started.
type Option interface{ apply(*startOptions) }

type startOption func(*startOptions)

func (f startOption) apply(o *startOptions) { f(o) }

type startOptions struct {
	id     string
	key    string // the id is derived from it
	named  bool   // the caller has chosen the id: it may exist
	parent string // the call that starts a child run
	labels map[string]string
	actor  string
	act    string // the act on many runs that starts it
	dir    string
	in     *journal.Identity // of its calls
	from   *journal.From     // of a rerun
	kept   []journal.Event   // that follow its first event
	past   *journal.Start    // of the run whose past kept is; nil: kept is what a rerun of steps keeps
	began  int64             // of a rerun with a past: the instant of its first event
}

// apply applies options, and checks what they say. The labels of a run that is rerun stay as they are: earlier versions took others.
func (o *startOptions) apply(opts []Option) error {
	kept := o.labels
	for _, opt := range opts {
		if opt != nil {
			opt.apply(o)
		}
	}
	wrong := errors.Join(limits.CheckActor(o.actor), limits.CheckKey(o.key, o.id))
	if maps.Equal(o.labels, kept) {
		return wrong
	}
	return errors.Join(limits.CheckLabels(o.labels), wrong)
}

// WithID sets the run's id: printable, without `/ [ ] #` and white space, and none of `def`, `blob`, `.` and `..`. Default: a new
// UUID v7.
func WithID(id string) Option { return startOption(func(o *startOptions) { o.id = id }) }

// KeyOption is an Option of Start and of Run.Send.
type KeyOption string

func (k KeyOption) apply(o *startOptions) { o.key = string(k) }

// WithKey makes it harmless to repeat a Start or a Send: at most 256 bytes of text. The run's id is derived from the key, so a second
// Start with the same workflow and input returns the run of the first, and with others *ExistsError. A second message of the same
// key is not taken, while the run goes on; in a world, the key is the message's id.
func WithKey(key string) KeyOption { return KeyOption(key) }

// WithLabels attaches labels to the run, by which it is found: at most 64, with names of 1 to 128 bytes and texts of at
// most 1024, without characters that cannot be seen.
func WithLabels(labels map[string]string) Option {
	labels = maps.Clone(labels)
	return startOption(func(o *startOptions) { o.labels = labels })
}

// WithActor records who started the run, in at most ActorMax bytes.
func WithActor(actor string) Option { return startOption(func(o *startOptions) { o.actor = actor }) }

// WithDir sets the folder in which programs of the run start, and to which the paths of their folders and of a keychain's files are
// relative; child runs inherit it, and it is journaled. Default: the folder of the process that makes the call.
func WithDir(dir string) Option { return startOption(func(o *startOptions) { o.dir = dir }) }

// WithIdentity sets the identity under which the run makes its calls: operations read it from operation.Call.Identity, child
// runs inherit it, and it is journaled. Sluice does not check it.
func WithIdentity(id journal.Identity) Option {
	return startOption(func(o *startOptions) { o.in = &id })
}

// Start begins a run. When it returns without an error, the run is durable, in progress, and survives this process. If the id
// exists with the same workflow and input, Start returns that run, else an *ExistsError, which wraps ErrRunExists; of
// concurrent starts of one id the first wins, and the others wait for it. An input that the workflow's schema refuses is an
// *InputError, and nothing is journaled.
func (e *Engine) Start(ctx context.Context, w *template.Workflow, input any, opts ...Option) (*Run, error) {
	entry, err := e.learn(w)
	if err != nil {
		return nil, err
	}
	return e.StartEntry(ctx, entry, input, opts...)
}

// StartEntry is Start for an entry of the engine's Registry.
func (e *Engine) StartEntry(ctx context.Context, entry *registry.Entry, input any, opts ...Option) (*Run, error) {
	var o startOptions
	if err := o.apply(opts); err != nil {
		return nil, err
	}
	return e.startWith(ctx, entry, input, o)
}

// startWith is StartEntry with the options applied.
func (e *Engine) startWith(ctx context.Context, entry *registry.Entry, input any, o startOptions) (*Run, error) {
	in, err := o.complete(entry, input)
	if err != nil {
		return nil, err
	}
	return e.begin(ctx, entry, in, o)
}

// refusedStart returns why startWith would refuse; nil: it would begin a run, or find the one that it has begun.
func (e *Engine) refusedStart(ctx context.Context, entry *registry.Entry, input any, o startOptions) error {
	in, err := o.complete(entry, input)
	if err != nil {
		return err
	}
	if err := entry.Fits(e.config.Limits.NodesMax); err != nil {
		return err
	}
	children, err := registry.Family(ctx, entry)
	if err != nil {
		return e.readError(ctx, err)
	}
	first, err := e.firstOf(entry, in, children, &o)
	if err != nil || !o.named {
		return err
	}
	known, err := e.exists(ctx, o.id)
	if known {
		_, err = e.existing(ctx, &first)
	}
	if err == errNotBegun {
		return nil
	}
	return err
}

// complete checks the input of a run, which it returns in its normal form, and completes the options with the id.
func (o *startOptions) complete(entry *registry.Entry, input any) (value.Value, error) {
	in, err := value.Own(input)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if err := entry.Schema.Check(in); err != nil {
		return nil, err
	}
	switch o.named = o.id != "" || o.key != ""; {
	case o.id == "" && o.key != "":
		o.id = limits.IDOf(o.key)
	case o.id == "":
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make a run id: %w", err)
		}
		o.id = id.String()
	}
	return in, limits.CheckID(o.id)
}

// begin appends the first event of a new run. The run's loop decides what starts before it appends, so that the start and the
// first requests become durable with one sync.
func (e *Engine) begin(ctx context.Context, entry *registry.Entry, input any, o startOptions) (*Run, error) {
	if err := entry.Fits(e.config.Limits.NodesMax); err != nil {
		return nil, err
	}
	defer e.registry.Use()()
	children, err := e.registry.Bundle(ctx, entry)
	if err != nil {
		return nil, e.readError(ctx, err)
	}
	first, err := e.firstOf(entry, input, children, &o)
	if err != nil {
		return nil, err
	}
	for {
		run, err := e.beginOnce(ctx, entry, first, &o)
		if err != errNotBegun {
			return run, err
		}
	}
}

// firstOf returns the first event of a new run.
func (e *Engine) firstOf(entry *registry.Entry, input any, children map[string]string, o *startOptions) (first journal.Event, err error) {
	p := entry.Plan
	first = decide.Started(o.id, p, input, e.config.Limits.OfRun())
	start := first.Detail.Start
	start.Children = children
	start.Parent, start.Labels, start.Actor, start.Dir, start.OnBlocked = o.parent, o.labels, o.actor, o.dir, registry.OnBlocked(p.Workflow, e.config.OnBlocked)
	start.From, first.Detail.ID = o.from, o.act
	if o.past != nil {
		decide.LikeStart(start, o.past)
		first.At = o.began
	}
	if start.Identity, err = decide.OwnIdentity(o.in); err != nil {
		return first, err
	}
	if p.Workflow.Routing != nil && p.Workflow.Routing.Kind() == machine.Kind {
		start.Seed = make([]byte, 32)
		rand.Read(start.Seed) // never fails
	}
	return first, nil
}

// beginOnce begins a run, or finds it if the id may exist. It returns errNotBegun if an earlier start of the id has failed.
func (e *Engine) beginOnce(ctx context.Context, entry *registry.Entry, first journal.Event, o *startOptions) (*Run, error) {
	p, id := entry.Plan, first.Detail.Start.Run
	if o.named {
		if known, err := e.exists(ctx, id); err != nil {
			return nil, err
		} else if known {
			return e.existing(ctx, &first)
		}
		if err := e.driven.Holds().Claim(ctx, id); err != nil {
			return nil, err
		}
	}
	if e.config.NotesOnly {
		switch err := e.notes.Start(ctx, entry, first, o.kept, o.past != nil); {
		case errors.Is(err, journal.ErrConflict):
			return e.existing(ctx, &first)
		case err != nil:
			return nil, err
		}
		return e.handle(id, ""), nil
	}
	ring, err := e.rings.Begin(ctx, id, p.Workflow, first.Value, first.Detail.Start.Dir)
	if err != nil {
		return nil, err
	}
	leave, err := e.starts.Enter(ctx, e.shut)
	if err != nil {
		return nil, err
	}
	r := newRun(e, id)
	r.calls.Ring, r.started = ring, true
	r.setRoot(entry, e.reader.NewRoot(e.ctx, id, entry), 0)
	done, used := make(chan error, 1), e.registry.Use() // until the start is durable, even if the caller does not wait for that
	r.inbox.Add(decide.Item{Event: first, Reply: inbox.Once(done, used, leave), Past: o.past != nil})
	for _, e := range o.kept { // before the loop begins, so that one batch has them all
		r.inbox.Add(decide.Item{Event: e, Past: o.past != nil})
	}
	if !e.enter(r) {
		used()
		leave()
		return e.existing(ctx, &first)
	}
	if parent := e.active(journal.ParentRun(id)); parent != nil && parent.paused.Load() {
		r.inbox.Add(decide.Item{Event: decide.PauseFromAbove(parent.id, true)})
	}
	e.rings.Keep(id, ring)
	e.loops.Go(func() { r.loop(e.ctx) })
	switch err, answered := inbox.AwaitReply(ctx, done, e.shut); {
	case err == nil:
		return e.handle(id, ""), nil
	case !answered:
		return nil, err
	case errors.Is(err, journal.ErrConflict):
		run, err := e.existing(ctx, &first)
		if err == errNotBegun { // the stream is not that of a run
			return nil, fmt.Errorf("%w: %s", ErrRunExists, id)
		}
		return run, err
	default:
		return nil, fmt.Errorf("start run %s: %w", id, err)
	}
}
