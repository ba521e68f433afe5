package coordinator

import (
	"context"
	"testing"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// SetClock has engines that are made from now on, until the test ends, look at another clock.
func SetClock(t testing.TB, read func() (wall, steady int64)) {
	before := systemClock
	systemClock = func() func() (wall, steady int64) { return read }
	t.Cleanup(func() { systemClock = before })
}

// InMemory is how many runs the engine holds in memory.
func (e *Engine) InMemory() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs)
}

// FirstDifference is the place of the first difference between two values.
var FirstDifference = firstDifference

// ChildOf, ParentOf and Generation are about the ids of child runs.
var (
	ChildOf    = childOf
	ParentOf   = journal.ParentRun
	Generation = generation
)

// Remembered is how many workflows the engine remembers by each of its ways to find them.
func Remembered(e *Engine) map[string]int {
	return e.registry.Remembered()
}

// Unused reports whether nothing has room for an answer.
func Unused(e *Engine) bool {
	for _, s := range []*shelf{&e.inFlight.texts, &e.inFlight.values} {
		if !s.free.TryAcquire(s.most) {
			return false
		}
		s.free.Release(s.most)
	}
	return true
}

// Shelf is room for answers.
type Shelf = shelf

// NewShelf, Take and PutBack are what they are inside.
var NewShelf = newShelf

func (s *Shelf) Take(ctx context.Context, bytes int) (int64, error) { return s.take(ctx, bytes) }
func (s *Shelf) PutBack(bytes int64)                                { s.free.Release(bytes) }
