package world

// CacheCells sets how many cells of a machine that are at rest stay in memory.
func CacheCells(w *World, n int) { w.cached = n }

// InMemory returns the number of cells in memory.
func InMemory(w *World) int { return len(w.cells) }
