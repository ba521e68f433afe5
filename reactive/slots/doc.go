// Package slots picks the next node to start where a limit keeps others waiting.
//
//	candidates ──▶ Slots: limits within limits ──▶ granted ──▶ Queue ──▶ the first in the order of the template
//
// It has two data structures over node numbers. Functions of its caller compare nodes, and report whether one still wants to
// start. It has no clock, no goroutine and does no I/O; it is owned by one goroutine.
package slots
