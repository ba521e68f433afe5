// Package draining counts the requests in progress, and waits until there are none.
package draining

import (
	"context"
	"sync"
)

// Requests counts requests. The zero value is ready for use.
type Requests struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when there are none; nil: no caller waits
}

// Begin counts a request until end is called.
func (r *Requests) Begin() (end func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	return r.end
}

func (r *Requests) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n--; r.n == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
}

// Await returns when no request is under way, or when ctx ends.
func (r *Requests) Await(ctx context.Context) {
	r.mu.Lock()
	if r.n == 0 {
		r.mu.Unlock()
		return
	}
	if r.idle == nil {
		r.idle = make(chan struct{})
	}
	idle := r.idle
	r.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Bound returns a context that ends with a server, too. The caller passes the error of its work to end, which returns it, or why if the
// end of the server has caused it.
func Bound(ctx, server context.Context, why error) (_ context.Context, end func(error) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	leave := context.AfterFunc(server, func() { cancel(why) })
	return ctx, func(err error) error {
		leave()
		cancel(nil)
		if err != nil && context.Cause(ctx) == why {
			return why
		}
		return err
	}
}
