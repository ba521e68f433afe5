// Package control carries the requests of package api to the process that works on the runs of a data directory: by a unix
// socket, or by opening the directory where no process does.
//
//	err := control.With(ctx, "data", coordinator.Config{}, func(c *control.Client) error {
//		_, err := c.Do(ctx, &api.Request{Verb: api.Decide, Run: "r1", Step: "pay", Decision: "fulfilled", Actor: "ann"})
//		return err
//	})
//
// One process at a time has a directory open. Others still get through, because the holder answers for it, as `sluice run` and
// every program that uses sluice.Open do:
//
//	                 ┌─ somebody holds DIR ──▶ DIR/control.sock ──▶ Server ─┐
//	With(DIR) ─ Open ┤                                                      ├─▶ api.Handle ──▶ Engine
//	                 └─ nobody does ─────────▶ DIR is opened for a moment ──┘
//
// Package api is the one place where requests become calls of an engine, so both ways do the same and refuse the same.
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
// is not known whether a command was journaled. A run may be named by the beginning of its id, if no other begins so. Errors keep their meaning on the way:
// errors.Is finds coordinator.ErrFinished and the others on either side.
//
// # Contracts
//
// What a command leads to is done by the process that goes on with the run (api.Done.Driven): one that opens the directory for a
// moment makes no calls. A message that no step waits for is durable as any other, and Done.Warning says so. Of a run that no
// process goes on with, timers that have fallen due count: see api.Run.Late.
//
// The socket has mode 0600: who may use it is who may write the directory. A request is at most api.RequestMax bytes and has
// ten seconds to arrive; how many are answered at a time is bounded (CommandsMax, LooksMax, WatchersMax), and one more is refused
// after a second; a reader that takes nothing for five minutes is cut off, and resumes from its last sequence. How slowly somebody reads never holds up a run. Server and Client are safe
// for concurrent use.
package control
