// Package api holds the requests about the runs of an engine, and the replies, without a transport. Every transport uses it, so a
// request has the same meaning over each. Packages control, over a socket, and httpapi are two of them.
//
//	Request ──▶ Handle ──▶ Engine
//	   Reply, Reply, …, Done or *Error ◀──┘
//
// A command (Verb.Command) changes a run or the folder, and names its actor, which is recorded. It is durable when Done is received,
// or refused with an *Error and without effect on the journal. Of the other requests, Collect deletes expired data, Backup writes a
// copy, and all others only read. Errors keep their identity: errors.Is finds coordinator.ErrFinished and the others on either side.
// Times are UTC; empty fields are omitted.
package api
