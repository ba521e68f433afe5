package world

// CacheCells sets how many cells of a machine that are at rest stay in memory.
func CacheCells(w *World, n int) { w.cache.Cells = n }

// Forgetful makes a world keep as little in memory as it can: cells that may leave memory do, and of the deadlines only the next is read.
func Forgetful(w *World) {
	w.cache, w.intents.agenda.Window = Cache{}, 1
	SpillBeyond(w, 30, 100)
}

// SpillBeyond sets how many bytes of changed states stay in memory, of one and of all.
func SpillBeyond(w *World, one, all int) { w.delta.stateMax, w.delta.bytesMax = one, all }

// Due returns how many timers and ends of times to live are in memory, and how many were read from snapshots.
func Due(w *World) (inMemory, read int) { return w.intents.agenda.Len(), w.intents.agenda.Read() }

// InMemory returns the number of cells in memory.
func InMemory(w *World) int { return len(w.cells) }

// LastFrame returns the highest number that the newest attempt of an open call has reported.
func LastFrame(w *World, call string) int { return int(w.intents.byKey[call].frames[""].number) }
