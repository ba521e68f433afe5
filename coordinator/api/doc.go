// Package api holds the requests that people and programs make about an engine's runs, and the replies, without a transport.
// Every transport uses it, so a request means the same over each. Packages control, by a socket, and httpapi are two of them.
//
//	Request ──▶ Handle ──▶ Engine
//	   Reply, Reply, …, Done or *Error ◀──┘
//
// A command (Verb.Command) changes a run and names its actor, which is recorded; it is durable when Done is received, or
// refused with an *Error and without effect on the journal. All other requests only read. Errors keep their identity:
// errors.Is finds coordinator.ErrFinished and the others on either side. Times are UTC; empty fields are omitted.
package api
