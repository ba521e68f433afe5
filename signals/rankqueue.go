package signals

// rankQueue is a priority queue of nodes, lowest (rank, node) first: a binary heap of keys rank<<32 | node. Only the keys
// are compared, so a sift moves 8 bytes per level and calls nothing.
//
// Invariant: q[i] <= q[2i+1] and q[i] <= q[2i+2].
type rankQueue []uint64

// push adds a node in O(log n), and in O(1) if it belongs at the end. That is the usual case, because nodes of lower rank queue
// nodes of higher rank.
func (q *rankQueue) push(rank uint32, node int32) {
	key := uint64(rank)<<32 | uint64(uint32(node))
	h := append(*q, key)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if h[parent] <= key {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = key
	*q = h
}

// pop removes the lowest node of a queue that is not empty, in O(log n).
func (q *rankQueue) pop() int32 {
	h := *q
	lowest, key := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1] < h[child] {
			child++
		}
		if key <= h[child] {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = key
	}
	*q = h
	return int32(uint32(lowest))
}
