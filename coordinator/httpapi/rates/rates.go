// Package rates limits how often each of many clients may do something.
package rates

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// clientsMax bounds the clients that are distinguished. When there are more, at least forgottenMin are forgotten at once, so that the
// search for them is seldom.
const (
	clientsMax   = 10_000
	forgottenMin = clientsMax / 10
)

// burst bounds a client's lead over its rate: after an idle time, a client may do at once as much as in that time.
const burst = 10 * time.Second

// Limit limits how often each client may do something. It is safe for concurrent use.
type Limit struct {
	every time.Duration

	mu   sync.Mutex
	next map[string]time.Time // when each would have done its requests at the rate
}

// New returns a limit of so many times a second.
func New(perSecond int) *Limit {
	return &Limit{every: time.Second / time.Duration(perSecond), next: map[string]time.Time{}}
}

// Take reports whether a client may do it once more.
func (l *Limit) Take(who string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	next, known := l.next[who]
	if !known && len(l.next) >= clientsMax {
		l.forget(now)
	}
	if next.Before(now) {
		next = now
	}
	if next.Sub(now) > burst-l.every {
		return false
	}
	l.next[who] = next.Add(l.every)
	return true
}

// forget removes the idle clients and, if these are few, those that are nearest to idle: a client that has used up its rate is removed
// last. The caller holds mu.
func (l *Limit) forget(now time.Time) {
	nearest := slices.SortedFunc(maps.Keys(l.next), func(a, b string) int { return l.next[a].Compare(l.next[b]) })
	for i, who := range nearest {
		if i >= forgottenMin && l.next[who].After(now) {
			return
		}
		delete(l.next, who)
	}
}
