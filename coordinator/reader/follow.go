package reader

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// follower derives data from the events of a run, with the root for which it was made.
type follower struct {
	apply    func(*journal.Event)       // applies the next event to the root
	trimmed  func(*journal.Event)       // takes an event before the snapshot, whose state is not available; nil: skip it
	restored func()                     // is called when the root has the state of a snapshot; nil: not needed
	check    func(*journal.Event) error // returns the reason that the next event must not be applied; nil: no check
}

// Derived calls f to follow a journal. It returns a panic as an error and logs it: readers are not part of the run, and must
// not end its process.
func (r *Reader) Derived(run string, f func()) error {
	err := usercode.Call(func() error { f(); return nil })
	if err != nil {
		r.process.Report("the state of a run cannot be derived", run, err)
	}
	return err
}

// follow passes the events of a run on a route to a follower, which begin makes for the run's root, and yields each then. It ends
// at the first error, or when yield returns false.
func (r *Reader) follow(
	ctx context.Context, id string, way route, read reading, begin func(*reactive.Root) follower, yield func(*journal.Event) bool,
) (err error) {
	f := following{reader: r, id: id, read: read, begin: begin, content: way.content}
	for s, readErr := range r.along(ctx, id, way, func(from uint64) iter.Seq2[journal.Event, error] { return read(ctx, id, from, f.wanted(ctx)) }) {
		if err = readErr; err == nil {
			err = f.take(ctx, &s)
		}
		if err != nil {
			return fmt.Errorf("read run %s: %w", id, err)
		}
		if s.kind != stopRestore && !yield(&s.Event) {
			return nil
		}
	}
	return nil
}

// following is a journal that is being followed.
type following struct {
	reader  *Reader
	id      string
	read    reading
	begin   func(*reactive.Root) follower
	content bool // of a world, read as it is needed

	root  *reactive.Root // nil: its first event is still to come
	to    follower
	large *inspect.Needs
}

// start makes the root from the first event.
func (f *following) start(ctx context.Context, first *journal.Event) (err error) {
	if f.root != nil {
		return nil
	}
	if f.root, err = f.reader.rootFor(ctx, first); err == nil {
		f.large = inspect.NeedsOf(f.root)
		if f.content {
			f.reader.giveContent(ctx, f.id, f.root)
		}
		f.to = f.begin(f.root)
	}
	return err
}

// wanted reports whether the large value of the next event is needed.
func (f *following) wanted(ctx context.Context) func(*journal.Event) bool {
	return func(e *journal.Event) bool { return f.start(ctx, e) != nil || f.large.Value(f.root, e) }
}

// take takes the next event. After a move the journal is followed again from its beginning, with a root of the other workflow and another
// follower, so that the past counts under that workflow, too.
func (f *following) take(ctx context.Context, s *stop) error {
	if err := f.start(ctx, &s.Event); err != nil {
		return err
	}
	if !decide.IsMove(&s.Event) {
		return f.reader.pass(f.id, f.root, &f.to, s)
	}
	again := following{reader: f.reader, id: f.id, read: f.read, begin: f.begin}
	for e, err := range f.read(ctx, f.id, 1, func(e *journal.Event) bool { first := decide.Under(e, &s.Event); return again.wanted(ctx)(&first) }) {
		if err != nil {
			return err
		}
		e = decide.Under(&e, &s.Event)
		if err := again.start(ctx, &e); err != nil {
			return err
		}
		if err := f.reader.pass(f.id, again.root, &again.to, &stop{e, stopNext}); err != nil {
			return err
		}
		if e.Seq == s.Seq {
			break
		}
	}
	*f = again
	return nil
}

// pass passes an event to a follower. The remains of a state in a damaged snapshot are not served.
func (r *Reader) pass(id string, root *reactive.Root, to *follower, s *stop) (err error) {
	panicked := r.Derived(id, func() {
		switch {
		case s.kind == stopRestore:
			if _, err = world.Of(root).Restore(&s.Event); err == nil && to.restored != nil {
				to.restored()
			}
		case s.kind == stopTrimmed:
			if to.trimmed != nil {
				to.trimmed(&s.Event)
			}
		default:
			if to.check != nil {
				err = to.check(&s.Event)
			}
			if err == nil {
				to.apply(&s.Event)
				err = root.Cells().Err()
			}
		}
	})
	if panicked != nil {
		return panicked
	}
	return err
}

// all accepts every event.
func all(*journal.Event) bool { return true }

// followTo follows a run to the end of the events that read yields, and returns its root. It takes the route that way finds: if the
// world goes on meanwhile and deletes the snapshot or the events that are being read, followTo begins again.
func (r *Reader) followTo(
	ctx context.Context, id string, way func() (route, error), read reading, begin func(*reactive.Root) follower,
) (root *reactive.Root, err error) {
	keep := func(of *reactive.Root) follower {
		root = of
		return begin(of)
	}
	take, err := way()
	for err == nil {
		root = nil
		if err = r.follow(ctx, id, take, read, keep, all); err == nil {
			break
		}
		now, none := way()
		if none != nil || !take.overtaken(&now, err) {
			return nil, err
		}
		take, err = now, nil
	}
	if err == nil && root == nil {
		err = fmt.Errorf("%w: %s", decide.ErrRunNotFound, id)
	}
	return root, err
}

// rootFor makes the empty root of a run from its first event.
func (r *Reader) rootFor(ctx context.Context, first *journal.Event) (*reactive.Root, error) {
	start := decide.StartOf(first)
	if start == nil {
		return nil, fmt.Errorf("%w: it does not begin with its start", journal.ErrDamaged)
	}
	if err := decide.SameRules(start); err != nil {
		return nil, err
	}
	entry, err := r.registry.Read(ctx, start.Workflow, start.Children)
	if err != nil {
		return nil, err
	}
	root := decide.NewRoot(entry.Plan)
	markWorkers(ctx, r, start.Run, entry, root)
	return root, nil
}
