// Package net computes the state of a playbook's run: tokens, step-runs, the context, and the end of the run. It is a pure
// function of playbook and journal, without clock, goroutine or I/O.
//
//	        ┌───────────── arcs ◀──────────────┐
//	token ──▶ gate ──▶ step-run ──▶ pipeline ──┴──▶ end of the branch
//	  ▲        │ pending             │ tasks            │
//	  └ join   └ ctx patched         └▶ calls of the root: the calls
//
// Package reactive manages the calls, as for any workflow. The net opens a call when a task begins, observes its end, and
// closes it when control leaves the task. So timing, targets, fan-in and fulfillment of a tool work as in any other workflow.
//
// The oldest admitted token has the next step-run (Next); package decide journals it as step.scheduled.
//
// Parts that do not need the whole net have their own packages: gate holds denied tokens, ended describes the
// end of a task, results stores large results out of line, variables implements the scopes that expressions write to, and
// callorder orders calls.
//
// # The journal
//
// The journal holds run.started, step.scheduled for every token that a step-run takes, the calls' own events, timer.fired,
// and ctx.patched for changes from outside. Admission, rules, sets, arcs and joins are derived from these events, and reported
// as Views when they are applied.
//
// # Order
//
// One event is processed completely: outcome, rules, sets, end of the step, its arcs, new tokens. Then pending tokens are
// judged again, oldest first, if keys that they read were written. Then the net may be quiet: no token can move, and no
// step-run is in progress. The playbook determines the policy of a quiet run for denied tokens; when none is left, the final
// step receives its token.
//
// # Values
//
// A value that was passed to an expression, a call, an event or a reader never changes: a write replaces the value at its path
// and the objects on the path, and shares the rest. A written value must be within the limits of package value, so every
// readable value can be journaled. An expression that wraps a value deeper than values may nest fails the step.
//
// # Fan-outs
//
// A router that emits several tokens opens a group, which counts the tokens and step-runs that descend from them, and nested
// groups. A join belongs to one of the groups that a token is in: the outermost group with a router whose arcs all lead to the
// join (playbook.Playbook.AnswersTo), or the innermost group if there is none. It holds the tokens of that group and of nested
// groups, and fires when enough have arrived, or when the group has no other live members. The token that it emits belongs to
// the surrounding fan-out.
//
//	a ──▶ b ──▶ d ──▶ j     b has opened a group within that of a; j belongs to a. The tokens of d and e are held with a's
//	│     └───▶ e ──▶ j     group and has left b's, which ends, and leaves a's, when neither is under way any more. Then, when
//	└───▶ c ────────▶ j     c is not either, j goes on with the tokens of d, e and c, in this order.
package net
