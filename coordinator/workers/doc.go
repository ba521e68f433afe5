// Package workers passes calls to workers: programs elsewhere that carry out the operations that no document binds and no program
// of this process has.
//
//	              no worker waits: the run is queued by its operation, and the step stays ready
//	              ┌──────────────────────────────────────────────────────────────┐
//	run ─ Reserve ┤                                                              ├◀─ Take asks the queued runs again
//	              └─ a worker waits: the request is journaled ─ Offer ─▶ lease ──┴─▶ worker
//	                                                                      │             │
//	                       asked again, or interrupted ◀── it runs out ───┘             │
//	run ◀── answer is journaled, then acknowledged ◀───────────────── Give ◀────────────┘
//
// So a call that is journaled as requested was taken by a worker, and nothing is lost if the process ends: leases are signed, and a worker
// that outlives the process delivers its answer to the next one. The next process waits for the time of a lease before it asks again.
//
// Neither queue nor leases are journaled. A run whose open calls are all with workers may leave memory: answers load it.
package workers
