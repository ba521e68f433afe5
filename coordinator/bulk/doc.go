// Package bulk acts on many runs at once: on those that a query selects. Its methods are a part of coordinator.Engine.
//
//	preview, err := engine.PreviewBulk(ctx, bulk.Act{Verb: "cancel", Where: "workflow:order status:waiting"})
//	id, err := engine.BeginBulk(ctx, bulk.Act{Verb: "cancel", Where: "workflow:order status:waiting", Expect: preview.Count})
//	status, err := engine.AwaitBulk(ctx, id)
//
// An act names how many runs it expects, and is refused as a whole if the query selects another number. It then acts on the runs that
// it has chosen, whatever the query would select later, each by the command that a person would use: a command that is refused to a person
// is refused to an act, which says so at the end and goes on with the other runs.
//
// # Streams
//
// The stream `#bulk` has each act and its end, and `#bulk/N` the runs that the act with that id has chosen, and their outcomes:
//
//	#bulk      asked ─────────────────────────────────────────────────────────── completed, stopped or abandoned
//	#bulk/N          how, chosen … chosen, begun ─▶ commands to a slice ─▶ done … done
//
// `how` has the other options of a rerun or a move, with the workflow: see Act.
//
// Nothing is done before `begun` is durable: an act that a crash cuts off before that is abandoned. One that is cut off later goes on
// with the first slice that is not recorded. Each command that it sends carries the name of its stream, so it finds in the journals
// of that slice the commands that it has carried out already, and does nothing twice. A rerun sends no command: the id of the run that it
// starts follows from the act and the run that it repeats, so it finds that run.
//
// An engine that goes on with all runs of its store goes on with their acts, too; one that only answers commands does so when the
// next act begins.
//
// The streams of acts that have ended are kept for KeptTime, those of the newest KeptMax, and no longer than the rules of the store keep
// runs that no rule selects: see Forget. The lines in `#bulk`, some hundred bytes for each act, stay.
package bulk
