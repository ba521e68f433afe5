package world

// CacheCells sets the bound of cells at rest of a machine that stay in memory.
func CacheCells(w *World, n int) { w.cache.Cells = n }

// Forgetful makes a world keep as little in memory as possible: cells leave memory when they may, and only the next deadline is read.
func Forgetful(w *World) {
	w.cache, w.intents.agenda.Window = Cache{}, 1
	SpillBeyond(w, 30, 100)
}

// SpillBeyond sets the bounds of the bytes of changed states in memory, of one state and of all.
func SpillBeyond(w *World, one, all int) { w.delta.stateMax, w.delta.bytesMax = one, all }

// Due returns the number of timers and ends of times to live in memory, and the number read from snapshots.
func Due(w *World) (inMemory, read int) { return w.intents.agenda.Len(), w.intents.agenda.Read() }

// InMemory returns the number of cells in memory.
func InMemory(w *World) int { return len(w.cells) }

// LastFrame returns the highest number that the newest attempt of an open call has reported.
func LastFrame(w *World, call string) int { return int(w.intents.byKey[call].frames[""].number) }
