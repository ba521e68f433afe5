// Package slots says who is next where not all may start at once.
//
//	candidates ──▶ Slots: limits within limits ──▶ granted ──▶ Queue ──▶ the first in the order of the template
//
// It is two data structures over numbers of nodes: what a node is, in which order nodes stand and whether one still wants to start,
// it is told by functions. It has no clock, no goroutine and does no I/O; it is owned by one goroutine.
package slots
