package petri

// Invariants returns every invariant of a net that does not hold.
func Invariants(n *Net) error { return n.check() }
