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
	return r.updates(ctx, run, r.tail, from)
}

// History yields the updates of Watch, up to the end of the journal as it is now.
func (r *Reader) History(ctx context.Context, run string, from uint64) iter.Seq2[inspect.Update, error] {
	return r.updates(ctx, run, r.whole, from)
}

// Roots implements coordinator.Run.Roots.
func (r *Reader) Roots(ctx context.Context, run string) iter.Seq2[*reactive.Root, error] {
	return func(yield func(*reactive.Root, error) bool) {
		var root *reactive.Root
		next, more := uint64(1), true
		begin := func(of *reactive.Root) follower {
			root = of
			return follower{apply: func(e *journal.Event) { of.Apply(e) }}
		}
		for way, err := r.newest(ctx, run); more; {
			if err == nil {
				err = r.follow(ctx, run, way, r.wholeTail, begin, func(e *journal.Event) bool {
					if e.Seq >= next {
						next, more = e.Seq+1, yield(root, nil)
					}
					return more
				})
			}
			if err == nil {
				return
			}
			now, none := r.newest(ctx, run)
			if none != nil || !way.overtaken(&now, err) {
				yield(nil, err)
				return
			}
			way, err = now, nil
		}
	}
}

// tail yields the run's events from a sequence on, present and future, until the run has ended, with the large values that are needed.
func (r *Reader) tail(ctx context.Context, run string, from uint64, needed func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		following, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(r.ctx, cancel)()
		for e, err := range journal.TailLean(following, r.store, run, from, needed) {
			if err != nil && ctx.Err() == nil && following.Err() != nil {
				err = decide.ErrShutdown
			}
			if !yield(e, err) || err != nil || e.Type == journal.RunFinished && !reopened(ctx, r.store, run, e.Seq) {
				return
			}
		}
	}
}

// wholeTail is tail with all values: the caller of Roots may read any output.
func (r *Reader) wholeTail(ctx context.Context, run string, from uint64, _ func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return r.tail(ctx, run, from, func(*journal.Event) bool { return true })
}

// updates yields the changes by events, from the one with sequence from on. It ends at an error.
func (r *Reader) updates(ctx context.Context, run string, read reading, from uint64) iter.Seq2[inspect.Update, error] {
	return func(yield func(inspect.Update, error) bool) {
		var u inspect.Update
		next, more := max(1, from), true
		var root *reactive.Root
		begin := func(of *reactive.Root) follower {
			changes, before := inspect.NewChanges(of, next), root
			root = of
			return follower{
				apply: func(e *journal.Event) {
					if u = changes.Apply(e); e.Seq >= next && decide.IsMove(e) {
						changes.Moved(&u, before)
					}
				},
				trimmed: func(e *journal.Event) { u = changes.Trimmed(e) },
			}
		}
		for way, err := r.since(ctx, run, next); more; {
			if err == nil {
				err = r.follow(ctx, run, way, read, begin, func(e *journal.Event) bool {
					if e.Seq >= next {
						next, more = e.Seq+1, yield(u, nil)
					}
					return more
				})
			}
			if err == nil {
				return
			}
			now, none := r.since(ctx, run, next)
			if none != nil || !way.overtaken(&now, err) {
				yield(inspect.Update{}, err)
				return
			}
			way, err = now, nil
		}
	}
}

// Views implements coordinator.Run.Views.
func (r *Reader) Views(ctx context.Context, run string, from uint64) iter.Seq2[routed.View, error] {
	return func(yield func(routed.View, error) bool) {
		var views []routed.View
		var root *reactive.Root
		begin := func(of *reactive.Root) follower {
			root, views = of, views[:0]
			if steps := root.Steps(); steps != nil {
				steps.Watch(func(v routed.View) { views = append(views, v) })
			}
			return follower{apply: func(e *journal.Event) { root.Apply(e) }}
		}
		more := true
		err := r.follow(ctx, run, route{}, r.whole, begin, func(e *journal.Event) bool {
			more = root.Steps() != nil
			for _, v := range views {
				more = more && (v.Seq < max(from, e.Seq) || yield(v, nil))
			}
			views = views[:0]
			return more
		})
		switch {
		case err == nil && root == nil:
			err = fmt.Errorf("%w: %s", decide.ErrRunNotFound, run)
		case err == nil && root.Steps() == nil:
			err = fmt.Errorf("read run %s: %w: only a playbook's run has a net", run, decide.ErrNotPossible)
		}
		if err != nil {
			yield(routed.View{}, err)
		}
	}
}

// reopened reports whether a run was reopened after the event of that sequence had finished it.
func reopened(ctx context.Context, store journal.Store, run string, finished uint64) bool {
	for _, err := range journal.ReadLean(ctx, store, run, finished+1, journal.Beginnings) {
		return err == nil
	}
	return false
}
