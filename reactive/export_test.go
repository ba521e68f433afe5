package reactive

// TimersHeld is how many timers a root holds, those without meaning included.
func TimersHeld(r *Root) int { return r.keeper.TimersKept() }
