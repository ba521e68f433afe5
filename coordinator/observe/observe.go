package observe

import (
	"context"

	"github.com/reactivex/rxgo/v2"

	"github.com/sluiceflow/sluice/coordinator"
)

// Run is the observable of a run's updates from sequence from (1: from the start). Its items are coordinator.Update values;
// it completes after the run has ended, and ends with an error item when watching fails. Nothing is read before it is
// observed, and every observer watches for itself.
//
// ctx ends it: an observer that stops early (Take, First) must cancel it, or its goroutine waits for ever.
func Run(ctx context.Context, run *coordinator.Run, from uint64) rxgo.Observable {
	produce := func(ctx context.Context, next chan<- rxgo.Item) {
		for update, err := range run.Watch(ctx, from) {
			item := rxgo.Of(update)
			if err != nil {
				item = rxgo.Error(err)
			}
			if !item.SendContext(ctx, next) {
				return
			}
		}
	}
	return rxgo.Defer([]rxgo.Producer{produce}, rxgo.WithContext(ctx))
}
