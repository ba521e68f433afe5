// Package bulk acts on many runs at once: on those that a query selects. Its methods are a part of coordinator.Engine.
//
//	preview, err := engine.PreviewBulk(ctx, bulk.Act{Verb: "cancel", Where: "workflow:order status:waiting"})
//	id, err := engine.BeginBulk(ctx, bulk.Act{Verb: "cancel", Where: "workflow:order status:waiting", Expect: preview.Count})
//	status, err := engine.AwaitBulk(ctx, id)
//
// An act states the number of runs that it expects, and is refused as a whole if the query selects another number. It then acts on the
// chosen runs, even if the query would later select others. It sends each run the command that a person would use: if that is refused,
// the act records the refusal and goes on with the other runs.
//
// # Streams
//
// The stream `#bulk` records each act and its end; `#bulk/N` records the runs chosen by act N, and their outcomes:
//
//	#bulk      asked ─────────────────────────────────────────────────────────── completed, stopped or abandoned
//	#bulk/N          how, chosen … chosen, begun ─▶ commands to a slice ─▶ done … done
//
// `how` has the other options of a rerun or a move, with the workflow: see Act.
//
// Nothing is done before `begun` is durable: an act that a crash interrupts before that is abandoned. One that is interrupted later goes
// on with the first slice that is not recorded. Each command that it sends carries the name of its stream, so it finds in the journals of
// that slice the commands that it has carried out already, and does nothing twice. A rerun sends no command: the id of the run that it
// starts follows from the act and the run that it repeats, so it finds that run.
//
// An engine that goes on with all runs of its store goes on with their acts, too; an engine that only answers commands does so when the
// next act begins.
//
// The streams of acts that have ended are kept for KeptTime, those of the newest KeptMax, and no longer than the rules of the store keep
// runs that no rule selects: see Forget. The lines in `#bulk`, some hundred bytes for each act, stay.
package bulk
