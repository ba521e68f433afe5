// Package steps writes and reads the outcome of a cell's activation: the value of a cell.stepped event.
package steps

import (
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// The keys of the value. Unneeded keys are absent.
const (
	cause     = "cause"     // sequence of the event whose item was taken
	state     = "state"     // the new state, null if it was deleted; absent if unchanged
	raised    = "raised"    // [{event, value, cells}]
	emitted   = "emitted"   // [{effect, params, intent, issuer, key}], for a timer {timer, due}
	dropped   = "dropped"   // node keys of the dropped intents
	completed = "completed" // true
	note      = "note"
	ignored   = "ignored" // true
)

// Step is the result of an activation: the value of a cell.stepped event.
type Step struct {
	Cause     uint64      // sequence of the event whose item the cell took
	Ignored   bool        // no rule matched: only Cause is set
	Changed   bool        // it set the state
	State     value.Value // if Changed: the new state; nil: deleted
	Raised    []Raised    // in order
	Emitted   []Emitted   // in order
	Dropped   []string    // keys of the intents that it dropped
	Completed bool        // the cell has completed
	Noted     bool        // it made a note
	Note      value.Value // if Noted: the note
}

// Raised is an event that an activation raised.
type Raised struct {
	Event string      // name
	Value value.Value // shared, must not be changed
	Cells []string    // addresses of its target cells
}

// Emitted is an effect that an activation emitted, or a timer that it armed.
type Emitted struct {
	Key    string      // of the intent's node
	Effect string      // name; machine.TimerEffect: a timer
	Issuer string      // distinguishes intents of one effect; of a timer, its name
	ID     string      // of the intent, `sha256:…`; "": a timer
	Asked  string      // idempotency key that the machine requested; "": none
	Params value.Value // shared, must not be changed
	Due    int64       // of a timer, Unix nanoseconds
}

// Value returns the value of the event. It excludes keys of intents and the sequence, which follow from the event.
func (s *Step) Value() map[string]any {
	v := map[string]any{cause: int64(s.Cause)}
	if s.Ignored {
		v[ignored] = true
		return v
	}
	if s.Changed {
		v[state] = s.State
	}
	var list []any
	for _, r := range s.Raised {
		list = append(list, map[string]any{"event": r.Event, "value": r.Value, "cells": values(r.Cells)})
	}
	put(v, raised, list)
	list = nil
	for i := range s.Emitted {
		list = append(list, s.Emitted[i].value())
	}
	put(v, emitted, list)
	put(v, dropped, values(s.Dropped))
	if s.Completed {
		v[completed] = true
	}
	if s.Noted {
		v[note] = s.Note
	}
	return v
}

// put sets a key unless the list is empty.
func put(v map[string]any, key string, list []any) {
	if len(list) > 0 {
		v[key] = list
	}
}

func (x *Emitted) value() map[string]any {
	if x.Effect == machine.TimerEffect {
		return map[string]any{"timer": x.Issuer, "due": x.Due}
	}
	m := map[string]any{"effect": x.Effect, "params": x.Params, "intent": x.ID}
	if x.Issuer != "" {
		m["issuer"] = x.Issuer
	}
	if x.Asked != "" {
		m["key"] = x.Asked
	}
	return m
}

// values returns texts as a list of values.
func values(texts []string) []any {
	list := make([]any, len(texts))
	for i, t := range texts {
		list[i] = t
	}
	return list
}

// Key returns the key of the node of an intent that the activation of an event opens.
func Key(e *journal.Event, effect string, index int) string {
	return e.Node + "." + machine.Escape(effect) + "@" + strconv.FormatUint(e.Seq, 10) + "." + strconv.Itoa(index)
}

// CellOfTimer returns the address of the cell of a timer, from the key of the timer's node. It reports false if the key is not a
// timer's.
func CellOfTimer(key string) (cell string, ok bool) {
	at := strings.LastIndex(key, "."+machine.TimerEffect+"@")
	if at < 0 {
		return "", false
	}
	return key[:at], true
}

// EmittedAt returns the sequence of the activation that opened an intent of a cell, from the key of the intent's node. It reports
// false if the key is not of an intent of the cell. The activation may be of another cell whose address begins with cell.
func EmittedAt(key, cell string) (seq uint64, ok bool) {
	rest, ok := strings.CutPrefix(key, cell+".")
	at := strings.LastIndexByte(rest, '@')
	if !ok || at < 0 {
		return 0, false
	}
	number, _, _ := strings.Cut(rest[at+1:], ".")
	seq, err := strconv.ParseUint(number, 10, 64)
	return seq, err == nil
}

// Text describes the step in words.
func (s *Step) Text() string {
	var parts []string
	switch {
	case s.Ignored:
		return "ignored, no rule is about it"
	case s.Changed && s.State == nil:
		parts = append(parts, "its state is deleted")
	case s.Changed:
		parts = append(parts, "its state is "+value.Text(s.State))
	}
	for _, r := range s.Raised {
		to := ", without a subscriber"
		if len(r.Cells) > 0 {
			to = " to " + strings.Join(r.Cells, ", ")
		}
		parts = append(parts, "it raised "+r.Event+to)
	}
	for _, x := range s.Emitted {
		parts = append(parts, "it asked for "+x.Key)
	}
	for _, key := range s.Dropped {
		parts = append(parts, "it dropped "+key)
	}
	if s.Completed {
		parts = append(parts, "it has completed")
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, "; ")
}
