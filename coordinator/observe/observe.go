package observe

import (
	"context"
	"iter"
	"time"

	"github.com/reactivex/rxgo/v2"

	"github.com/sluiceflow/sluice/coordinator"
)

// Run returns the observable of a run's updates from sequence from (0 and 1: from the start). Its items are coordinator.Update
// values; it completes after the run has ended, and ends with an error item if watching fails. It reads nothing before it is
// observed, and every observer watches separately.
//
// ctx ends it. The operators of rxgo wait for their observers, so an operator that is abandoned before its observable has
// completed leaks its goroutine: use Each, which leaks none, or read until the channel is closed. Functions passed to operators
// run on goroutines of rxgo: a panic in one ends the program.
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

// Each yields the items of the observable that build derives from a run's updates. The caller may break off, and ctx may end,
// at any time and behind any operators: iteration and updates end, remaining items are dropped, and no goroutine stays behind.
// If an item is itself an observable, as those of GroupBy and WindowWithCount, the caller must read it to its end. Sources
// made in build, and operators that merge several observables, must take the context of build (rxgo.WithContext), which
// ends with the iteration.
func Each(ctx context.Context, run *coordinator.Run, from uint64, build func(ctx context.Context, updates rxgo.Observable) rxgo.Observable) iter.Seq[rxgo.Item] {
	return func(yield func(rxgo.Item) bool) {
		watching, end := context.WithCancel(ctx)
		operating, endAll := context.WithCancel(context.WithoutCancel(ctx))
		items := build(operating, Run(watching, run, from)).Observe(rxgo.WithContext(operating))
		defer func() {
			end()
			go func() { // let the operators end by themselves: not all of them can be cancelled
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

// Bounds of the time that drain reads, and of the silence after which an observable counts as ended: some observables of rxgo end with
// their context and leave their channel open.
const (
	drainMost  = 5 * time.Second
	drainQuiet = 250 * time.Millisecond
)

// drain reads the rest of an observable, and of those among its items.
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
