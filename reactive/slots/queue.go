package slots

import (
	"math/bits"

	"github.com/sluiceflow/sluice/internal/binheap"
)

// Queue is the set of nodes that may start; First returns the first in template order. Nodes outside maps are in template
// order by their numbers: each is a bit, and a bit of the level above is set if any of 64 bits is set. Items of maps are in a
// heap, and so are the calls of a routed run, by their numbers.
//
//	levels[2]                 1
//	levels[1]      0 1 0 …                    bit i: word i of the level below is not 0
//	levels[0]      [64 nodes][64 nodes] …
//
// The caller skips nodes that may no longer start.
type Queue struct {
	levels [][]uint64
	heap   []int32
	less   func(a, b int32) bool
}

// NewQueue returns the queue of a run with a number of nodes outside maps; less is template order.
func NewQueue(nodes int, less func(a, b int32) bool) Queue {
	s := Queue{less: less}
	for n := nodes; ; {
		n = (n + 63) / 64
		s.levels = append(s.levels, make([]uint64, n))
		if n <= 1 {
			return s
		}
	}
}

// Add adds a node outside maps.
func (s *Queue) Add(v int32) {
	for _, words := range s.levels {
		w := &words[v/64]
		was := *w
		*w |= 1 << (v % 64)
		if was != 0 {
			return
		}
		v /= 64
	}
}

// Remove removes a node outside maps.
func (s *Queue) Remove(v int32) {
	for _, words := range s.levels {
		w := &words[v/64]
		*w &^= 1 << (v % 64)
		if *w != 0 {
			return
		}
		v /= 64
	}
}

// First returns the first node in template order, or -1.
func (s *Queue) First() int32 {
	v := int32(-1)
	if top := s.levels[len(s.levels)-1]; len(top) > 0 && top[0] != 0 {
		v = 0
		for i := len(s.levels) - 1; i >= 0; i-- {
			v = v*64 + int32(bits.TrailingZeros64(s.levels[i][v]))
		}
	}
	if len(s.heap) > 0 && (v < 0 || s.less(s.heap[0], v)) {
		return s.heap[0]
	}
	return v
}

// Push adds a node of an item to the heap.
func (s *Queue) Push(v int32) { s.heap = binheap.Push(s.heap, v, s.less) }

// Pop removes the first node of the heap.
func (s *Queue) Pop() { s.heap = binheap.Pop(s.heap, s.less) }
