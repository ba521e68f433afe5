package pool

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// UnderWay are the calls of one run that have not come back, or whose results are not durable yet. It belongs to the goroutine
// that drives the run. The zero UnderWay is empty.
type UnderWay struct {
	Count int

	byNode []*Call
	others map[reactive.Request]*Call // of participants and decision sources, and given up ones of nodes used again
}

// track notes a call; the run has so many nodes. Calls of steps are found by their node; the others are few.
func (u *UnderWay) track(c *Call, nodes int32) {
	u.Count++
	if !isPlain(c.Of) {
		u.aside(c)
		return
	}
	for int(c.Of.Node) >= len(u.byNode) {
		u.byNode = append(u.byNode, make([]*Call, max(64, int(nodes)-len(u.byNode)))...)
	}
	if former := u.byNode[c.Of.Node]; former != nil { // its call was given up, and has not come back yet
		u.aside(former)
	}
	u.byNode[c.Of.Node] = c
}

// aside notes a call that is not found by its node.
func (u *UnderWay) aside(c *Call) {
	if u.others == nil {
		u.others = map[reactive.Request]*Call{}
	}
	u.others[c.Of] = c
}

// Find returns the call for a request; nil: there is none.
func (u *UnderWay) Find(req reactive.Request) *Call {
	if int(req.Node) < len(u.byNode) {
		if c := u.byNode[req.Node]; c != nil && c.Of == req {
			return c
		}
	}
	return u.others[req]
}

// Forget forgets calls, and how they have ended.
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

// Stop ends the contexts of calls whose attempts were closed by something else than their answer.
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

// Leave notes the calls of a run that goes out of memory which have not come back. Its owner takes nothing any more, so that they
// will be found.
func (p *Pool) Leave(u *UnderWay) {
	if u.Count == 0 {
		return
	}
	p.leave(u.byNode)
	p.leave(slices.Collect(maps.Values(u.others)))
}
