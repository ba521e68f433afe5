// Package machine defines machines in Go: typed functions that step the cells of a world.
//
//	var Pay = machine.Effect[PayParams, Charge]("pay")
//	var Orders = machine.Define("order", "3", step, machine.Emits(Pay, machine.Timer))
//
//	type Event struct { // exactly one arm is set
//		Placed *OrderPlaced                                  // a message, by the name of its type or the tag event
//		Paid   *machine.Receipt[Charge] `effect:"pay"`       // or effect:"pay.ISSUER"
//		Late   *machine.Fired           `timer:"deadline"`   // without the tag: any timer
//	}
//
//	func step(a *machine.Activation[string], s *Order, e Event) (*Order, error)
//
//	Define ──▶ *Definition ──World──▶ *template.Workflow, the same as of a document with go: {name: order, version: "3"}
//	                       └────────▶ coordinator.Config.Machines, for such documents
//
// # Steps
//
// A step takes copies of the key, the state and the event, and returns the new state. The state is nil if the cell has none; the step
// returns nil to delete it. The requests by its Activation count if it returns no error and all of them fit. An event that has no arm is
// ignored without a call; a step ignores another with Activation.Ignore.
//
// A step must return the same for the same state and event, whenever and wherever it runs: it draws random numbers from
// Activation.Rand and UUID, takes the time from Now, and asks for everything else as an effect. The tool machinevet looks for
// code that may return something else.
//
// # Types
//
// Package gotypes defines which Go types fit which types of a world. World derives the latter from the former; the tag `type:"dec128"` of
// a field chooses another. A document with its own types fits a definition whose Go types can hold them: a string can be a text, a uuid
// or a dec128, and a slice a list or a set.
//
// # Versions
//
// The name and the version of a definition identify its code. Cells whose machine the program does not have, in that version,
// can be read and queue their events, until a program has it. Migrate converts a state that another version has left. It is
// checked, and can be tried with Migrated; no world uses it yet.
package machine
