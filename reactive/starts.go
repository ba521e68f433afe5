package reactive

import "github.com/sluiceflow/sluice/template/plan"

// starts is the queue of nodes that may start, first in template order. Nodes that may no longer are passed over when
// they come up.
type starts struct {
	heap []int32
	less func(a, b int32) bool
}

func (s *starts) push(v int32) {
	h := append(s.heap, v)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !s.less(h[i], h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	s.heap = h
}

func (s *starts) pop() int32 {
	h := s.heap
	top, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && s.less(h[child+1], h[child]) {
			child++
		}
		if !s.less(h[child], h[i]) {
			break
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
	s.heap = h
	return top
}

func (r *Root) queueStart(v int32) {
	if n := &r.nodes[v]; !n.has(queued) {
		n.flags |= queued
		r.starts.push(v)
	}
}

// mayStart reports whether a queued node is still to be started: it is ready, or its retry is due and has its slots.
func (r *Root) mayStart(v int32) bool {
	n := &r.nodes[v]
	return n.status == Ready || n.has(pending) && n.has(retryDue) && n.has(granted)
}

// NextStart is the first node, in template order, that may start now. It stays the first until it has been
// requested or has failed. It reports false when there is none, or the run is closed.
func (r *Root) NextStart() (int32, bool) {
	for len(r.starts.heap) > 0 && r.run.closed == nil {
		v := r.starts.heap[0]
		if r.mayStart(v) {
			return v, true
		}
		r.starts.pop()
		r.nodes[v].flags &^= queued
	}
	return -1, false
}

// Row is the plan's row of a node.
func (r *Root) Row(v int32) *plan.Node { return r.row(v) }

// Operation is what a step calls.
func (r *Root) Operation(v int32) *plan.Operation {
	return &r.plan.Operations[r.row(v).Op]
}
