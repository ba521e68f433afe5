// Package control carries the requests of package api to the process that works on the runs of a data directory, by a unix
// socket. If no process does, it opens the directory itself.
//
//	err := control.With(ctx, "data", coordinator.Config{}, func(c *control.Client) error {
//		_, err := c.Do(ctx, &api.Request{Verb: api.Decide, Run: "r1", Step: "pay", Decision: "fulfilled", Actor: "ann"})
//		return err
//	})
//
// One process at a time has a directory open. Other processes reach its runs through that holder, which serves requests;
// `sluice run` and every program that uses sluice.Open do so:
//
//	                 ┌─ another process holds DIR ──▶ DIR/control.sock ──▶ Server ─┐
//	With(DIR) ─ Open ┤                                                             ├─▶ api.Handle ──▶ Engine
//	                 └─ no process does ────────────▶ DIR is opened for a moment ──┘
//
// Both ways use package api, so both do the same and refuse the same.
//
// # Protocol
//
// A connection carries one request and its replies, each a line of JSON:
//
//	→ {"v":1,"verb":"decide","run":"r1","step":"pay","decision":"fulfilled","actor":"ann"}
//	← {"taken":true}
//	← {"done":{"run":"r1","driven":true,"did":"decide","step":"pay"}}
//	→ {"v":1,"verb":"events","run":"r1","from":7}
//	← {"taken":true}
//	← {"event":{"seq":7,"at":"2026-01-02T15:04:05Z","type":"call.requested","step":"pay","attempt":1}}
//	← {"done":{"run":"r1"}}
//	→ {"v":1,"verb":"cancel","run":"r2","actor":"ann"}
//	← {"taken":true}
//	← {"error":{"code":"finished","message":"run r2: the run has finished"}}
//
// A holder that is about to end carries out the requests it has taken. If taken is missing, nothing was done, and With turns
// to the next holder of the directory; if only the last line, done or error, is missing, the holder has died, and it is
// unknown whether a command was journaled. A run may be named by a prefix of its id that no other run has. Errors keep their
// identity: errors.Is finds coordinator.ErrFinished and the others on either side.
//
// # Contracts
//
// The process that goes on with the run (api.Done.Driven) carries out the consequences of a command: a process that opens the
// directory for a moment makes no calls. A message that no step waits for is durable like any other, and Done.Warning reports
// it. If no process goes on with a run, timers that have fallen due count: see api.Run.Late.
//
// The socket has mode 0600: the user who may write the directory may use it. A request has at most api.RequestMax bytes and
// must arrive within ten seconds; the number of requests answered at a time is bounded (CommandsMax, ReadsMax, WatchersMax),
// and further ones are refused after a second; a reader that takes nothing for five minutes is cut off, and can resume from
// its last sequence. Slow readers never delay a run. Server and Client are safe for concurrent use.
package control
