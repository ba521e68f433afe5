// Package pool carries out the calls of runs: it finds room for them, makes them on its own goroutines, and returns their
// results.
//
//	Host.Admit ──▶ Host.Make ──▶ a goroutine here: about, secrets,   Caller.Call, Settle, redaction ──▶ Owner.Deliver
//	    │                                                                                            │
//	    └── room: CallsMax, ProgramsMax                                        ReleaseRoom ◀─────────┘
//
// Package workers has the calls that programs elsewhere carry out, and redacts their answers. A call to be made is a
// call.Request, and its result a call.Result, both plain data, so that nothing above this package depends on where a call is made. This
// package fills secrets in the request, and removes them from the result, reports and errors.
//
// The program's code may panic or end its goroutine: only its call fails. The same holds for code that a Host calls on the run's own
// goroutine: Go functions, pure operations, directories.
package pool
