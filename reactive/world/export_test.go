package world

// CacheCells sets how many cells of a machine that are at rest stay in memory.
func CacheCells(w *World, n int) { w.cached = n }

// InMemory returns the number of cells in memory.
func InMemory(w *World) int { return len(w.cells) }

// LastFrame returns the highest number that the newest attempt of an open call has reported.
func LastFrame(w *World, call string) int { return int(w.intents.byKey[call].frames[""].number) }
