// Package call is what one call does, from its request to its outcome, as state without a clock, a goroutine or I/O: events
// go in, and what is to be done comes out.
//
//	            ┌─ Policy: timeout, retry, backoff, limits, on_timeout
//	requested ──┤
//	            └─ Gather: one dispatch per participant ─▶ answers ─▶ policy ─▶ one outcome
//	outcome ───── Fulfillment: declared source ─▶ fulfilled, not fulfilled, error ─▶ consequence
//
// A call of nobody in particular needs none of this and costs none of it. Instants enter as values on events, so that
// the same journal decides the same, however late it is read.
package call
