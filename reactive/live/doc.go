// Package live shows the steps of a run as signals, for programs that derive values and effects from them. It observes a run's root:
// only the journal writes the signals, all changes of one event as one batch. It has no clock, no goroutine and does no I/O.
//
//	event ──▶ reactive.Root ──▶ Signals ──▶ Step("pay").Status, Ready, Result … ──▶ effects
package live
