// Package doctor checks a directory with a journal, record by record, and makes anew what is derived from events.
//
//	raw, err := disk.OpenRaw("data", true, disk.Config{})
//	report, err := doctor.Check(ctx, raw, true, func(f doctor.Fault) error { fmt.Println(f.Run, f.What, f.Means); return nil })
//	err = raw.Close()
//
// Events are what has happened, and nobody can make them up: a record that is damaged or missing is reported, each time, and
// is never touched. Everything else follows from them and is written anew with mend:
//
//	record                         checked                                            made anew
//	events of a run                checksum, format, numbers without gaps             never
//	definitions, large values      there where an event refers to them, their hash    never
//	the run                        every event can be applied again                   –
//	head of a run                  says what the events say, field by field           yes
//	number of the last commit      in the database and in COMMIT                      yes, unless commits are lost
//
// A head from which events have been lost cannot be told from events that a wrong head makes up, so a head that ends behind the
// last event is taken for the truth: the events are missing. Of a run that was started under other rules (decide.EngineVersion),
// or whose events or definition are damaged, statuses cannot be derived: its head is compared with what single events say, and
// where it has to be made anew without knowing more, the run counts as running, so that whoever can go on with it looks at it.
//
// One run at a time is in memory, in slices of a record of its journal, besides at most 64 compiled definitions.
package doctor
