package coordinator

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/sluiceflow/sluice/coordinator/inbox"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/starting"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// An Option changes how a run is started.
type Option = starting.Option

// WithID sets the run's id: printable, without `/ [ ] #` and white space, and none of `def`, `blob`, `.` and `..`. Default: a new
// UUID v7.
func WithID(id string) Option { return starting.Func(func(o *starting.Options) { o.ID = id }) }

// KeyOption is an Option of Start and of Run.Send.
type KeyOption = starting.KeyOption

// WithKey makes it harmless to repeat a Start or a Send: at most 256 bytes of text. The run's id is derived from the key, so a second
// Start with the same workflow and input returns the run of the first, and with others *ExistsError. A second message with the same key
// is not taken while the run goes on; in a world, the key is the message's id.
func WithKey(key string) KeyOption { return KeyOption(key) }

// WithLabels attaches labels to the run, by which it is found: at most 64, with names of 1 to 128 bytes and texts of at
// most 1024, without invisible characters.
func WithLabels(labels map[string]string) Option {
	labels = maps.Clone(labels)
	return starting.Func(func(o *starting.Options) { o.Labels = labels })
}

// WithActor records the actor who started the run, in at most ActorMax bytes.
func WithActor(actor string) Option {
	return starting.Func(func(o *starting.Options) { o.Actor = actor })
}

// WithDir sets the folder in which programs of the run start, and to which the paths of their folders and of a keychain's files are
// relative; child runs inherit it, and it is journaled. Default: the folder of the process that makes the call.
func WithDir(dir string) Option { return starting.Func(func(o *starting.Options) { o.Dir = dir }) }

// WithIdentity sets the identity under which the run makes its calls: operations read it from operation.Call.Identity, child
// runs inherit it, and it is journaled. Sluice does not check it.
func WithIdentity(id journal.Identity) Option {
	return starting.Func(func(o *starting.Options) { o.Identity = &id })
}

// Start begins a run. When it returns without an error, the run is durable, in progress, and survives this process. If the id
// exists with the same workflow and input, Start returns that run, otherwise an *ExistsError, which wraps ErrRunExists; of concurrent
// starts with one id, the first wins, and the others wait for it. An input that the workflow's schema refuses is an *InputError, and
// nothing is journaled.
func (e *Engine) Start(ctx context.Context, w *template.Workflow, input any, opts ...Option) (*Run, error) {
	entry, err := e.learn(w)
	if err != nil {
		return nil, err
	}
	return e.StartEntry(ctx, entry, input, opts...)
}

// StartEntry is Start for an entry of the engine's Registry.
func (e *Engine) StartEntry(ctx context.Context, entry *registry.Entry, input any, opts ...Option) (*Run, error) {
	var o starting.Options
	if err := o.Apply(opts); err != nil {
		return nil, err
	}
	return e.startWith(ctx, entry, input, o)
}

// startWith is StartEntry with the options applied.
func (e *Engine) startWith(ctx context.Context, entry *registry.Entry, input any, o starting.Options) (*Run, error) {
	in, err := o.Complete(entry, input)
	if err != nil {
		return nil, err
	}
	return e.begin(ctx, entry, in, o)
}

// begin appends the first event of a new run. The run's loop decides the first starts before it appends, so that the start and the
// first requests become durable with one sync.
func (e *Engine) begin(ctx context.Context, entry *registry.Entry, input any, o starting.Options) (*Run, error) {
	defer e.registry.Use()()
	first, err := e.starting.First(ctx, entry, input, &o)
	if err != nil {
		return nil, err
	}
	for {
		run, err := e.beginOnce(ctx, entry, first, &o)
		if err != starting.ErrNotBegun {
			return run, err
		}
	}
}

// beginOnce begins a run, or finds it if the id may exist. It returns starting.ErrNotBegun if an earlier start of the id has failed.
func (e *Engine) beginOnce(ctx context.Context, entry *registry.Entry, first journal.Event, o *starting.Options) (*Run, error) {
	p, id := entry.Plan, first.Detail.Start.Run
	if o.Named() {
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
		switch err := e.notes.Start(ctx, entry, first, o.Kept, o.Past != nil); {
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
	leave, err := e.starts.Enter(ctx, e.end.Shut())
	if err != nil {
		return nil, err
	}
	r := newRun(e, id)
	r.calls.Ring, r.started = ring, true
	r.setRoot(entry, e.reader.NewRoot(e.ctx, id, entry), 0)
	done, used := make(chan error, 1), e.registry.Use() // until the start is durable, even if the caller does not wait for that
	r.inbox.Add(decide.Item{Event: first, Reply: inbox.Once(done, used, leave), Past: o.Past != nil})
	for _, e := range o.Kept { // before the loop begins, so that one batch has them all
		r.inbox.Add(decide.Item{Event: e, Past: o.Past != nil})
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
	e.loops.Reuse(func() { r.loop(e.ctx) })
	switch err, answered := inbox.AwaitReply(ctx, done, e.end.Shut()); {
	case err == nil:
		return e.handle(id, ""), nil
	case !answered:
		return nil, err
	case errors.Is(err, journal.ErrConflict):
		run, err := e.existing(ctx, &first)
		if err == starting.ErrNotBegun { // the stream does not belong to a run
			return nil, fmt.Errorf("%w: %s", ErrRunExists, id)
		}
		return run, err
	default:
		return nil, fmt.Errorf("start run %s: %w", id, err)
	}
}

// existing handles a start whose id is taken: see starting.Find.
func (e *Engine) existing(ctx context.Context, first *journal.Event) (*Run, error) {
	if err := e.starting.Find(ctx, first); err != nil {
		return nil, err
	}
	return e.handle(first.Detail.Start.Run, ""), nil
}
