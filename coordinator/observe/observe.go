package observe

import (
	"context"
	"iter"
	"time"

	"github.com/reactivex/rxgo/v2"

	"github.com/sluiceflow/sluice/coordinator"
)

// Run is the observable of a run's updates from sequence from (0 and 1: from the start). Its items are coordinator.Update
// values; it completes after the run has ended, and ends with an error item when watching fails. Nothing is read before it is
// observed, and every observer watches for itself.
//
// ctx ends it. The operators of rxgo wait for whoever observes them, so one that is abandoned before its observable has
// completed keeps its goroutine: use Each, which leaves nothing behind, or read on until the channel is closed. Functions given
// to operators run on goroutines of rxgo: a panic in one is the program's own.
func Run(ctx context.Context, run *coordinator.Run, from uint64) rxgo.Observable {
	produce := func(observing context.Context, next chan<- rxgo.Item) {
		for update, err := range run.Watch(ctx, from) {
			item := rxgo.Of(update)
			if err != nil {
				item = rxgo.Error(err)
			}
			if !item.SendContext(observing, next) {
				return
			}
		}
	}
	return rxgo.Defer([]rxgo.Producer{produce}, rxgo.WithContext(ctx))
}

// Each yields the items of what build makes of a run's updates. It may be broken off, and ctx may end, at any time and behind
// any operators: the iteration and the updates end then, what is left is taken and dropped, and no goroutine stays behind. An observable that is
// itself an item, as those of GroupBy and WindowWithCount, is the caller's to read to its end once it has been yielded.
// Sources of its own, and operators that merge several observables, build starts with the context that it gets
// (rxgo.WithContext), which ends with the iteration.
func Each(ctx context.Context, run *coordinator.Run, from uint64, build func(ctx context.Context, updates rxgo.Observable) rxgo.Observable) iter.Seq[rxgo.Item] {
	return func(yield func(rxgo.Item) bool) {
		watching, end := context.WithCancel(ctx)
		operating, endAll := context.WithCancel(context.WithoutCancel(ctx))
		items := build(operating, Run(watching, run, from)).Observe(rxgo.WithContext(operating))
		defer func() {
			end()
			go func() { // the operators come to their end by themselves first: not all of them bear to be cancelled
				drain(items)
				endAll()
				drain(items)
			}()
		}()
		for {
			select {
			case <-ctx.Done():
				return
			case item, ok := <-items:
				if !ok || !yield(item) {
					return
				}
			}
		}
	}
}

// How long drain takes what comes, and how long nothing comes of an observable before it counts as ended: some of rxgo's end
// with their context and leave their channel open.
const (
	drainMost  = 5 * time.Second
	drainQuiet = 250 * time.Millisecond
)

// drain takes what is left of an observable, and of those that are its items.
func drain(items <-chan rxgo.Item) {
	most, quiet := time.NewTimer(drainMost), time.NewTimer(drainQuiet)
	defer most.Stop()
	defer quiet.Stop()
	for {
		select {
		case item, ok := <-items:
			if !ok {
				return
			}
			if inner, ok := item.V.(rxgo.Observable); ok {
				go drain(inner.Observe())
			}
			quiet.Reset(drainQuiet)
		case <-quiet.C:
			return
		case <-most.C:
			return
		}
	}
}
