// Package control steps into the runs of a data directory from outside the process that works on them: it lists and shows
// runs, follows them, and takes what somebody wishes for one.
//
//	err := control.With(ctx, "data", coordinator.Config{}, func(c *control.Client) error {
//		_, err := c.Do(ctx, &control.Request{Verb: control.Decide, Run: "r1", Step: "pay", Decision: "fulfilled", Actor: "ann"})
//		return err
//	})
//
// One process at a time has a directory open. Others still get through, because the holder answers for it, as `sluice run` and
// every program that uses sluice.Open do:
//
//	                 ┌─ somebody holds DIR ──▶ DIR/control.sock ──▶ Server ─┐
//	With(DIR) ─ Open ┤                                                      ├─▶ Handle ──▶ Engine
//	                 └─ nobody does ─────────▶ DIR is opened for a moment ──┘
//
// Handle is the one place where requests become calls of an engine, so both ways do the same and refuse the same.
//
// # Protocol
//
// A connection carries one request and its replies, each a line of JSON:
//
//	→ {"v":1,"verb":"decide","run":"r1","step":"pay","decision":"fulfilled","actor":"ann"}
//	← {"taken":true}
//	← {"done":{"run":"r1","driven":true}}
//	→ {"v":1,"verb":"events","run":"r1","from":7}
//	← {"taken":true}
//	← {"event":{"seq":7,"at":"2026-01-02T15:04:05Z","type":"call.requested","step":"pay","attempt":1}}
//	← {"done":{"run":"r1"}}
//	→ {"v":1,"verb":"cancel","run":"r2","actor":"ann"}
//	← {"taken":true}
//	← {"error":{"code":"finished","message":"run r2: the run has finished"}}
//
// A holder that is about to go carries out what it has taken. Where taken is missing, nothing was done, and With turns to
// whoever has the directory then; where only the last line is missing, which is done or error, the holder has died, and it
// is not known whether a wish was journaled. A run may be named by the beginning of its id, if no other begins so. Errors keep their meaning on the way:
// errors.Is finds coordinator.ErrFinished and the others on either side.
//
// # Contracts
//
// A wish that is acknowledged is durable; one that is refused has left the journal as it was. Every wish names its actor,
// who is recorded. What a wish leads to is done by whoever goes on with the run (Done.Driven): a process that opens the
// directory for a moment makes no calls. A message that nobody waits for is durable as any other, and Done.Warning says so. Of a
// run that nobody goes on with, timers that have fallen due count: see Run.Late.
//
// The socket has mode 0600: who may use it is who may write the directory. A request is at most RequestMax bytes and has
// ten seconds to arrive; at most 128 are answered at a time and more wait; a reader that takes nothing for five minutes is
// cut off, and resumes from its last sequence. How slowly somebody reads never holds up a run. Server and Client are safe
// for concurrent use.
package control
