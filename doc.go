// Package sluice runs workflows: graphs of calls that must not get lost. Every call leaves events in an append-only
// journal; a graph of signals, derived from the journal and from nothing else, says what each step's status is and what
// may start; a coordinator makes it happen. Nothing has to be installed: the journal is a folder.
//
//	greet := operation.Define("greet", func(ctx context.Context, name string) (string, error) { return "hello " + name, nil })
//	hello := flow.Call("hello", greet, flow.Input[string]())
//	welcome := flow.MustNew("welcome", flow.Input[string](), flow.Output(hello), hello)
//
//	engine, err := sluice.Open(ctx, "journal", coordinator.Config{})
//	run, err := sluice.Start(ctx, engine, welcome, "ann")
//	result, err := run.Wait(ctx)
//
// This package is the front door: Open gives an engine, Start starts a workflow whose types are known. The rooms of the
// house, in reading order:
//
//	template              what a workflow is: documents and their validation
//	template/flow         workflows built in Go, with typed handles
//	template/playbook     routed steps
//	coordinator           the engine: start, wait, watch, step in
//	coordinator/operation what steps call: Go functions, commands, HTTP
//	coordinator/control   steps into the runs of another process
//	reactive              journal ─▶ statuses, the pure half
//	reactive/journal      events and their stores
//	signals               fine-grained reactivity, usable alone
//	dag                   compact graphs, usable alone
//
// # Contracts
//
// Durability: nothing leaves the process before the event that announces it is durable; what an observer has seen, every
// later observer sees. With a folder, durable is synced to the disk; in memory, it ends with the process.
//
// Repetition: a call that was requested and has no answer when the process dies is requested again with the same request
// id and idempotency key: at least once, and exactly once for operations that honour the key. A call that has an answer is
// never made again.
//
// Concurrency: engines and runs are safe for concurrent use; one process at a time has a folder open, and answers there for
// the others: `sluice runs --data journal` shows the runs of a program, `sluice send` and the like step into them.
//
// Cost: what an event costs is proportional to what it changes, and runs that wait at the same time share syncs of the
// disk. README.md has figures beside those of others, and the command that measures them.
package sluice
