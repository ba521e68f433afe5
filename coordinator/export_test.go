package coordinator

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
	ParentOf   = parentOf
	Generation = generation
)
