package signals

// Post queues fn for the owner of the graph, from any goroutine. The owner's next [Graph.Drain] runs it, after the functions
// that the same goroutine posted before. The queue is unbounded: the program must limit callers that post faster than the owner
// drains.
func (g *Graph) Post(fn func()) {
	g.posted.Lock()
	g.posted.fns = append(g.posted.fns, fn)
	g.posted.Unlock()
	select {
	case g.posted.wake <- struct{}{}:
	default: // a wake-up is pending already
	}
}

// Wake returns a channel from which a value can be received after Post: one for any number of posts since the last receive.
func (g *Graph) Wake() <-chan struct{} { return g.posted.wake }

// Drain calls the posted functions, in order, as one batch, and returns the errors of the effects. They include a panic of a
// posted function, which reverts the batch, as in [Graph.Batch]. Only the owner may call it.
func (g *Graph) Drain() error {
	g.posted.Lock()
	fns := g.posted.fns
	g.posted.fns = nil
	g.posted.Unlock()
	if len(fns) == 0 {
		return nil
	}
	return g.Batch(func() error {
		for _, fn := range fns {
			if err := try(fn); err != nil {
				return err
			}
		}
		return nil
	})
}

// try calls fn and turns its panic into an error.
func try(fn func()) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = newPanicError(v)
		}
	}()
	fn()
	return nil
}
