// Package folder reaches the runs of a data folder, whichever process works on them.
//
//	err := folder.With(ctx, "data", coordinator.Config{}, func(c *folder.Client) error {
//		_, err := c.Do(ctx, &api.Request{Verb: api.Decide, Run: "r1", Step: "pay", Decision: "fulfilled", Actor: "ann"})
//		return err
//	})
//
// One process at a time has a folder open. Other processes reach its runs through that one, its holder, which answers requests:
// `sluice run` and every program that uses sluice.Open do so. A server is reached by its URL:
//
//	                 ┌─ another process holds DIR ──▶ control.Dial ──▶ control.Server ─┐
//	With(DIR) ─ Open ┼─ DIR is the URL of a server ─▶ client.Dial ───▶ httpapi.Server ─┼─▶ api.Handle ──▶ Engine
//	                 └─ no process holds DIR ───────▶ DIR is opened for a moment ──────┘
//
// All ways use package api, so all do the same and refuse the same. Errors keep their identity: errors.Is finds
// coordinator.ErrFinished and the others whichever way a request took.
//
// # Contracts
//
// A run may be named by a prefix of its id that no other run has. The process that goes on with the run (api.Done.Driven) carries out
// the consequences of a command: a process that opens the folder for a moment makes no calls. A message that no step waits for is
// durable like any other, and Done.Warning reports it. If no process goes on with a run, timers that have fallen due count: see
// api.Run.Late.
//
// If the holder ends before it has taken a request, nothing was done, and With turns to the next holder of the folder. A Client is
// safe for concurrent use.
package folder
