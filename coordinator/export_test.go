package coordinator

import (
	"testing"

	"github.com/sluiceflow/sluice/coordinator/children"
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

// ChildOf, ParentOf and Generation are about the ids of child runs.
var (
	ChildOf    = children.ID
	ParentOf   = journal.ParentRun
	Generation = children.Generation
)

// RegistrySizes returns the number of workflows that the registry keeps in each of its maps.
func RegistrySizes(e *Engine) map[string]int {
	return e.registry.Sizes()
}
