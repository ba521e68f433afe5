// Package coordinator runs workflows: it is the engine, and holds everything that needs a clock, a goroutine or a disk.
//
//	engine, err := coordinator.New(ctx, store, coordinator.Config{Operations: operations})
//	run, err := engine.Start(ctx, workflow, input)      returns when the run is durable
//	for update, err := range run.Watch(ctx, 1) { … }    its updates, from its first event on
//	result, err := run.Wait(ctx)
//	err = engine.Shutdown(ctx)
//
// Each run in memory has a loop, whose turns append to its journal; while the loop waits, the goroutine that brings a result takes
// the turn in its place. A command to a run that this engine does not drive is appended without a loop, see package notes.
//
//	results ──┐                                                              ┌─▶ replies to commands
//	commands ─┼─▶ inbox ─▶ Stepper: apply, decide ─▶ Append ─▶ one sync ─────┼─▶ calls that end
//	timers ───┘            (pure, see package decide)         (shared)       └─▶ calls that begin ─▶ results
//
// Recovery takes the same path: a loop begins by applying its run's journal to the stepper. A run goes on this way after a
// crash, after a failed append, and after it has left memory because only a timer, a message or a person could move it.
//
// # Packages
//
//	registry   compiles workflows and finds the implementations of their operations
//	pool       finds room for calls and makes them; call.Request in, call.Result out
//	children   starts child runs, counts, pauses and cancels them
//	reader     reads runs: state, history, explanations, call graphs
//	parking    records the runs that cannot go on here, finds out why, and tries them again
//	pickup     finds the runs that this engine goes on with, and records which; limits bounds them
//	closing    ends the engine in order
//	residence  bounds the runs in memory
//	lists      finds and deletes runs; query is the text that selects them; bulk acts on those that it selects
//	commands   makes the events of commands, and brings them to the run
//	starting   prepares the starts of runs; rerun computes the results that a rerun keeps
//	moving     switches runs to other workflows
//	notes      journals commands of runs that this engine does not go on with
//	answering  brings the answers of workers to the runs
//	inbox      queues the items and finished calls of a run
//	clock      tells the time, and wakes runs when they are due
//	operation  makes functions and bindings callable; keychain has their secrets, directory their participants
//	parcel     publishes workflows, and starts those that come from elsewhere
//	cells      reads and commands the cells of worlds
//	workers    hands calls to the programs elsewhere that carry them out
//	retention  deletes runs, and collects definitions, large values and content that no run refers to
//	transfer   exports and imports runs; holds names those that wait to be released; copies makes backups
//	versions   compares versions of workflows
//	feed       streams changes; tally counts events
//	api        answers requests of other processes: control by a socket, httpapi by HTTP with a page
//	catalog    reads and judges the documents that come from elsewhere; draft those that are being written
//	doctor     repairs folders; observe traces; scenario and explore test
//
// # Contracts
//
// Durability: a decision is carried out, answered and shown only after Append has returned.
//
// Repetition: a call that was requested and has no answer when the process dies is requested again with the same request id
// and idempotency key: at least once, and exactly once for operations that honour the key. An answered call is never repeated;
// a step that is not idempotent fails with code interrupted instead of being repeated.
//
// Children: a call that starts a run finds the same run when it is repeated, and the run is cancelled when its call ends, even
// if no process was running at that moment.
//
// Order: the events of a run are applied one by one in journal order, and steps start in template order. Events of different
// runs are not ordered among each other.
//
// Concurrency: Engine and Run are safe for concurrent use. A Stepper belongs to one goroutine. Operations are called from many
// goroutines at once.
//
// The program's code (operations, Go functions, directories, loggers, and the methods, such as MarshalJSON and Error, of the
// values and errors they return) may panic or end its goroutine: only the call, step or method that needed it fails, with the
// stack in the details of the failure. The return value of a call is converted to a value of package value before it leaves
// the call.
//
// Ends: after Shutdown every method returns ErrShutdown. If the context of a method ends, its error wraps context.Canceled or
// context.DeadlineExceeded, and the context's cause.
//
// Bounds: Limits bounds a run, CallsMax the calls of the process, ProgramsMax its programs, and IdleTimeout the time that an
// idle run stays in memory.
//
// # Parked runs
//
// A run is parked if this process cannot go on with it: it lacks an operation, a function or a workflow, it was started under
// the rules of another version, its journal is damaged or cannot be read after several seconds of retries, the store rejects
// writes, or its loop has panicked. Parking is a state of the process, not of the run: the journal does not change.
//
//	┌─▶ loaded ─▶ recovered from its journal ─▶ goes on
//	│        │
//	│        └─ failed ──▶ parked ─┐
//	│                              ├─ Register or Start provides the missing part
//	│                              ├─ a command for it arrives, or a worker's answer
//	│                              ├─ a timer of it is due
//	└──────────────────────────────┴─ another engine opens the store
//
// Wait and commands return an error that wraps ErrParked and the reason. State, Explain and Engine.Parked report it, and the
// engine logs it once, at WARN. Other runs go on. A step that waits for a parked child run keeps waiting.
//
// # Cost
//
// A turn of a loop takes all items that have arrived and costs one sync, shared with the other appends that are pending. Work
// for an event is proportional to its changes. Watch reads the journal itself and costs the run nothing. BenchmarkChains,
// BenchmarkFans, BenchmarkLatency and BenchmarkInMemory measure this, along with the disk's latency.
package coordinator
