// Package rates limits how often each of many clients may do something.
package rates

import (
	"sync"
	"time"
)

// clientsMax bounds the clients that are told apart.
const clientsMax = 10_000

// burst is how far ahead of its rate a client may be: one that has been idle may do as much at once as in that time.
const burst = 10 * time.Second

// Limit limits how often each client may do something. It is safe for concurrent use.
type Limit struct {
	every time.Duration

	mu   sync.Mutex
	next map[string]time.Time // when each would have done all that it has done at the rate
}

// New returns a limit of so many times a second.
func New(perSecond int) *Limit {
	return &Limit{every: time.Second / time.Duration(perSecond), next: map[string]time.Time{}}
}

// Take reports whether a client may do it once more.
func (l *Limit) Take(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.next) >= clientsMax {
		clear(l.next)
	}
	next := l.next[who]
	if next.Before(now) {
		next = now
	}
	if next.Sub(now) > burst-l.every {
		return false
	}
	l.next[who] = next.Add(l.every)
	return true
}
