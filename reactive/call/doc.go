// Package call is what one call does over time, as functions of nothing but the specification and the instants that the
// journal holds: when a failed attempt is made again, and what a timeout leads to. It has no clock and keeps no state.
//
//	requested ──▶ timeout? error? ──▶ attempts left, code retried, before the limits? ──▶ again at due
//	                                └▶ no: failed, skipped, or the run ends
package call
