// Package sluice runs workflows: graphs of calls that must not get lost. Every call is recorded as events in an append-only
// journal; a graph of signals, derived from the journal alone, computes the status of each step and which steps may start; a
// coordinator makes the calls. Nothing has to be installed: the journal is a folder.
//
//	greet := operation.Define("greet", func(ctx context.Context, name string) (string, error) { return "hello " + name, nil })
//	hello := flow.Call("hello", greet, flow.Input[string]())
//	welcome := flow.MustNew("welcome", flow.Input[string](), flow.Output(hello), hello)
//
//	engine, err := sluice.Open(ctx, "journal", coordinator.Config{})
//	run, err := sluice.Start(ctx, engine, welcome, "ann")
//	result, err := run.Wait(ctx)
//
// Open returns an engine, and Start starts a typed workflow. The packages, in reading order:
//
//	template              workflows: documents and their validation
//	template/flow         workflows built in Go, with typed handles
//	template/playbook     routed steps
//	coordinator           the engine: start, wait, watch, command
//	coordinator/operation implementations of steps: Go functions, commands, HTTP
//	coordinator/control   commands for the runs of another process
//	coordinator/httpapi   the same by HTTP, and the page
//	client                programs that use a server
//	worker                programs that carry out operations for a server
//	reactive              journal ─▶ statuses, the pure half
//	reactive/journal      events and their stores
//	signals               fine-grained reactivity, usable alone
//	dag                   compact graphs, usable alone
//
// # Contracts
//
// Durability: a call, an answer or an update leaves the process only after its event is durable; if one observer has seen an event,
// every later observer sees it. In a folder, durable means synced to the disk; in memory, events end with the process.
//
// Repetition: a call that was requested and has no answer when the process dies is requested again with the same request id
// and idempotency key: at least once, and exactly once for operations that honour the key. An answered call is never repeated.
//
// Concurrency: engines and runs are safe for concurrent use. One process at a time has a folder open and serves the others:
// `sluice runs --data journal` shows the runs of a program, and `sluice send` and other verbs send them commands.
//
// Cost: the work for an event is proportional to its changes, and runs that wait at the same time share syncs of the disk.
// README.md compares figures with other engines, and has the command that measures them.
package sluice
