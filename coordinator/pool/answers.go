package pool

import (
	"context"

	"golang.org/x/sync/semaphore"

	"github.com/sluiceflow/sluice/coordinator/operation"
)

// answers is the memory reserved for answers that are being read, decoded and journaled. Texts and values have separate room,
// so that a call with room for its text waits only for room for its value, and a call with both does not wait.
type answers struct{ texts, values byteRoom }

// byteRoom is room for a number of bytes. An answer that exceeds it takes all of it, alone.
type byteRoom struct {
	max  int64 // 0: no bound
	free *semaphore.Weighted
}

// newAnswers returns room for bytesMax bytes; a negative number is no bound. Values need more than their texts.
func newAnswers(bytesMax int) answers {
	bytes := int64(max(0, bytesMax))
	return answers{newByteRoom(bytes / 4), newByteRoom(bytes - bytes/4)}
}

func newByteRoom(bytes int64) byteRoom { return byteRoom{bytes, semaphore.NewWeighted(bytes)} }

// acquire waits for room and returns the amount acquired.
func (s *byteRoom) acquire(ctx context.Context, bytes int) (int64, error) {
	taken := min(int64(bytes), s.max)
	if taken == 0 {
		return 0, nil
	}
	if err := s.free.Acquire(ctx, taken); err != nil {
		return 0, err
	}
	return taken, nil
}

var _ operation.Room = (*Call)(nil)

// TakeText implements operation.Room. The goroutine that makes the call calls it; the room is added to that of the call.
func (c *Call) TakeText(ctx context.Context, bytes int) error {
	taken, err := c.run.pool.answers.texts.acquire(ctx, bytes)
	c.rareFields().texts += taken
	return err
}

// TakeValue implements operation.Room, as TakeText does.
func (c *Call) TakeValue(ctx context.Context, bytes int) error {
	taken, err := c.run.pool.answers.values.acquire(ctx, bytes)
	c.rareFields().values += taken
	return err
}

// putBack returns the room of a call's answer.
func (n *answers) putBack(c *Call) {
	s := c.rare
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
