package pool

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// UnderWay holds the calls of one run that have not returned, or whose results are not durable yet. It belongs to the
// goroutine that drives the run. The zero UnderWay is empty.
type UnderWay struct {
	Count int // how many it holds

	byNode []*Call
	others map[reactive.Request]*Call // of participants and decision sources, and abandoned calls of nodes used again
}

// track adds a call; nodes is the number of the run's nodes. Calls of steps are found by their node; the others are few.
func (u *UnderWay) track(c *Call, nodes int32) {
	u.Count++
	if !isPlain(c.Of) {
		u.aside(c)
		return
	}
	for int(c.Of.Node) >= len(u.byNode) {
		u.byNode = append(u.byNode, make([]*Call, max(64, int(nodes)-len(u.byNode)))...)
	}
	if former := u.byNode[c.Of.Node]; former != nil { // this call was abandoned, and has not returned yet
		u.aside(former)
	}
	u.byNode[c.Of.Node] = c
}

// aside adds a call that is not found by its node.
func (u *UnderWay) aside(c *Call) {
	if u.others == nil {
		u.others = map[reactive.Request]*Call{}
	}
	u.others[c.Of] = c
}

// Find returns the call for a request, or nil.
func (u *UnderWay) Find(req reactive.Request) *Call {
	if int(req.Node) < len(u.byNode) {
		if c := u.byNode[req.Node]; c != nil && c.Of == req {
			return c
		}
	}
	return u.others[req]
}

// Forget removes calls, and drops their results.
func (u *UnderWay) Forget(calls []*Call) {
	for _, c := range calls {
		u.untrack(c)
		c.Forget()
	}
}

func (u *UnderWay) untrack(c *Call) {
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

// Stop ends the contexts of calls whose attempts have ended in another way than by their answer.
func (u *UnderWay) Stop(requests []reactive.Request) {
	for _, req := range requests {
		if c := u.Find(req); c != nil {
			c.Stopped = true
			c.End(decide.ErrEnded)
		}
	}
}

// EndAll ends the contexts of all calls.
func (u *UnderWay) EndAll() {
	for _, c := range u.byNode {
		if c != nil {
			c.End(decide.ErrEnded)
		}
	}
	for _, c := range u.others {
		c.End(decide.ErrEnded)
	}
}

// Leave records the calls of a run leaving memory that have not returned. Their owner takes nothing any more, so that found is
// called for them.
func (p *Pool) Leave(u *UnderWay) {
	if u.Count == 0 {
		return
	}
	p.leave(u.byNode)
	p.leave(slices.Collect(maps.Values(u.others)))
}
