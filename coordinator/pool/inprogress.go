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
	moved  map[*Call]reactive.Request // of calls from before a move of the run: their requests under the new workflow
}

// track adds a call; nodes is the number of the run's nodes.
func (u *InProgress) track(c *Call, nodes int32) {
	u.Count++
	u.put(c, c.Of, nodes)
}

// put adds a call under a request. Calls of steps are found by their node; the others are few.
func (u *InProgress) put(c *Call, req reactive.Request, nodes int32) {
	if !isPlain(req) || req.Node < 0 {
		u.putOther(c, req)
		return
	}
	for int(req.Node) >= len(u.byNode) {
		u.byNode = append(u.byNode, make([]*Call, max(64, int(nodes)-len(u.byNode)))...)
	}
	if former := u.byNode[req.Node]; former != nil { // a call of an attempt that has ended, which has not returned yet
		u.putOther(former, u.Of(former))
	}
	u.byNode[req.Node] = c
}

// putOther adds a call to others.
func (u *InProgress) putOther(c *Call, req reactive.Request) {
	if u.others == nil {
		u.others = map[reactive.Request]*Call{}
	}
	u.others[req] = c
}

// Of returns the request of a call under the run's present workflow; if that workflow lacks the node, a request whose node does not exist.
func (u *InProgress) Of(c *Call) reactive.Request {
	if req, ok := u.moved[c]; ok {
		return req
	}
	return c.Of
}

// Move looks up the nodes of the calls again, in the root of the workflow to which the run has moved.
func (u *InProgress) Move(root *reactive.Root) {
	calls := slices.DeleteFunc(slices.Clone(u.byNode), func(c *Call) bool { return c == nil })
	calls = append(calls, slices.Collect(maps.Values(u.others))...)
	before := *u
	*u = InProgress{Count: u.Count, moved: map[*Call]reactive.Request{}}
	for i, c := range calls {
		req := before.Of(c)
		v, ok := root.Node(c.Step)
		if !ok {
			v = -1 - int32(i) // a different one for each
		}
		req.Node = v
		u.moved[c] = req
		u.put(c, req, root.Len())
	}
}

// Find returns the call for a request, or nil.
func (u *InProgress) Find(req reactive.Request) *Call {
	if req.Node >= 0 && int(req.Node) < len(u.byNode) {
		if c := u.byNode[req.Node]; c != nil && u.Of(c) == req {
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
	req := u.Of(c)
	if u.Find(req) != c {
		return
	}
	u.Count--
	delete(u.moved, c)
	if u.others[req] == c {
		delete(u.others, req)
		return
	}
	u.byNode[req.Node] = nil
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

// TrackUnreturned records the calls of a run leaving memory that have not returned. Since their owner accepts no more calls,
// removeUnreturned is called when they return.
func (p *Pool) TrackUnreturned(u *InProgress) {
	if u.Count == 0 {
		return
	}
	p.addUnreturned(u.byNode)
	p.addUnreturned(slices.Collect(maps.Values(u.others)))
}
