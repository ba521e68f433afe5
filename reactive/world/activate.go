package world

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
	"github.com/sluiceflow/sluice/template/machine"
)

// activate steps a cell with its oldest item and returns the event of its outcome.
func (w *World) activate(c *cell, now int64) journal.Event {
	it := c.mail.front()
	in := machine.Input{
		Machine: c.machine, Key: c.key, State: w.stateOf(c), Event: it.event, Now: now, Seq: w.root.Seq() + 1, Seed: w.seed,
	}
	out, failure := w.program.step(&in, w.root.Meter())
	var step *steps.Step
	if failure == nil {
		step, failure = w.record(c, it, out, in.Seq)
	}
	if failure != nil {
		f := call.NewFailure(failure.Code, failure.Message)
		f.Details = details(failure)
		return fault{cell: c, seq: it.seq, failure: f}.event()
	}
	return journal.Event{Type: journal.CellStepped, Node: c.address, Value: step.Value()}
}

// details returns the details of a failure for the journal.
func details(f *machine.Failure) any {
	if f.Stack == "" {
		return nil
	}
	return map[string]any{"stack": f.Stack}
}

// record returns the result of an activation, or a failure if the world cannot take it.
func (w *World) record(c *cell, it *item, out *machine.Output, seq uint64) (step *steps.Step, failure *machine.Failure) {
	step = &steps.Step{Cause: it.seq, Ignored: out.Ignored}
	if out.Ignored {
		return step, nil
	}
	if step.Raised, failure = w.recordRaised(it, out.Raised); failure != nil {
		return nil, failure
	}
	if step.Emitted, failure = w.recordEmitted(c, out.Emitted, seq); failure != nil {
		return nil, failure
	}
	ended := out.Completed || out.Changed && out.State == nil || !out.Changed && !c.hasState()
	step.Changed, step.State, step.Dropped = out.Changed, out.State, c.dropped(out.Dropped, ended)
	step.Completed, step.Noted, step.Note = out.Completed, out.Noted, out.Note
	return step, nil
}

// recordRaised returns the raised events with their target cells.
func (w *World) recordRaised(it *item, raised []machine.Raised) ([]steps.Raised, *machine.Failure) {
	if len(raised) > 0 && it.depth+1 > ChainMax {
		return nil, &machine.Failure{Code: machine.CodeLimitExceeded, Message: fmt.Sprintf(
			"events have raised events %d times in a row, the most that is allowed", ChainMax)}
	}
	list := make([]steps.Raised, len(raised))
	for i, r := range raised {
		cells, err := w.addresses(r.To)
		if err != nil {
			return nil, &machine.Failure{Code: machine.CodeLimitExceeded, Message: fmt.Sprintf("raise %s: %v", r.Name, err)}
		}
		list[i] = steps.Raised{Event: r.Name, Value: r.Value, Cells: cells}
	}
	return list, nil
}

// recordEmitted returns the emitted effects with their identities.
func (w *World) recordEmitted(c *cell, emitted []machine.Emission, seq uint64) ([]steps.Emitted, *machine.Failure) {
	if f := w.intents.room(c, emitted); f != nil {
		return nil, f
	}
	list := make([]steps.Emitted, len(emitted))
	for i, x := range emitted {
		if x.Effect == nil {
			list[i] = steps.Emitted{Effect: machine.TimerEffect, Issuer: x.Timer, Due: x.Due}
			continue
		}
		id, err := c.identity(&x, i, seq)
		if err != nil {
			return nil, &machine.Failure{Code: machine.CodeOutputInvalid, Message: err.Error()}
		}
		list[i] = steps.Emitted{Effect: x.Effect.Name, Issuer: x.Issuer, ID: id, Asked: x.Key, Params: x.Params}
	}
	return list, nil
}

// room returns a failure if the emitted effects of a cell would exceed a limit.
func (s *intents) room(c *cell, emitted []machine.Emission) *machine.Failure {
	calls, timers := len(s.byNode), c.open.n-c.open.calls
	for i := range emitted {
		if emitted[i].Effect == nil {
			timers++
		} else {
			calls++
		}
	}
	text := ""
	switch {
	case calls > IntentsMax && calls > len(s.byNode):
		text = fmt.Sprintf("with these, %d effects of the world would be open: at most %d are allowed", calls, IntentsMax)
	case timers > TimersMax && timers > c.open.n-c.open.calls:
		text = fmt.Sprintf("with these, the cell would have %d armed timers: at most %d are allowed", timers, TimersMax)
	default:
		return nil
	}
	return &machine.Failure{Code: machine.CodeLimitExceeded, Message: text}
}

// identity returns the identity of an effect that the cell emits.
func (c *cell) identity(x *machine.Emission, index int, seq uint64) (string, error) {
	key, err := machine.KeyBytes(c.machine, c.key)
	if err != nil {
		return "", err
	}
	q := machine.Request{
		Machine: c.machine.Name, MachineHash: c.machine.Hash, Key: key, Effect: x.Effect.Name, EffectHash: x.Effect.Hash,
		Requested: x.Key, Index: index, Seq: seq, Params: x.Params, Executor: x.Effect.Executor,
	}
	_, intent, err := q.Identities()
	return intent, err
}

// dropped returns the node keys of the open intents that an activation drops: the named ones, or all.
func (c *cell) dropped(named []machine.Drop, all bool) (keys []string) {
	for x := c.open.first; x != nil; x = x.after {
		if all || x.among(named) {
			keys = append(keys, x.key)
		}
	}
	return keys
}

// among reports whether an intent is named.
func (x *intent) among(named []machine.Drop) bool {
	for _, d := range named {
		if d.Effect == x.name() && (d.Issuer == "" || d.Issuer == x.from()) {
			return true
		}
	}
	return false
}
