package coordinator

import (
	"testing"

	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// SetClock sets the clock of engines that are made from now on, until the test ends.
func SetClock(t testing.TB, read func() (wall, steady int64)) {
	before := systemClock
	systemClock = func() func() (wall, steady int64) { return read }
	t.Cleanup(func() { systemClock = before })
}

// InMemory returns the number of runs in memory.
func (e *Engine) InMemory() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.runs)
}

// Functions on the ids of child runs.
var (
	ChildOf    = children.ID
	ParentOf   = journal.ParentRun
	Generation = children.Generation
)

// RegistrySizes returns the number of workflows that the registry keeps in each of its maps.
func RegistrySizes(e *Engine) map[string]int {
	return e.registry.Sizes()
}
