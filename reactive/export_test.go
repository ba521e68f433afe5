package reactive

// TimersHeld returns the number of timers that a root holds, stale ones included.
func TimersHeld(r *Root) int { return r.keeper.TimersKept() }
