// Package worker carries out operations for a Sluice server: `sluice serve --listen`, or coordinator/httpapi in another program.
//
//	var charge = operation.Define("charge", func(ctx context.Context, amount int) (string, error) { … })
//
//	err := worker.Serve(ctx, worker.Config{URL: "http://127.0.0.1:8080", Token: token, Operations: []worker.Operation{charge}})
//
// An operation sees the same as inside an engine: operation.CallOf(ctx) is the call with its idempotency key, operation.Report journals
// progress, and ctx ends when the result is not wanted any more. Log writes to the log of the server.
//
// Calls and results travel in batches: as many as wait while a request is under way go with the next. A call has its place among
// Config.Calls until its operation has returned; the next calls are taken while its result is delivered. While the server does not answer,
// as many results again are kept and delivered once more; a worker that outlives the server loses none of them.
package worker
