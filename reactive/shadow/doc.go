// Package shadow replays a run's outcomes under another workflow and returns the differences. The other workflow gets the results of
// the run's calls, its messages and its commands at the instants at which they came; no call is made.
//
//	journal event ─┬─▶ root of the run's own workflow: which events came from outside
//	               ├─ outcomes, messages, commands ─▶ stepper of the other workflow ─▶ its events ─┐
//	               └─ decisions of the run itself ────────────────────────────────────────────────┴─▶ paired ─▶ differences
//
// Events that both have, with the same content, are no difference. An outcome that comes before the other workflow asks for it is kept
// until then. A request of the other workflow that the run has never made stays unanswered.
//
// The events of one turn have one instant, and those that came from outside stand before those that follow from them: so the turns of
// the run are found again, and the other workflow decides when the run did. A command that was journaled while no process drove the
// run has no decisions behind it, and then none are made.
package shadow
