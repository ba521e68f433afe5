// Package transfer takes runs from one store to another: it exports them to a file of package archive, and imports such a file.
//
//	t := transfer.New(transfer.Config{Store: store, Registry: registry, Holds: held, Lock: lock})
//	err := t.Export(ctx, file, "order-1", "order-2")
//	runs, err := t.Import(ctx, file, "ann")
//
// # Export
//
// A run goes with the runs that its calls have started, below it, in the order of their ids. Each has its start, the workflows that
// it needs, its events and large values, and of a world the content that its last two snapshots need. Equal runs are exported as
// equal bytes.
//
// # Import
//
// A file is read twice. The first time changes nothing: every line is checked, every run is folded as an engine would, and compared
// with the content of the store. The second time writes.
//
//	          ┌─ the store has none ───────────────▶ it is written
//	a run ────┼─ the store has the same ───────────▶ it is there
//	          ├─ an import of it was interrupted ──▶ the rest is written
//	          └─ anything else ────────────────────▶ the file is refused
//
// A refused file changes nothing. Runs that have not ended are held before the first of their events is written, see package holds:
// the process from which they come may still go on with them. Runs under the rules of another version are imported, and are
// parked as they would have been where they were.
//
// # Contracts
//
// A crash while a file is written leaves some of its runs whole, and others absent. A run that takes more than one write, with those that
// belong to it, is marked as incomplete before the first and until all runs of the file are there: it is refused as incomplete,
// whether it had ended or not, until the file is imported again, which writes the rest, or the run is deleted. Memory is needed for one run at a time, and a few hundred bytes for each run, workflow and large value of the file.
// A Transfer is safe for concurrent use; it imports one file at a time.
package transfer
