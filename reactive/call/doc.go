// Package call is what one call does, from its request to its outcome. It has no clock and no
// goroutine and does no I/O: events go in, and actions come out.
//
//	            ┌─ Policy: timeout, retry, backoff, limits, on_timeout
//	requested ──┤
//	            └─ Gather: one dispatch per participant ─▶ answers ─▶ policy ─▶ one outcome
//	outcome ───── Fulfillment: declared source ─▶ fulfilled, not fulfilled, error ─▶ consequence
//
// A call without participants needs none of this and costs none of it. Instants enter as values on events, so that
// the same journal decides the same, however late it is read.
package call
