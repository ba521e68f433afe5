package steps

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// Read reads a cell.stepped event. It omits members that differ from the form of Step.Value.
func Read(e *journal.Event) *Step {
	s, _ := Parse(e)
	return s
}

// Parse is like Read, and also reports whether the event's value equals the Value of the returned step.
func Parse(e *journal.Event) (s *Step, exact bool) {
	v, _ := value.Unpack(e.Value).(map[string]any) // a store may hold it encoded
	r := reader{exact: true}
	s = &Step{Cause: uint64(member[int64](&r, v, cause))}
	n := 1
	if _, ok := v[ignored]; ok {
		s.Ignored = r.isTrue(v, ignored)
		r.has(v, 2)
		return s, r.exact
	}
	if s.State, s.Changed = v[state]; s.Changed {
		n++
	}
	if list := r.list(v, raised, &n); list != nil {
		s.Raised = make([]Raised, len(list))
		for i, x := range list {
			s.Raised[i] = r.raised(x)
		}
	}
	if list := r.list(v, emitted, &n); list != nil {
		s.Emitted = make([]Emitted, len(list))
		for i, x := range list {
			s.Emitted[i] = r.emitted(x)
			s.Emitted[i].Key = Key(e, s.Emitted[i].Effect, i)
		}
	}
	if list := r.list(v, dropped, &n); list != nil {
		s.Dropped = r.texts(list)
	}
	if _, ok := v[completed]; ok {
		s.Completed = r.isTrue(v, completed)
		n++
	}
	if s.Note, s.Noted = v[note]; s.Noted {
		n++
	}
	r.has(v, n)
	return s, r.exact
}

// reader records whether all members that it has read have the expected form.
type reader struct{ exact bool }

// has records whether an object has exactly n members.
func (r *reader) has(object map[string]any, n int) { r.exact = r.exact && len(object) == n }

// member returns a required member of an object, of type T.
func member[T any](r *reader, object map[string]any, key string) T {
	v, ok := object[key].(T)
	r.exact = r.exact && ok
	return v
}

// isTrue returns a member that must be true, because false is omitted.
func (r *reader) isTrue(object map[string]any, key string) bool {
	v := member[bool](r, object, key)
	r.exact = r.exact && v
	return v
}

// list returns a list, which is omitted if empty, and counts it.
func (r *reader) list(object map[string]any, key string, n *int) []any {
	if _, ok := object[key]; !ok {
		return nil
	}
	*n++
	list := member[[]any](r, object, key)
	r.exact = r.exact && len(list) > 0
	return list
}

// option returns a text, which is omitted if empty, and counts it.
func (r *reader) option(object map[string]any, key string, n *int) string {
	if _, ok := object[key]; !ok {
		return ""
	}
	*n++
	text := member[string](r, object, key)
	r.exact = r.exact && text != ""
	return text
}

func (r *reader) texts(list []any) []string {
	texts := make([]string, len(list))
	for i, x := range list {
		text, ok := x.(string)
		texts[i], r.exact = text, r.exact && ok
	}
	return texts
}

func (r *reader) raised(x any) Raised {
	m, _ := x.(map[string]any)
	of := Raised{Event: member[string](r, m, "event"), Value: m["value"], Cells: r.texts(member[[]any](r, m, "cells"))}
	if _, ok := m["value"]; ok {
		r.has(m, 3)
	} else {
		r.exact = false
	}
	return of
}

func (r *reader) emitted(x any) Emitted {
	m, _ := x.(map[string]any)
	if _, ok := m["timer"]; ok {
		r.has(m, 2)
		return Emitted{Effect: machine.TimerEffect, Issuer: member[string](r, m, "timer"), Due: member[int64](r, m, "due")}
	}
	n := 3
	of := Emitted{
		Effect: member[string](r, m, "effect"), ID: member[string](r, m, "intent"), Params: m["params"],
		Issuer: r.option(m, "issuer", &n), Asked: r.option(m, "key", &n),
	}
	_, ok := m["params"]
	r.exact = r.exact && ok && of.Effect != machine.TimerEffect
	r.has(m, n)
	return of
}
