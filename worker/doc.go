// Package worker carries out operations for a Sluice server: `sluice serve --listen`, or coordinator/httpapi in another program.
//
//	var charge = operation.Define("charge", func(ctx context.Context, amount int) (string, error) { … })
//
//	err := worker.Serve(ctx, worker.Config{URL: "http://127.0.0.1:8080", Token: token, Operations: []worker.Operation{charge}})
//
// An operation sees the same as inside an engine: operation.CallOf(ctx) is the call with its idempotency key, operation.Report journals
// progress, and ctx ends when the result is no longer wanted. Log writes to the log of the server.
//
// Calls and results are sent in batches: all that wait while a request is under way go with the next. A call has its place among
// Config.Calls until its operation has returned; the next calls are taken while its result is delivered. While the server does not
// answer, results are kept, at most two for each place, and delivered later; a worker that outlives the server loses none of them.
package worker
