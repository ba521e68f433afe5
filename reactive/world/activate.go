package world

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// The keys of the value of a cell.stepped event. Which of them are there says what the activation did.
const (
	stepCause     = "cause"     // sequence of the event whose item was taken
	stepState     = "state"     // the new state, null if it was deleted; not there: as it was
	stepRaised    = "raised"    // [{event, value, cells}]
	stepEmitted   = "emitted"   // [{effect, params, intent, issuer, key}], of a timer {timer, due}
	stepDropped   = "dropped"   // node keys of the intents that were given up
	stepCompleted = "completed" // true
	stepNote      = "note"
	stepIgnored   = "ignored" // true
)

// activate steps a cell with its oldest item and returns the event of what came of it.
func (w *World) activate(c *cell, now int64) journal.Event {
	it := c.mail.front()
	in := machine.Input{
		Machine: c.machine, Key: c.key, State: c.state, Event: it.event, Now: now, Seq: w.root.Seq() + 1, Seed: w.seed,
	}
	out, failure := w.step(&in)
	var v map[string]any
	if failure == nil {
		v, failure = w.record(c, it, out, in.Seq)
	}
	if failure != nil {
		return fault{cell: c, seq: it.seq, failure: &journal.Failure{Code: failure.Code, Message: failure.Message, Details: details(failure)}}.event()
	}
	return journal.Event{Type: journal.CellStepped, Node: c.address, Value: v}
}

// details returns the details of a failure as they are journaled.
func details(f *machine.Failure) any {
	if f.Stack == "" {
		return nil
	}
	return map[string]any{"stack": f.Stack}
}

// record returns the value of the event of an activation, or why the world cannot take what came of it.
func (w *World) record(c *cell, it *item, out *machine.Output, seq uint64) (map[string]any, *machine.Failure) {
	v := map[string]any{stepCause: int64(it.seq)}
	if out.Ignored {
		v[stepIgnored] = true
		return v, nil
	}
	raised, failure := w.recordRaised(it, out.Raised)
	if failure != nil {
		return nil, failure
	}
	emitted, failure := w.recordEmitted(c, out.Emitted, seq)
	if failure != nil {
		return nil, failure
	}
	if out.Changed {
		v[stepState] = out.State
	}
	if len(raised) > 0 {
		v[stepRaised] = raised
	}
	if len(emitted) > 0 {
		v[stepEmitted] = emitted
	}
	ended := out.Completed || out.Changed && out.State == nil || !out.Changed && c.state == nil
	if dropped := c.dropped(out.Dropped, ended); len(dropped) > 0 {
		v[stepDropped] = dropped
	}
	if out.Completed {
		v[stepCompleted] = true
	}
	if out.Noted {
		v[stepNote] = out.Note
	}
	return v, nil
}

// recordRaised returns the raised events with the cells that they go to.
func (w *World) recordRaised(it *item, raised []machine.Raised) ([]any, *machine.Failure) {
	if len(raised) > 0 && it.depth+1 > ChainMax {
		return nil, &machine.Failure{Code: machine.CodeLimitExceeded, Message: fmt.Sprintf(
			"events have raised events %d times in a row, as often as they may", ChainMax)}
	}
	list := make([]any, 0, len(raised))
	for _, r := range raised {
		addresses, err := w.addresses(r.To)
		if err != nil {
			return nil, &machine.Failure{Code: machine.CodeLimitExceeded, Message: fmt.Sprintf("raise %s: %v", r.Name, err)}
		}
		cells := make([]any, len(addresses))
		for i, a := range addresses {
			cells[i] = a
		}
		list = append(list, map[string]any{"event": r.Name, "value": r.Value, "cells": cells})
	}
	return list, nil
}

// recordEmitted returns the emitted effects with their identities.
func (w *World) recordEmitted(c *cell, emitted []machine.Emission, seq uint64) ([]any, *machine.Failure) {
	if n := len(w.intents.byKey) + len(emitted); n > IntentsMax {
		return nil, &machine.Failure{Code: machine.CodeLimitExceeded, Message: fmt.Sprintf(
			"with these, %d effects of the world would be open: at most %d are allowed", n, IntentsMax)}
	}
	list := make([]any, 0, len(emitted))
	for i, x := range emitted {
		if x.Effect == nil {
			list = append(list, map[string]any{"timer": x.Timer, "due": x.Due})
			continue
		}
		id, err := c.identity(&x, i, seq)
		if err != nil {
			return nil, &machine.Failure{Code: machine.CodeOutputInvalid, Message: err.Error()}
		}
		m := map[string]any{"effect": x.Effect.Name, "params": x.Params, "intent": id}
		if x.Issuer != "" {
			m["issuer"] = x.Issuer
		}
		if x.Key != "" {
			m["key"] = x.Key
		}
		list = append(list, m)
	}
	return list, nil
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

// dropped returns the node keys of the open intents that an activation gives up: those that it names, or all.
func (c *cell) dropped(named []machine.Drop, all bool) (keys []any) {
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

// texts returns the texts of a list.
func texts(v value.Value) []string {
	list, _ := v.([]any)
	out := make([]string, len(list))
	for i, x := range list {
		out[i], _ = x.(string)
	}
	return out
}
