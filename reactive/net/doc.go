// Package net is what a run of a playbook means: tokens, step-runs, the context, and when all of it has come to rest. It
// is pure: a function of playbook and journal, without clock, goroutine or I/O.
//
//	        ┌───────────── arcs ◀──────────────┐
//	token ──▶ gate ──▶ step-run ──▶ pipeline ──┴──▶ end of the branch
//	  ▲        │ pending             │ tasks            │
//	  └ join   └ ctx patched         └▶ calls of the root: the calls
//
// The calls themselves are kept by package reactive, as those of any workflow: the net opens a call when a task begins, is
// told how it has ended, and closes it when control leaves the task. So timing, targets, fan-in and fulfillment of a tool
// are what they are everywhere.
//
// What needs nothing of tokens and steps has packages of its own: gate holds what is denied, outcome is how a task has ended,
// results keeps large results out of line, variables is what expressions write to, and callorder is which calls wait for which.
//
// # What the journal holds
//
// run.started, step.scheduled for every token that a step-run takes, the calls' own events, timer.fired, and ctx.patched
// for changes from outside. Admission, rules, sets, arcs and joins follow from those and are told as Views when they are
// applied.
//
// # The order of things
//
// One event is followed to its end: outcome, rules, sets, end of the step, its arcs, new tokens. Then the pending tokens
// look again whose keys were written, oldest first. Then it is seen whether the net is quiet: no token can move, and no
// step-run is under way. What a run that is quiet does about tokens that were denied, its playbook says; the final step
// gets its token when none is left.
//
// # Values
//
// What is handed out is never written to again, be it to an expression, a call, an event or whoever asks: a write replaces
// what its path leads to, with the objects on the way, and shares the rest. What is written to a scope must be a value where
// it stands, so what can be read can be journaled, but for what wraps it deeper than values nest: that fails its step.
//
// # Fan-outs
//
// A router that sends out several tokens opens a group, which counts the tokens and step-runs that come of them, and the
// groups that those open. A join answers to one of the groups that a token is in: the outermost of whose router every arc
// leads there (playbook.Playbook.AnswersTo), or the innermost if there is none. It parks what arrives of that group, from
// whichever group within, and decides when it has enough, or when nothing of the group is live any more. What it lets go on
// belongs to the fan-out around.
//
//	a ──▶ b ──▶ d ──▶ j     b has opened a group within that of a; j answers to a. What comes of d and e is held with a's
//	│     └───▶ e ──▶ j     group and has left b's, which ends, and leaves a's, when neither is under way any more. Then, when
//	└───▶ c ────────▶ j     c is not either, j goes on with what has come of d, e and c, in this order.
package net
