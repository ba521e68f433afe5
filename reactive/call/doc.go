// Package call implements one call, from its request to its outcome. It has no clock and no goroutine and does no I/O: it
// takes events and returns decisions.
//
//	            ┌─ Policy: timeout, retry, backoff, limits, on_timeout
//	requested ──┤
//	            └─ Gather: one dispatch per participant ─▶ answers ─▶ policy ─▶ one outcome
//	outcome ───── Fulfillment: declared source ─▶ fulfilled, not fulfilled, error ─▶ consequence
//
// A call without participants uses none of this. Instants are values of events, so the same journal yields the same
// decisions whenever it is read.
package call
