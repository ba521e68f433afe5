package coordinator

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/sluiceflow/sluice/coordinator/operation"
)

// inFlight is the room of all answers that are read, made a value of and journaled: texts first, then values. Apart, because who
// has room for a text waits for room for its value, and who has that waits for nobody.
type inFlight struct{ texts, values shelf }

// shelf is room for so many bytes. What is larger gets all of it, alone.
type shelf struct {
	most int64 // 0: no bound
	free *semaphore.Weighted
}

// newInFlight has room for most bytes; below 0 there is no bound. Values need more than their texts.
func newInFlight(most int) inFlight {
	bytes := int64(max(0, most))
	return inFlight{newShelf(bytes / 4), newShelf(bytes - bytes/4)}
}

func newShelf(most int64) shelf { return shelf{most, semaphore.NewWeighted(most)} }

// take waits for room and says how much was taken.
func (s *shelf) take(ctx context.Context, bytes int) (int64, error) {
	taken := min(int64(bytes), s.most)
	if taken == 0 {
		return 0, nil
	}
	if err := s.free.Acquire(ctx, taken); err != nil {
		return 0, err
	}
	return taken, nil
}

var _ operation.Room = (*flight)(nil)

// TakeText and TakeValue are called on the goroutine that makes the call. They take room besides what the call has.
func (f *flight) TakeText(ctx context.Context, bytes int) error {
	taken, err := f.run.engine.inFlight.texts.take(ctx, bytes)
	f.aside().texts += taken
	return err
}

func (f *flight) TakeValue(ctx context.Context, bytes int) error {
	taken, err := f.run.engine.inFlight.values.take(ctx, bytes)
	f.aside().values += taken
	return err
}

// putBack returns the room that the answer of a call had.
func (n *inFlight) putBack(f *flight) {
	s := f.side
	if s == nil {
		return
	}
	if s.texts > 0 {
		n.texts.free.Release(s.texts)
	}
	if s.values > 0 {
		n.values.free.Release(s.values)
	}
	s.texts, s.values = 0, 0
}
