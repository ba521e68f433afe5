package reader

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// follower derives something from the events of a run, with a root that it was made for.
type follower struct {
	apply    func(*journal.Event)       // takes the next event, and gives it to the root
	told     func(*journal.Event)       // takes an event at which the state is not known; nil: it does not matter
	restored func()                     // the root has the state of a snapshot; nil: it does not matter
	check    func(*journal.Event) error // why the next event must not be applied; nil: it may be
}

// Derived calls f to follow a journal. It returns a panic as an error and logs it: readers are not part of the run, and must
// not end its process.
func (r *Reader) Derived(run string, f func()) error {
	err := usercode.Call(func() error { f(); return nil })
	if err != nil {
		r.process.Report("what has become of a run cannot be derived", run, err)
	}
	return err
}

// follow passes the events of a run on a route to a follower, which begin makes for the run's root, and yields each then. It ends
// at the first error, or when yield returns false.
func (r *Reader) follow(
	ctx context.Context, id string, way route, read reading, begin func(*reactive.Root) follower, yield func(*journal.Event) bool,
) (err error) {
	var root *reactive.Root
	var to follower
	for s, readErr := range r.along(ctx, id, way, read) {
		if err = readErr; err == nil && root == nil {
			if root, err = r.rootFor(ctx, &s.Event); err == nil {
				if way.content {
					r.giveContent(ctx, id, root)
				}
				to = begin(root)
			}
		}
		if err == nil {
			err = r.pass(id, root, &to, &s)
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

// pass passes an event to a follower. What a damaged snapshot has left of a state is not served.
func (r *Reader) pass(id string, root *reactive.Root, to *follower, s *stop) (err error) {
	panicked := r.Derived(id, func() {
		switch {
		case s.kind == stopRestore:
			if _, err = world.Of(root).Restore(&s.Event); err == nil && to.restored != nil {
				to.restored()
			}
		case s.kind == stopTold:
			if to.told != nil {
				to.told(&s.Event)
			}
		default:
			if to.check != nil {
				err = to.check(&s.Event)
			}
			if err == nil {
				to.apply(&s.Event)
				err = cellsErr(root)
			}
		}
	})
	if panicked != nil {
		return panicked
	}
	return err
}

// cellsErr returns why the cells of a run cannot be read.
func cellsErr(root *reactive.Root) error {
	if cells := root.Cells(); cells != nil {
		return cells.Err()
	}
	return nil
}

// all accepts every event.
func all(*journal.Event) bool { return true }

// followAll follows a run to the end of its journal as it is now, and returns its root.
func (r *Reader) followAll(
	ctx context.Context, id string, way func() (route, error), begin func(*reactive.Root) follower,
) (root *reactive.Root, err error) {
	return r.followTo(ctx, id, way, r.store.Read, begin)
}

// followTo follows a run to the end of what read yields, and returns its root. The route is that which way finds: if the world goes
// on meanwhile and deletes what is being read, followTo begins again.
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
	return decide.NewRoot(entry.Plan), nil
}
