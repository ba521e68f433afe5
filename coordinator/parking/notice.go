package parking

import "context"

// notice tells those who wait for a run that is not in memory when it is parked.
type notice struct {
	ctx     context.Context
	cancel  context.CancelFunc
	waiting int
}

// Notice returns a context that ends when a run is parked, or with the process, whose context that is; and a function to be called
// by who waits no longer.
func (l *Lot) Notice(process context.Context, run string) (ctx context.Context, leave func()) {
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

// give ends the wait for a run. The caller holds mu.
func (l *Lot) give(run string) {
	if n := l.notices[run]; n != nil {
		n.cancel()
		delete(l.notices, run)
	}
}
