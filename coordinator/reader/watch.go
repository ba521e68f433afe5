package reader

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Watch implements coordinator.Run.Watch.
func (r *Reader) Watch(ctx context.Context, run string, from uint64) iter.Seq2[inspect.Update, error] {
	return r.updates(ctx, run, r.tail(ctx, run), from)
}

// History yields what Watch does, up to the end of the journal as it is now.
func (r *Reader) History(ctx context.Context, run string, from uint64) iter.Seq2[inspect.Update, error] {
	return r.updates(ctx, run, r.store.Read(ctx, run, 1), from)
}

// Roots implements coordinator.Run.Roots.
func (r *Reader) Roots(ctx context.Context, run string) iter.Seq2[*reactive.Root, error] {
	return func(yield func(*reactive.Root, error) bool) {
		var root *reactive.Root
		for _, err := range r.follow(ctx, run, r.tail(ctx, run), replaying(&root)) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(root, nil) {
				return
			}
		}
	}
}

// tail yields the run's events, present and future, until the run has ended.
func (r *Reader) tail(ctx context.Context, run string) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		following, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.ctx, cancel)()
		for e, err := range r.store.Tail(following, run, 1) {
			if err != nil && ctx.Err() == nil && following.Err() != nil {
				err = decide.ErrShutdown
			}
			if !yield(e, err) || err != nil || e.Type == journal.RunFinished && !r.reopened(ctx, run, e.Seq) {
				return
			}
		}
	}
}

// updates yields what events have changed, from the one with sequence from on. It ends at an error.
func (r *Reader) updates(ctx context.Context, run string, events iter.Seq2[journal.Event, error], from uint64) iter.Seq2[inspect.Update, error] {
	return func(yield func(inspect.Update, error) bool) {
		var u inspect.Update
		begin := func(root *reactive.Root) func(*journal.Event) {
			changes := inspect.NewChanges(root, from)
			return func(e *journal.Event) { u = changes.Apply(e) }
		}
		for e, err := range r.follow(ctx, run, events, begin) {
			if err != nil {
				yield(inspect.Update{}, err)
				return
			}
			if e.Seq >= from && !yield(u, nil) {
				return
			}
		}
	}
}

// Views implements coordinator.Run.Views.
func (r *Reader) Views(ctx context.Context, run string, from uint64) iter.Seq2[routed.View, error] {
	return func(yield func(routed.View, error) bool) {
		var views []routed.View
		var root *reactive.Root
		begin := func(of *reactive.Root) func(*journal.Event) {
			root = of
			if steps := root.Steps(); steps != nil {
				steps.Watch(func(v routed.View) { views = append(views, v) })
			}
			return func(e *journal.Event) { root.Apply(e) }
		}
		for _, err := range r.follow(ctx, run, r.store.Read(ctx, run, 1), begin) {
			if err == nil && root.Steps() == nil {
				err = fmt.Errorf("%w: only a playbook's run has a net", decide.ErrNotPossible)
			}
			if err != nil {
				yield(routed.View{}, err)
				return
			}
			for _, v := range views {
				if v.Seq >= from && !yield(v, nil) {
					return
				}
			}
			views = views[:0]
		}
		if root == nil {
			yield(routed.View{}, fmt.Errorf("%w: %s", decide.ErrRunNotFound, run))
		}
	}
}

// reopened reports whether a run was reopened after the event of that sequence had finished it.
func (r *Reader) reopened(ctx context.Context, run string, finished uint64) bool {
	for _, err := range r.store.Read(ctx, run, finished+1) {
		return err == nil
	}
	return false
}
