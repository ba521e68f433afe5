// Package live presents the steps of a run as signals, for programs that derive values and effects from them. It observes
// the root of a run: only journaled events write the signals, and all changes of one event are one batch. It has no clock,
// no goroutine and does no I/O.
//
//	event ──▶ reactive.Root ──▶ Signals ──▶ Step("pay").Status, Ready, Result … ──▶ effects
package live
