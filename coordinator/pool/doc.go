// Package pool carries out the calls of runs: it finds room for them, makes them on goroutines of its own, and brings back how
// they have ended.
//
//	Host.Admit ──▶ Submit ──▶ worker or goroutine: About, secrets, Caller.Call, redaction ──▶ Owner.Land
//	    │                                                                                        │
//	    └── room: CallsMax, ProgramsMax                              room is given back ◀── Return┘
//
// What is to be carried out is a call.Request, and what comes of it a call.Result: plain data both, so nothing above this package
// depends on where a call is made. Secrets are put into a request here, and taken out of the result, reports and errors here.
//
// Code that is not ours may panic or end its goroutine: that fails its call and nothing else. A Host is the same for what the
// stepper of a run asks on the run's own goroutine: Go functions, pure operations, participants.
package pool
