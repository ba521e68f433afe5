// Package coordinator makes runs happen: it is the engine, with everything in it that has a clock, a goroutine or a disk.
//
//	engine, err := coordinator.New(ctx, store, coordinator.Config{Operations: operations})
//	run, err := engine.Start(ctx, workflow, input)      returns when the run is durable
//	for update, err := range run.Watch(ctx, 1) { … }    what happens, from its first event on
//	result, err := run.Wait(ctx)
//	err = engine.Shutdown(ctx)
//
// Each run in memory has a loop. It is the only one who appends to the run's journal:
//
//	outcomes ─┐                                                              ┌─▶ replies to commands
//	commands ─┼─▶ inbox ─▶ Stepper: apply, decide ─▶ Append ─▶ one sync ─────┼─▶ calls that end
//	timers ───┘            (pure, see package decide)         (shared)       └─▶ calls that begin ─▶ outcomes
//
// Recovery is the same road: a loop begins by reading its run's journal into the stepper. That is how a run goes on after
// a crash, after an append that failed, and after it has left memory because nothing but a timer, a message or a person
// could move it.
//
// # Rooms
//
// The engine owns what each of these packages does for it:
//
//	registry   compiles workflows, and finds who carries out their operations
//	pool       finds room for calls and makes them; call.Request in, call.Result out
//	children   starts child runs, counts, pauses and cancels them
//	reader     reads runs: state, history, explanations, call graphs
//	parking    remembers which runs cannot go on here, and why
//	pickup     knows which runs go on here at all
//	inbox      collects what comes in for a run
//	clock      says what instant it is, and wakes runs at theirs
//	limits     says what bounds a run
//
// # Contracts
//
// Durability: what a step has decided is carried out, answered and shown after Append has returned, and never before.
//
// Repetition: a call that was requested and has no answer when the process dies is requested again with the same request
// id and idempotency key: at least once, and exactly once for operations that honour the key. A call that has an answer is
// never made again; a step that is not idempotent fails with code interrupted instead of being repeated.
//
// Children: a call that starts a run finds the same one when it is made again, and none of them goes on when its call has
// ended, whether or not a process was there to see that.
//
// Order: events of a run are applied one by one in the order of the journal, and starts are decided in template order.
// Between runs there is no order.
//
// Concurrency: Engine and Run are safe for concurrent use. A Stepper belongs to one goroutine. Operations are called from
// many goroutines at once.
//
// Code of the program (operations, Go functions, directories, loggers, and the methods of the values and errors that they
// give, such as MarshalJSON and Error) may panic or end its goroutine: that fails what asked, with the stack in the details
// of the failure, and nothing else. What a call returns is turned into values of package value before it leaves the call.
//
// Ends: after Shutdown every method returns ErrShutdown. The error of a method whose context has ended wraps context.Canceled
// or context.DeadlineExceeded, and the context's cause.
//
// Bounds: Limits bounds a run, CallsMax the calls of the process, ProgramsMax its programs, IdleTimeout how long an idle run stays
// in memory.
//
// # Parked runs
//
// A run that this process cannot go on with is parked: it lacks an operation, a function or a workflow, was started under the
// rules of another version, its journal is damaged or still cannot be read after some seconds, the store takes no more, or
// its loop has panicked. That is a state of the process and not of the run, whose journal stays as it is.
//
//	┌─▶ loaded ─▶ recovered from its journal ─▶ goes on
//	│        │
//	│        └─ in vain ─▶ parked ─┐
//	│                              ├─ Register or Start brings what it lacks
//	│                              ├─ a command for it comes in
//	└──────────────────────────────┴─ an engine is next made on the store
//
// Wait and commands return an error that wraps ErrParked and the reason. State, Explain and Engine.Parked tell it,
// and the logger once, at WARN. The other runs go on. A step that waits for a child run waits for a parked one, too.
//
// # Cost
//
// One sync for each turn of a loop, shared with whatever else is waiting to be written; a turn takes everything that has
// come in. Work for an event is proportional to what it changes. Watch reads the journal for itself and costs the run
// nothing. BenchmarkChains, BenchmarkFans, BenchmarkLatency and BenchmarkInMemory measure it, beside the disk's latency.
package coordinator
