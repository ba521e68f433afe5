// Package api holds the requests that people and programs make of an engine's runs, and the replies, without a transport: what a
// request means stands here once, and every door uses it. Package control is one, by a socket.
//
//	Request ──▶ Handle ──▶ Engine
//	   Reply, Reply, …, Done or *Error ◀──┘
//
// A command (Verb.Command) changes a run and names its actor, who is recorded; it is durable when Done is there, or refused with
// an *Error, which has left the journal as it was. Everything else only reads. Errors keep their meaning on the way: errors.Is
// finds coordinator.ErrFinished and the others on either side. Times are UTC; what is left out says nothing.
package api
