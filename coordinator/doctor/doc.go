// Package doctor checks a directory with a journal, record by record, and rebuilds what follows from its events.
//
//	raw, err := disk.OpenRaw("data", true, disk.Config{})
//	report, err := doctor.Check(ctx, raw, true, func(f doctor.Fault) error {
//		fmt.Printf("%s: %s: %s\n", f.Run, f.What, f.Means)
//		return nil
//	})
//	err = raw.Close()
//
// # What is checked
//
// Events are what has happened, and cannot be made up: a record of events that is damaged or missing is reported each time, and
// left as it is. Every other record follows from events, and is rebuilt with mend:
//
//	record                         is sound if                                         rebuilt
//	events of a run                checksum and format are right, no number is missing never
//	definitions, large values      it is what its hash says                            never
//	the run                        its definition compiles, every event can be applied –
//	head of a run                  it says what the events say, field by field         yes
//	number of the last commit      the database and the file COMMIT agree              yes, unless commits are lost
//
// A head is what lists of runs show, and what decides which runs an engine goes on with and when. A Fault says by its Kind
// which of these records it is about, by Derived whether it can be rebuilt, and by Mended that it was.
//
// # How a run is checked
//
//	Streams ──▶ content: a definition or a large value ──▶ hash
//	        └─▶ run: Records ──▶ numbers ──▶ definitions ──▶ Root.Apply ──▶ judge: the head that follows │ the head that is there
//
// A head that ends behind the last event is believed: a head cannot be seen to be wrong where events may have been lost, so the
// events between are reported as missing.
//
// Statuses cannot be derived of a run that was started under other rules (decide.EngineVersion, expr.Version), or whose events
// or definition are damaged. Then the head is compared with what single events say, such as the end of the run. Where such a
// head has to be rebuilt with nothing more known, the run counts as running, so that an engine looks at it, and parks it.
//
// # Contracts
//
// Concurrency: Check uses the Raw, and calls tell, on the goroutine of its caller. No other process can have the directory open.
//
// Order: faults are told as they are found. Streams are read in the order of their names; the faults of a run follow its
// events, with the head last. The same directory yields the same faults in the same order.
//
// Errors: what is wrong with the directory is a Fault, not an error; a panic while a definition is compiled or an event is applied
// is one too. Check returns an error only if ctx has ended, if tell has returned one, or if the directory cannot be written.
//
// Durability: what was rebuilt is durable when the Close of the Raw has returned nil.
//
// Memory: one run at a time, in slices of a record of its journal, and at most 64 compiled definitions.
package doctor
