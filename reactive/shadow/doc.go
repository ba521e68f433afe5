// Package shadow replays a run's outcomes under another workflow and returns the differences. The other workflow receives the
// results of the run's calls, its messages and its commands at their original instants; no call is made.
//
//	journal event ─┬─▶ root of the run's own workflow: which events came from outside
//	               ├─ outcomes, messages, commands ─▶ stepper of the other workflow ─▶ its events ─┐
//	               └─ decisions of the run itself ────────────────────────────────────────────────┴─▶ paired ─▶ differences
//
// Equal events of both are not a difference. An outcome that precedes the request of the other workflow is kept until that request. A
// request of the other workflow that the run has never made stays unanswered.
//
// The events of one turn have one instant, and events from outside precede their consequences: this identifies the turns of the run,
// so the other workflow decides when the run decided. A command that was journaled while no process drove the run is followed by no
// decisions, so the other workflow makes none either.
package shadow
