// Package binheap implements push and pop of a binary heap in a slice; the least element is at index 0. Unlike container/heap, it
// calls no interface methods and so does not box elements.
package binheap

// Push adds x to a heap and returns the heap. The order less must be that of h.
func Push[T any](h []T, x T, less func(a, b T) bool) []T {
	h = append(h, x)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if !less(h[i], h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
	return h
}

// Pop removes the first element of a heap that is not empty, and returns the heap. It sets the freed place at the end of the
// slice to zero, so that the place retains no memory.
func Pop[T any](h []T, less func(a, b T) bool) []T {
	last := len(h) - 1
	h[0] = h[last]
	clear(h[last:])
	h = h[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			return h
		}
		if child+1 < last && less(h[child+1], h[child]) {
			child++
		}
		if !less(h[child], h[i]) {
			return h
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}
