package pool

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// InProgress holds the calls of one run that have not returned, or whose results are not durable yet. It belongs to the
// goroutine that drives the run. The zero InProgress is empty.
type InProgress struct {
	Count int // of the calls

	byNode []*Call
	others map[reactive.Request]*Call // of participants and decision sources, and of earlier attempts
}

// track adds a call; nodes is the number of the run's nodes. Calls of steps are found by their node; the others are few.
func (u *InProgress) track(c *Call, nodes int32) {
	u.Count++
	if !isPlain(c.Of) {
		u.trackOther(c)
		return
	}
	for int(c.Of.Node) >= len(u.byNode) {
		u.byNode = append(u.byNode, make([]*Call, max(64, int(nodes)-len(u.byNode)))...)
	}
	if former := u.byNode[c.Of.Node]; former != nil { // a call of an attempt that has ended, which has not returned yet
		u.trackOther(former)
	}
	u.byNode[c.Of.Node] = c
}

// trackOther adds a call to others.
func (u *InProgress) trackOther(c *Call) {
	if u.others == nil {
		u.others = map[reactive.Request]*Call{}
	}
	u.others[c.Of] = c
}

// Find returns the call for a request, or nil.
func (u *InProgress) Find(req reactive.Request) *Call {
	if int(req.Node) < len(u.byNode) {
		if c := u.byNode[req.Node]; c != nil && c.Of == req {
			return c
		}
	}
	return u.others[req]
}

// Forget removes calls, and drops their endings.
func (u *InProgress) Forget(calls []*Call) {
	for _, c := range calls {
		u.untrack(c)
		c.Forget()
	}
}

func (u *InProgress) untrack(c *Call) {
	if u.Find(c.Of) != c {
		return
	}
	u.Count--
	if u.others[c.Of] == c {
		delete(u.others, c.Of)
		return
	}
	u.byNode[c.Of.Node] = nil
}

// Stop ends the contexts of calls whose attempts have ended before them.
func (u *InProgress) Stop(requests []reactive.Request) {
	for _, req := range requests {
		if c := u.Find(req); c != nil {
			c.Stopped = true
			c.End(decide.ErrEnded)
		}
	}
}

// EndAll ends the contexts of all calls.
func (u *InProgress) EndAll() {
	for _, c := range u.byNode {
		if c != nil {
			c.End(decide.ErrEnded)
		}
	}
	for _, c := range u.others {
		c.End(decide.ErrEnded)
	}
}

// TrackUnreturned records the calls of a run leaving memory that have not returned. Since their owner accepts nothing any more,
// removeUnreturned is called when they do.
func (p *Pool) TrackUnreturned(u *InProgress) {
	if u.Count == 0 {
		return
	}
	p.addUnreturned(u.byNode)
	p.addUnreturned(slices.Collect(maps.Values(u.others)))
}
