package template

import (
	"github.com/sluiceflow/sluice/template/document"
)

// The functions of this file read what a step says about its call: one function for each mapping, one line for each key.
// They ask only for the kind of value; which policies there are, and what must stand beside what, is for Check to say, so
// that trees built in Go are held to the same rules.

// callFields reads what a step of any kind of document says about its call.
func (r *reader) callFields(s *Step) Fields {
	return Fields{
		"input":       func(v *document.Node) { s.Input = v.Value() },
		"target":      func(v *document.Node) { s.Target = r.target(v) },
		"fan_in":      func(v *document.Node) { s.FanIn = r.fanIn(v) },
		"timing":      func(v *document.Node) { s.Timing = r.timing(v) },
		"fulfillment": func(v *document.Node) { s.Fulfillment = r.fulfillment(v) },
		"idempotent":  func(v *document.Node) { s.NonIdempotent = !r.boolean(v) && !r.refused[v.Pos.Path] },
	}
}

func (r *reader) target(n *document.Node) *Target {
	t := &Target{Pos: n.Pos}
	r.object(n, Fields{
		"resolve":       func(v *document.Node) { t.Resolve = r.text(v) },
		"participants":  func(v *document.Node) { t.Participants = r.texts(v, r.text) },
		"capability_id": func(v *document.Node) { t.CapabilityID = r.text(v) },
		"filter":        func(v *document.Node) { t.Filter = r.objectValue(v) },
		"limit":         func(v *document.Node) { t.Limit = r.count(v) },
	})
	return t
}

func (r *reader) fanIn(n *document.Node) *FanIn {
	f := &FanIn{Pos: n.Pos}
	r.object(n, Fields{
		"policy":        func(v *document.Node) { f.Policy = r.text(v) },
		"min_responses": func(v *document.Node) { f.MinResponses = r.count(v) },
		"score_field":   func(v *document.Node) { f.ScoreField = r.text(v) },
		"score_order":   func(v *document.Node) { f.ScoreOrder = r.text(v) },
		"hedge_after":   func(v *document.Node) { f.HedgeAfter = r.duration(v) },
	})
	return f
}

func (r *reader) timing(n *document.Node) *Timing {
	t := &Timing{Pos: n.Pos}
	r.object(n, Fields{
		"timeout":       func(v *document.Node) { t.Timeout = r.duration(v) },
		"retry":         func(v *document.Node) { t.Retry = r.retry(v) },
		"on_timeout":    func(v *document.Node) { t.OnTimeout = OnTimeout(r.text(v)) },
		"total_timeout": func(v *document.Node) { t.TotalTimeout = r.duration(v) },
	})
	return t
}

func (r *reader) retry(n *document.Node) *Retry {
	t := &Retry{Pos: n.Pos}
	r.object(n, Fields{
		"max_attempts":       func(v *document.Node) { t.MaxAttempts = r.count(v) },
		"backoff":            func(v *document.Node) { t.Backoff = r.duration(v) },
		"backoff_multiplier": func(v *document.Node) { t.Multiplier = r.multiplier(v) },
		"max_backoff":        func(v *document.Node) { t.MaxBackoff = r.duration(v) },
		"jitter":             func(v *document.Node) { t.Jitter = r.number(v) },
		"on":                 func(v *document.Node) { t.On = r.texts(v, r.text) },
		"never":              func(v *document.Node) { t.Never = r.texts(v, r.text) },
		"scope":              func(v *document.Node) { t.Scope = r.text(v) },
	})
	return t
}

// multiplier reads a factor that Check judges, but for zero, which means the default in the tree.
func (r *reader) multiplier(n *document.Node) float64 {
	f := r.number(n)
	if f == 0 && !r.refused[n.Pos.Path] {
		r.refuse(n, "backoff_multiplier must be at least 1")
	}
	return f
}

func (r *reader) fulfillment(n *document.Node) *Fulfillment {
	f := &Fulfillment{Pos: n.Pos}
	r.object(n, Fields{
		"policy":           func(v *document.Node) { f.Policy = r.text(v) },
		"decision_source":  func(v *document.Node) { f.Source = r.decisionSource(v) },
		"result_match":     func(v *document.Node) { f.ResultMatch = r.resultMatch(v) },
		"on_not_fulfilled": func(v *document.Node) { f.OnNotFulfilled = r.text(v) },
		"on_error":         func(v *document.Node) { f.OnError = r.text(v) },
	})
	return f
}

// decisionSource takes the same timing as a step: a decision that is asked for is a call like any other.
func (r *reader) decisionSource(n *document.Node) *DecisionSource {
	s := &DecisionSource{Pos: n.Pos}
	r.object(n, Fields{
		"kind":          func(v *document.Node) { s.Kind = r.text(v) },
		"capability_id": func(v *document.Node) { s.CapabilityID = r.text(v) },
		"operation":     func(v *document.Node) { s.Operation = r.text(v) },
		"input":         func(v *document.Node) { s.Input = v.Value() },
		"timing":        func(v *document.Node) { s.Timing = r.timing(v) },
	})
	return s
}

func (r *reader) resultMatch(n *document.Node) *ResultMatch {
	m := &ResultMatch{Pos: n.Pos}
	r.object(n, Fields{
		"path":                 func(v *document.Node) { m.Path = r.text(v) },
		"fulfilled_values":     func(v *document.Node) { m.FulfilledValues = r.list(v) },
		"not_fulfilled_values": func(v *document.Node) { m.NotFulfilledValues = r.list(v) },
	})
	return m
}

// ParseDirectory reads and checks what may stand under the key directory of a workflow, wherever else it is written. It
// reports everything it finds wrong as document.Errors; then there is no directory.
func ParseDirectory(n *document.Node) (*Directory, error) {
	r := &reader{}
	d := r.directory(n)
	c := &checker{w: &Workflow{source: n, refused: r.refused}}
	c.directory(d, n.Pos)
	if err := document.Join(r.errs.Err(), c.errs.Err()); err != nil {
		return nil, err
	}
	return d, nil
}

func (r *reader) directory(n *document.Node) *Directory {
	d := &Directory{Pos: n.Pos}
	r.object(n, Fields{
		"participants": func(v *document.Node) { d.Participants = r.objectValue(v) },
		"capabilities": func(v *document.Node) { d.Capabilities = r.capabilities(v) },
	})
	return d
}

// capabilities keeps the passports of a capability in the order written: it is the order in which participants are asked.
func (r *reader) capabilities(n *document.Node) map[string][]Passport {
	if n.Kind != document.Mapping {
		r.wrongKind(n, "a mapping")
		return nil
	}
	m := make(map[string][]Passport, n.Len())
	for e := range n.Entries() {
		if e.Value.Kind != document.Sequence {
			r.wrongKind(e.Value, "a list")
			continue
		}
		list := make([]Passport, 0, e.Value.Len())
		for _, item := range e.Value.Items() {
			list = append(list, r.passport(item))
		}
		m[e.Key] = list
	}
	return m
}

// passport reads instants in any zone; the tree has them in UTC, so that the hash does not depend on where they were written.
func (r *reader) passport(n *document.Node) Passport {
	p := Passport{Pos: n.Pos}
	r.object(n, Fields{
		"participant": func(v *document.Node) { p.Participant = r.text(v) },
		"valid_from":  func(v *document.Node) { p.ValidFrom = r.instant(v) },
		"valid_until": func(v *document.Node) { p.ValidUntil = r.instant(v) },
		"revoked":     func(v *document.Node) { p.Revoked = r.boolean(v) },
		"attributes":  func(v *document.Node) { p.Attributes = r.objectValue(v) },
	})
	return p
}
