package signals

// Computed is a value derived from others. It runs only when it is read and a value that it read in its last run has changed;
// it notifies its readers only if its own value changed. While an effect or an observed computed observes it, it is notified of
// changes; otherwise it only references the values that it has read, and is garbage as soon as its user drops it.
type Computed[T any] struct {
	node
	fn    func(r Reader) (T, error)
	value T
}

// NewComputed returns a computed whose value changes when it is != to the previous one. fn must depend only on values that
// it reads with r, and must not write. An error, or a panic as [*PanicError], is kept like a value: every read returns it
// until an input changes. Failing again counts as a change.
func NewComputed[T comparable](g *Graph, fn func(r Reader) (T, error)) *Computed[T] {
	c := &computed[T]{}
	c.init(g, c, fn)
	return &c.Computed
}

// NewComputedFunc is like NewComputed with another equality. If equal is nil, every run is a change.
func NewComputedFunc[T any](g *Graph, equal func(a, b T) bool, fn func(r Reader) (T, error)) *Computed[T] {
	c := &computedFunc[T]{equal: equal}
	c.init(g, c, fn)
	return &c.Computed
}

func (c *Computed[T]) init(g *Graph, b body, fn func(r Reader) (T, error)) {
	c.node = node{source: source{graph: g, node: &c.node, flags: dirty}, body: b}
	c.fn = fn
}

// Get returns the current value, or the error of the run that computed it, and makes the node of r depend on it. Reading a
// computed that depends on the reader returns a [*CycleError].
func (c *Computed[T]) Get(r Reader) (T, error) {
	if g := c.graph; r.graph == g && r.serial == g.run.serial { // fast path of use
		g.track(&c.source)
		if c.flags&(subscribed|dirty|pending|running) == subscribed && !g.uncommitted && c.scope == nil {
			return c.value, nil
		}
	} else {
		r.untrackedIn(g)
	}
	if err := c.node.ready(); err != nil {
		var none T
		return none, err
	}
	return c.result()
}

// Peek is like Get but makes no dependency.
func (c *Computed[T]) Peek() (T, error) { return c.Get(Reader{}) }

// result returns the outcome of the last run.
func (c *Computed[T]) result() (T, error) {
	if c.scope != nil && c.scope.err != nil {
		var none T
		return none, c.scope.err
	}
	return c.value, nil
}

// settle stores the outcome of a run; same reports that the new value equals the previous one.
func (c *Computed[T]) settle(value T, err error, same bool) (changed bool) {
	switch {
	case err != nil:
		c.fail(c.graph, err)
		return true
	case same:
		return false
	}
	c.replace(value, nil)
	return true
}

func (c *Computed[T]) fail(_ *Graph, err error) {
	var none T
	c.replace(none, err)
}

// replace sets value and error and notifies the counting subscribers.
func (c *Computed[T]) replace(value T, err error) {
	old, had := c.value, c.valid()
	c.value = value
	if err != nil || c.scope != nil {
		c.node.ownScope().err = err
	}
	if c.flags&feeds != 0 {
		feed(&c.source, old, value, had, err == nil)
	}
}

// valid reports whether the last run returned a value.
func (c *Computed[T]) valid() bool { return c.changedAt > 0 && (c.scope == nil || c.scope.err == nil) }

func (c *Computed[T]) read(r Reader) (T, error) { return c.Get(r) }

func (c *Computed[T]) base() *source { return &c.source }

func (c *Computed[T]) describe() string { return nameOf(c.fn) }

// computed and computedFunc differ only in the equality, so that the usual equality costs no memory.
type computed[T comparable] struct{ Computed[T] }

func (c *computed[T]) update(r Reader) bool {
	value, err := c.fn(r)
	if err != nil || c.scope != nil || c.changedAt == 0 || c.flags&feeds != 0 {
		return c.settle(value, err, err == nil && value == c.value && c.valid())
	}
	if value == c.value {
		return false
	}
	c.value = value
	return true
}

type computedFunc[T any] struct {
	Computed[T]
	equal func(a, b T) bool
}

func (c *computedFunc[T]) update(r Reader) bool {
	value, err := c.fn(r)
	return c.settle(value, err, err == nil && c.valid() && c.equal != nil && c.equal(c.value, value))
}

// use is the untyped half of a read: it links n to the running node, if r is its Reader, and updates n. The link comes
// first, so that a node that runs for the first time is already marked as observed.
func (n *node) use(r Reader) error {
	if r.tracks(n.graph) {
		n.graph.track(&n.source)
	}
	return n.ready()
}

// ready updates n.
func (n *node) ready() error {
	g := n.graph
	switch {
	case n.flags&(subscribed|dirty|pending|running) == subscribed && !g.uncommitted:
		return nil
	case n.flags&running != 0:
		return g.cycle(n)
	}
	return g.settle(n)
}
