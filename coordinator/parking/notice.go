package parking

import "context"

// notice signals the waiters of a run that is not in memory when the run is parked.
type notice struct {
	ctx     context.Context
	cancel  context.CancelFunc
	waiting int
}

// Notice returns a context that ends when the run is parked, or with the process, whose context it takes; and a function that
// releases it.
func (l *Runs) Notice(process context.Context, run string) (ctx context.Context, release func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.notices[run]
	if n == nil {
		n = &notice{}
		n.ctx, n.cancel = context.WithCancel(process)
		l.notices[run] = n
	}
	n.waiting++
	return n.ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if n.waiting--; n.waiting == 0 {
			n.cancel()
			if l.notices[run] == n {
				delete(l.notices, run)
			}
		}
	}
}

// notify ends the contexts of the waiters of a run. The caller holds mu.
func (l *Runs) notify(run string) {
	if n := l.notices[run]; n != nil {
		n.cancel()
		delete(l.notices, run)
	}
}
