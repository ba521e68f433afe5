package pool

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/sluiceflow/sluice/coordinator/operation"
)

// answers is the room of all answers that are being read, decoded and journaled. Texts and values have separate room, so that
// a call with room for its text waits only for room for its value, and a call with both waits for nothing.
type answers struct{ texts, values shelf }

// shelf is room for a number of bytes. An answer larger than that takes all of it, alone.
type shelf struct {
	most int64 // 0: no bound
	free *semaphore.Weighted
}

// newAnswers returns room for most bytes; below 0 there is no bound. Values need more than their texts.
func newAnswers(most int) answers {
	bytes := int64(max(0, most))
	return answers{newShelf(bytes / 4), newShelf(bytes - bytes/4)}
}

func newShelf(most int64) shelf { return shelf{most, semaphore.NewWeighted(most)} }

// take waits for room and returns the amount taken.
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

var _ operation.Room = (*Call)(nil)

// TakeText implements operation.Room. It is called on the goroutine that makes the call, and adds to the room that the call
// has.
func (c *Call) TakeText(ctx context.Context, bytes int) error {
	taken, err := c.run.pool.answers.texts.take(ctx, bytes)
	c.aside().texts += taken
	return err
}

// TakeValue implements operation.Room, as TakeText does.
func (c *Call) TakeValue(ctx context.Context, bytes int) error {
	taken, err := c.run.pool.answers.values.take(ctx, bytes)
	c.aside().values += taken
	return err
}

// putBack returns the room of a call's answer.
func (n *answers) putBack(c *Call) {
	s := c.side
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
