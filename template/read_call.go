package template

import "github.com/sluiceflow/sluice/template/document"

// The functions of this file read the call of a step: one function for each mapping, one line for each key. They check only the
// kinds of values. Check checks policies and combinations of keys, so the same rules apply to trees built in Go.

// callFields returns the functions that read the call of a step in any kind of document.
func (r *reader) callFields(s *Step) Fields {
	return Fields{
		"input":       func(v *document.Node) { s.Input = v.Value() },
		"target":      func(v *document.Node) { s.Target = r.target(v) },
		"fan_in":      func(v *document.Node) { s.FanIn = r.fanIn(v) },
		"timing":      func(v *document.Node) { s.Timing = r.timing(v) },
		"fulfillment": func(v *document.Node) { s.Fulfillment = r.fulfillment(v) },
		"idempotent":  func(v *document.Node) { s.NonIdempotent = !r.Boolean(v) && !r.IsRefused(v) },
	}
}

func (r *reader) target(n *document.Node) *Target {
	t := &Target{Pos: n.Pos}
	r.Object(n, Fields{
		"resolve":       func(v *document.Node) { t.Resolve = r.Word(v) },
		"participants":  func(v *document.Node) { t.Participants = r.Texts(v) },
		"capability_id": func(v *document.Node) { t.CapabilityID = r.Word(v) },
		"filter":        func(v *document.Node) { t.Filter = r.Mapping(v) },
		"limit":         func(v *document.Node) { t.Limit = r.Count(v) },
	})
	return t
}

func (r *reader) fanIn(n *document.Node) *FanIn {
	f := &FanIn{Pos: n.Pos}
	r.Object(n, Fields{
		"policy":        func(v *document.Node) { f.Policy = r.Word(v) },
		"min_responses": func(v *document.Node) { f.MinResponses = r.Count(v) },
		"score_field":   func(v *document.Node) { f.ScoreField = r.Word(v) },
		"score_order":   func(v *document.Node) { f.ScoreOrder = r.Word(v) },
		"hedge_after":   func(v *document.Node) { f.HedgeAfter = r.Duration(v) },
	})
	return f
}

func (r *reader) timing(n *document.Node) *Timing {
	t := &Timing{Pos: n.Pos}
	r.Object(n, Fields{
		"timeout":       func(v *document.Node) { t.Timeout = r.Duration(v) },
		"retry":         func(v *document.Node) { t.Retry = r.retry(v) },
		"on_timeout":    func(v *document.Node) { t.OnTimeout = OnTimeout(r.Word(v)) },
		"total_timeout": func(v *document.Node) { t.TotalTimeout = r.Duration(v) },
		"queue_timeout": func(v *document.Node) { t.QueueTimeout = r.Duration(v) },
	})
	return t
}

func (r *reader) retry(n *document.Node) *Retry {
	t := &Retry{Pos: n.Pos}
	r.Object(n, Fields{
		"max_attempts":       func(v *document.Node) { t.MaxAttempts = r.Count(v) },
		"backoff":            func(v *document.Node) { t.Backoff = r.Duration(v) },
		"backoff_multiplier": func(v *document.Node) { t.Multiplier = r.multiplier(v) },
		"max_backoff":        func(v *document.Node) { t.MaxBackoff = r.Duration(v) },
		"jitter":             func(v *document.Node) { t.Jitter = r.Number(v) },
		"on":                 func(v *document.Node) { t.On = r.Texts(v) },
		"never":              func(v *document.Node) { t.Never = r.Texts(v) },
		"scope":              func(v *document.Node) { t.Scope = r.Word(v) },
	}, "max_attempts")
	return t
}

// multiplier reads a factor. It refuses only zero, which means the default in the tree; Check refuses other invalid values.
func (r *reader) multiplier(n *document.Node) float64 {
	f := r.Number(n)
	if f == 0 && !r.IsRefused(n) {
		r.Refuse(n, "backoff_multiplier must be at least 1, not 0")
	}
	return f
}

func (r *reader) fulfillment(n *document.Node) *Fulfillment {
	f := &Fulfillment{Pos: n.Pos}
	r.Object(n, Fields{
		"policy":           func(v *document.Node) { f.Policy = r.Word(v) },
		"decision_source":  func(v *document.Node) { f.Source = r.decisionSource(v) },
		"result_match":     func(v *document.Node) { f.ResultMatch = r.resultMatch(v) },
		"on_not_fulfilled": func(v *document.Node) { f.OnNotFulfilled = r.Word(v) },
		"on_error":         func(v *document.Node) { f.OnError = r.Word(v) },
	})
	return f
}

// decisionSource accepts the same timing as a step, because a request for a decision is a call like any other.
func (r *reader) decisionSource(n *document.Node) *DecisionSource {
	s := &DecisionSource{Pos: n.Pos}
	r.Object(n, Fields{
		"kind":          func(v *document.Node) { s.Kind = r.Word(v) },
		"capability_id": func(v *document.Node) { s.CapabilityID = r.Word(v) },
		"operation":     func(v *document.Node) { s.Operation = r.Word(v) },
		"input":         func(v *document.Node) { s.Input = v.Value() },
		"timing":        func(v *document.Node) { s.Timing = r.timing(v) },
	})
	return s
}

func (r *reader) resultMatch(n *document.Node) *ResultMatch {
	m := &ResultMatch{Pos: n.Pos}
	r.Object(n, Fields{
		"path":                 func(v *document.Node) { m.Path = r.Word(v) },
		"fulfilled_values":     func(v *document.Node) { m.FulfilledValues = r.List(v) },
		"not_fulfilled_values": func(v *document.Node) { m.NotFulfilledValues = r.List(v) },
	}, "path")
	return m
}

// ParseDirectory reads and checks a directory, as under the key directory of a workflow. It reports all faults as
// document.Errors, in which case it returns no directory.
func ParseDirectory(n *document.Node) (*Directory, error) {
	r := &reader{}
	d := r.directory(n)
	c := &checker{w: &Workflow{source: n, refused: r.Refused()}}
	c.directory(d, n.Pos)
	if err := document.Join(r.Err(), c.errs.Err()); err != nil {
		return nil, err
	}
	return d, nil
}

func (r *reader) directory(n *document.Node) *Directory {
	d := &Directory{Pos: n.Pos}
	r.Object(n, Fields{
		"participants": func(v *document.Node) { d.Participants = r.Mapping(v) },
		"capabilities": func(v *document.Node) { d.Capabilities = r.capabilities(v) },
	})
	return d
}

// capabilities keeps the passports of a capability in the order written: participants are asked in this order.
func (r *reader) capabilities(n *document.Node) map[string][]Passport {
	if n.Kind != document.Mapping {
		r.WrongKind(n, "a mapping")
		return nil
	}
	m := make(map[string][]Passport, n.Len())
	for e := range n.Entries() {
		if e.Value.Kind != document.Sequence {
			r.WrongKind(e.Value, "a list")
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

// passport reads instants in any time zone. The tree contains them in UTC, so the hash does not depend on the zone.
func (r *reader) passport(n *document.Node) Passport {
	p := Passport{Pos: n.Pos}
	r.Object(n, Fields{
		"participant": func(v *document.Node) { p.Participant = r.Word(v) },
		"valid_from":  func(v *document.Node) { p.ValidFrom = r.Instant(v) },
		"valid_until": func(v *document.Node) { p.ValidUntil = r.Instant(v) },
		"revoked":     func(v *document.Node) { p.Revoked = r.Boolean(v) },
		"attributes":  func(v *document.Node) { p.Attributes = r.Mapping(v) },
	})
	return p
}
