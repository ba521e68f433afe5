// Package slots selects the next node to start under limits.
//
//	candidates ──▶ Slots: limits within limits ──▶ granted ──▶ Queue ──▶ the first in the order of the template
//
// It has two data structures over node numbers. Functions of the caller compare nodes, and report whether a node is still a
// candidate. The package has no clock, no goroutine and does no I/O; its values belong to one goroutine.
package slots
