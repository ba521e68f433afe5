package signals

// Signal is a value that is written from outside and notifies its readers of changes.
type Signal[T any] struct {
	source
	value T
	equal func(a, b T) bool // nil: ==. A function literal would be another object for every signal
}

// NewSignal returns a signal that changes when the written value is != to the previous one. So a NaN always changes, a
// pointer changes only with the address, and an interface with an incomparable value panics on the second write: use
// [NewSignalFunc] for such types.
func NewSignal[T comparable](g *Graph, value T) *Signal[T] {
	return &Signal[T]{source: source{graph: g, changedAt: g.epoch}, value: value}
}

// NewSignalFunc is like NewSignal with another equality. If equal is nil, every write is a change.
func NewSignalFunc[T any](g *Graph, value T, equal func(a, b T) bool) *Signal[T] {
	if equal == nil {
		equal = func(T, T) bool { return false }
	}
	return &Signal[T]{source: source{graph: g, changedAt: g.epoch}, value: value, equal: equal}
}

// same compares two values. If equal is nil, T is comparable, which the type system cannot express here.
func (s *Signal[T]) same(a, b T) bool {
	if s.equal != nil {
		return s.equal(a, b)
	}
	return any(a) == any(b)
}

// Get returns the value, and makes the node of r depend on it.
func (s *Signal[T]) Get(r Reader) T {
	if g := s.graph; r.graph == g && r.serial == g.run.serial {
		g.track(&s.source)
	} else {
		r.untrackedIn(g)
	}
	return s.value
}

// Peek returns the value and makes no dependency.
func (s *Signal[T]) Peek() T { return s.value }

// Set writes the value. If it changes and no batch is open, the effects that depend on it have run when Set returns; it returns their errors, joined.
// Inside a batch, an effect or a cleanup, the change takes effect at the end. Inside a computed Set does nothing and returns [ErrPure].
func (s *Signal[T]) Set(value T) error {
	g := s.graph
	if g.run.pure {
		return ErrPure
	}
	if s.same(s.value, value) {
		return nil
	}
	if g.hold > 0 {
		s.write(value)
		return nil
	}
	old := s.value
	s.value = value
	if s.subs == nil {
		g.epoch++
		s.changedAt = g.epoch
		return nil
	}
	g.epoch++
	s.publish(old)
	if len(g.queue) == 0 {
		return nil
	}
	return g.flush()
}

// Update calls fn with the value and writes the result, see Set.
func (s *Signal[T]) Update(fn func(value T) T) error { return s.Set(fn(s.value)) }

// write is Set while a batch is open: the first write since the last commit records the previous value.
func (s *Signal[T]) write(value T) {
	if s.flags&written == 0 {
		s.flags |= written
		s.graph.uncommitted = true
		s.record()
	}
	s.value = value
}

// record appends the value to the log. It reuses the entry of an earlier batch if that has the same type.
func (s *Signal[T]) record() {
	g := s.graph
	n := len(g.log)
	if n < cap(g.log) {
		if c, ok := g.log[:n+1][n].(*signalChange[T]); ok {
			c.signal, c.old = s, s.value
			g.log = g.log[:n+1]
			return
		}
	}
	g.log = append(g.log, &signalChange[T]{s, s.value})
}

// publish makes a new value visible.
func (s *Signal[T]) publish(old T) {
	s.changedAt = s.graph.epoch
	if s.flags&feeds != 0 {
		feed(&s.source, old, s.value, true, true)
	}
	s.graph.notify(&s.source)
}

func (s *Signal[T]) base() *source { return &s.source }

func (s *Signal[T]) read(r Reader) (T, error) { return s.Get(r), nil }

// signalChange is the [change] of a signal.
type signalChange[T any] struct {
	signal *Signal[T]
	old    T
}

func (c *signalChange[T]) commit() {
	s := c.signal
	s.flags &^= written
	if !s.same(c.old, s.value) {
		s.publish(c.old)
	}
}

func (c *signalChange[T]) revert() { c.signal.write(c.old) }

func (c *signalChange[T]) clear() { *c = signalChange[T]{} }
