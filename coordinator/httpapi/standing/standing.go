// Package standing stops the feeds and other long operations of a client when its token or session becomes invalid.
package standing

import (
	"context"
	"sync"
	"time"
)

// every is the interval at which the credentials of waiting members are checked. A member that is about to send checks its own first.
const every = 200 * time.Millisecond

// Watch checks the credentials of its members. The zero value is ready. It is safe for concurrent use.
type Watch struct {
	mu    sync.Mutex
	of    map[string]*credential
	timer *time.Timer // of the next check; nil: there are no members
}

// credential is a token or a session, with its members.
type credential struct {
	valid func() bool
	ends  map[*Member]func()

	mu   sync.Mutex // held during a check
	over bool       // a check has failed
}

// Member is one long operation. A nil Member belongs to a client without a credential that could be revoked.
type Member struct {
	watch *Watch
	name  string
	of    *credential
}

// Join adds a member of the credential with a name, until Leave is called. The function valid reports whether the credential is valid;
// end, which must not wait, is called when it is not. The valid of the first member is used for all of the same name.
func (w *Watch) Join(name string, valid func() bool, end func()) *Member {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.of == nil {
		w.of = map[string]*credential{}
	}
	c := w.of[name]
	if c == nil || c.ended() {
		c = &credential{valid: valid, ends: map[*Member]func(){}}
		w.of[name] = c
	}
	m := &Member{w, name, c}
	c.ends[m] = end
	if w.timer == nil {
		w.timer = time.AfterFunc(every, w.check)
	}
	return m
}

// Leave removes the member: its operation has ended.
func (m *Member) Leave() {
	if m == nil {
		return
	}
	w := m.watch
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(m.of.ends, m)
	if len(m.of.ends) == 0 && w.of[m.name] == m.of {
		delete(w.of, m.name)
	}
	if len(w.of) == 0 && w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// Valid reports whether the credential is valid now. If it is not, all its members are ended.
func (m *Member) Valid() bool {
	if m == nil || m.of.check() {
		return true
	}
	m.watch.end(m.of)
	return false
}

// check reports whether the credential is valid. An invalid one is not checked again.
func (c *credential) check() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = c.over || !c.valid()
	return !c.over
}

// ended reports whether a check of the credential has failed.
func (c *credential) ended() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

// check checks every credential, and then again after a while.
func (w *Watch) check() {
	w.mu.Lock()
	all := make([]*credential, 0, len(w.of))
	for _, c := range w.of {
		all = append(all, c)
	}
	w.mu.Unlock()
	for _, c := range all {
		if !c.check() {
			w.end(c)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Reset(every)
	}
}

// end ends all members of an invalid credential.
func (w *Watch) end(c *credential) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, end := range c.ends {
		end()
	}
}

// Context returns a context that ends with a member. Its Err checks the credential, so a caller that calls Err before each delivery
// delivers nothing after a revocation.
func (m *Member) Context(of context.Context) context.Context { return checkingContext{of, m} }

type checkingContext struct {
	context.Context
	m *Member
}

func (l checkingContext) Err() error {
	if l.Context.Err() == nil {
		l.m.Valid()
	}
	return l.Context.Err()
}
