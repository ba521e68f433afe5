package signals

// Effect is a callback that runs again whenever a value that it has read changes.
type Effect struct{ node }

// Effect creates an effect in s and runs fn at once, even inside a batch. It returns the error of this first run together
// with the effect, which stays subscribed: an effect that failed runs again when an input changes. It returns [ErrDisposed]
// and no effect if s is disposed.
//
// Effects on one signal run in the order in which they subscribed; the effects that a run creates, with [Reader.Scope], run
// after it. The writes of fn are one batch together with the change that caused the run.
func (s *Scope) Effect(fn func(r Reader) error) (*Effect, error) {
	if s.closed {
		return nil, ErrDisposed
	}
	g := s.graph
	e := &Effect{node{source: source{graph: g, flags: effect | subscribed | dirty}, body: effectFunc(fn), scope: s}}
	s.add(&e.node)
	before := len(g.errs)
	err := g.settle(&e.node)
	if err == nil {
		err = g.takeErrors(before)
	}
	return e, join(err, g.release())
}

// Dispose ends the effect: cleanups are called, the effects that its last run created are disposed, and it never runs again. If the
// effect calls Dispose in its own run, this happens at the end of the run. Disposing again does nothing. For the error see
// [Scope.Dispose].
func (e *Effect) Dispose() error { return e.graph.end(&e.node) }

// effectFunc is the body of an effect.
type effectFunc func(r Reader) error

func (fn effectFunc) update(r Reader) bool {
	if err := fn(r); err != nil {
		r.graph.errs = append(r.graph.errs, err)
	}
	return false
}

func (fn effectFunc) fail(g *Graph, err error) { g.errs = append(g.errs, err) }

func (fn effectFunc) describe() string { return nameOf((func(r Reader) error)(fn)) }
