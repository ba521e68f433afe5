package progress

// Check returns an error for every invariant that does not hold.
func (t *Tree) Check() error { return t.check() }

// Running returns the number of steps of items that the tree records.
func (t *Tree) Running() int { return len(t.begun) + len(t.retrying) }

// Squeeze shortens a name to a width.
var Squeeze = squeeze
