// Package retention decides how long ended runs are kept, and deletes them afterwards, with the objects that only they needed.
//
//	err := engine.Keep(ctx, retention.Rule{Keep: 30 * 24 * time.Hour}, "ann")
//	done, err := engine.Collect(ctx, retention.Collection{Dry: true})
//
// A rule is a query and a time. The rules of a store are in its stream `#keep`; without rules everything is kept. The methods of
// Retention are a part of coordinator.Engine.
//
//	runs that have ended ─▶ is the time of each run of the family over? ─▶ delete, children first ─▶ tombstones
//	                                                                              │
//	content of open worlds, definitions, large values ◀─ sweep what nothing refers to any more ◀─┘
//
// A family is a run with all runs below it: it goes as a whole, when the time of each of them is over. Runs that are open, in memory
// or parked stay, with their families.
package retention
