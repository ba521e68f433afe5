// Package net computes the state of a playbook's run: tokens, step-runs, the context, and whether anything can still move. It
// is a pure function of playbook and journal, without clock, goroutine or I/O.
//
//	        ┌───────────── arcs ◀──────────────┐
//	token ──▶ gate ──▶ step-run ──▶ pipeline ──┴──▶ end of the branch
//	  ▲        │ pending             │ tasks            │
//	  └ join   └ ctx patched         └▶ calls of the root: the calls
//
// Package reactive keeps the calls themselves, as those of any workflow: the net opens a call when a task begins, learns
// how it has ended, and closes it when control leaves the task. So timing, targets, fan-in and fulfillment of a tool
// are what they are everywhere.
//
// Concepts that need neither tokens nor steps are packages of their own: gate holds denied tokens, outcome describes how a task has
// ended, results keeps large results out of line, variables has the scopes that expressions write to, and callorder the order of calls.
//
// # What the journal holds
//
// run.started, step.scheduled for every token that a step-run takes, the calls' own events, timer.fired, and ctx.patched
// for changes from outside. Admission, rules, sets, arcs and joins follow from those and are reported as Views when
// they are applied.
//
// # The order of things
//
// One event is followed to its end: outcome, rules, sets, end of the step, its arcs, new tokens. Then pending
// tokens whose keys were written are judged again, oldest first. Then the net may be quiet: no token can move, and no
// step-run is under way. The playbook says how a quiet run treats denied tokens; the final step gets its token when none
// is left.
//
// # Values
//
// A value that was handed out, to an expression, a call, an event or a reader, is never written to again: a write replaces
// the value at its path, with the objects on the way, and shares the rest. A write must leave a value within the limits of
// package value, so everything that can be read can be journaled, unless it is wrapped deeper than values nest: that fails
// the step.
//
// # Fan-outs
//
// A router that sends out several tokens opens a group, which counts the tokens and step-runs that come of them, and the
// groups that those open. A join answers to one of the groups that a token is in: the outermost of whose router every arc
// leads there (playbook.Playbook.AnswersTo), or the innermost if there is none. It holds the tokens of that group and of the
// groups within it, and decides when enough have come, or when nothing of the group is live any more. The token that goes on
// belongs to the fan-out around.
//
//	a ──▶ b ──▶ d ──▶ j     b has opened a group within that of a; j answers to a. The tokens of d and e are held with a's
//	│     └───▶ e ──▶ j     group and has left b's, which ends, and leaves a's, when neither is under way any more. Then, when
//	└───▶ c ────────▶ j     c is not either, j goes on with the tokens of d, e and c, in this order.
package net
