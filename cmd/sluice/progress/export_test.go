package progress

// Check reports every invariant that does not hold.
func (t *Tree) Check() error { return t.check() }

// UnderWay is how many steps of items the tree remembers.
func (t *Tree) UnderWay() int { return len(t.begun) + len(t.retrying) }

// Squeeze shortens a name to a width.
var Squeeze = squeeze
