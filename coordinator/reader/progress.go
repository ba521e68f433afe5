package reader

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/sluiceflow/sluice/internal/cancelled"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Progress is a run's progress according to its journal alone.
type Progress struct {
	Result *inspect.Result // nil: it has not ended
	Start  *journal.Start  // nil: unknown
	Last   uint64          // sequence of its last event
}

// Progress reads the result of a run, if it has ended, without deriving anything. A world has not ended before its newest snapshot.
func (r *Reader) Progress(ctx context.Context, run string) (out Progress, err error) {
	way, err := r.newest(ctx, run)
	if err != nil {
		return Progress{}, err
	}
	result := func(e *journal.Event) bool { return e.Type == journal.RunFinished }
	read := func(from uint64) iter.Seq2[journal.Event, error] {
		return journal.ReadLean(ctx, r.store, run, from, result)
	}
	for event, err := range r.along(ctx, run, way, read) {
		if err != nil {
			return Progress{}, fmt.Errorf("read run %s: %w", run, err)
		}
		switch out.Last = event.Seq; event.Type {
		case journal.RunStarted:
			out.Start = decide.StartOf(&event.Event)
		case journal.RunMoved:
			out.Start = event.Detail.Start
		case journal.RunFinished:
			out.Result = inspect.NewResult(run, &event.Event)
		case journal.RunReopened:
			out.Result = nil
		}
	}
	return out, nil
}

// Await follows a run that is not in memory, after the event with sequence last, until it ends; a run that does not go on here
// has also ended if that follows from timers that have fallen due. It returns nil if over ends first, or a timer falls due.
func (r *Reader) Await(ctx, over context.Context, run string, last uint64) (*inspect.Result, error) {
	if last == 0 { // it was deleted, and its id is free
		return nil, fmt.Errorf("%w: %s", decide.ErrRunNotFound, run)
	}
	following, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(over, cancel)()
	if !r.process.Drives(run) {
		result, due, err := r.lateEnd(ctx, run)
		if result != nil || err != nil {
			return result, err
		}
		if due > 0 {
			defer time.AfterFunc(time.Duration(due-r.process.Now()), cancel).Stop()
		}
	}
	for event, err := range r.store.Tail(following, run, last+1) {
		switch {
		case err != nil && following.Err() == nil:
			return nil, fmt.Errorf("read run %s: %w", run, err)
		case err == nil && event.Type == journal.RunFinished && !reopened(following, r.store, run, event.Seq):
			return inspect.NewResult(run, &event), nil
		}
	}
	if ctx.Err() != nil {
		return nil, cancelled.Error(ctx)
	}
	return nil, nil
}
