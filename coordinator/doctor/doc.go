// Package doctor checks a data folder record by record, and rebuilds the records that are derived from events.
//
//	raw, err := disk.OpenRaw("data", true, disk.Config{})
//	report, err := doctor.Check(ctx, raw, doctor.How{Mend: true}, func(f doctor.Fault) error {
//		fmt.Printf("%s: %s: %s\n", f.Run, f.What, f.Means)
//		return nil
//	})
//	err = raw.Close()
//
// # Checks
//
// Events cannot be rebuilt: a damaged or missing record of events is reported each time and left as it is. Every other record
// follows from events, and is rebuilt with mend:
//
//	record                         is sound if                                         rebuilt
//	events of a run                checksum and format are right, no number is missing never
//	definitions, large values      its content has its hash                            never
//	content that a run keeps       it has its hash, and the run has events             never
//	the run                        its definition compiles, every event can be applied –
//	head of a run                  it follows from the events, in every field          yes
//	lists of runs                  they follow from the heads, if these are sound      yes, as with any head
//	number of the last commit      the database and the file that counts commits agree yes, unless commits are lost
//
// Lists of runs show heads, and heads decide which runs an engine goes on with and when. The Kind of a Fault is the kind of the record,
// Derived reports whether the record can be rebuilt, and Mended describes the rebuilt record.
//
// # How a run is checked
//
//	Streams ──▶ content: a definition or a large value ──▶ hash
//	        └─▶ run: Records ──▶ numbers ──▶ definitions ──▶ Root.Apply ──▶ judge: the derived head │ the stored head
//
// If a head is beyond the last event, the events in between are reported as missing. Events trimmed according to the head
// are not reported.
//
// Statuses cannot be derived for a run that was started under other rules (decide.EngineVersion, expr.Version), whose events
// are trimmed, or whose events or definition are damaged. Then the head is compared with single events, such as the end of the run. If such a head
// must be rebuilt and nothing else is known, the run counts as running, so that an engine loads it and parks it.
//
// # Contracts
//
// Concurrency: Check uses the Raw, and calls emit, on the goroutine of its caller. No other process can have the directory
// open.
//
// Order: faults are reported as they are found. Streams are read in the order of their names; the faults of a run follow its
// events, with the head last. The same directory yields the same faults in the same order.
//
// Errors: a defect of the directory is a Fault, not an error, and so is a panic while a definition is compiled or an event is
// applied. Check returns an error only if ctx has ended, if emit has returned one, or if the directory cannot be written.
//
// Durability: rebuilt records are durable when the Close of the Raw has returned nil.
//
// Memory: one run at a time, one record of its journal at a time, and at most 64 compiled definitions.
package doctor
