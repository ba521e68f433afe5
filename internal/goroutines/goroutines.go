// Package goroutines runs short functions on reused goroutines.
//
//	g := goroutines.New()
//	g.Reuse(func() { deep() })
//	g.Wait()
//	g.Close()
//
// The stack of a new goroutine is small, and is copied several times while calls grow deep. A goroutine that has run the same function
// before already has a stack of that size.
package goroutines

import (
	"sync"
	"time"
)

// Group is a sync.WaitGroup whose goroutines may run more than one function. Make one with New.
type Group struct {
	sync.WaitGroup
	next   chan func()   // received by the goroutines whose function has returned
	closed chan struct{} // Close closes it
}

// reuseWithin is how long a goroutine waits for another function.
const reuseWithin = 10 * time.Millisecond

// New returns a group without goroutines.
func New() *Group { return &Group{next: make(chan func()), closed: make(chan struct{})} }

// Close ends the goroutines that wait for another function, now and later. It is called once.
func (g *Group) Close() { close(g.closed) }

// Reuse is Go on a goroutine whose function has just returned, if there is one. f must leave its goroutine as it was, for example
// unlocked from its thread.
func (g *Group) Reuse(f func()) {
	g.Add(1)
	select {
	case g.next <- f:
	default:
		go g.run(f)
	}
}

func (g *Group) run(f func()) {
	idle := time.NewTimer(reuseWithin)
	defer idle.Stop()
	for {
		g.call(f)
		idle.Reset(reuseWithin)
		select {
		case f = <-g.next:
		case <-idle.C:
			return
		case <-g.closed:
			return
		}
	}
}

// call calls f and then Done, even if f ends the goroutine.
func (g *Group) call(f func()) {
	defer g.Done()
	f()
}
