package template

import "github.com/sluiceflow/sluice/template/fields"

// The functions of this file write the parts of a step and of a binding, each as the mapping that its reader accepts. They omit
// defaults: the document of a workflow must be the same whether or not its author wrote them.

// document omits the capability if it is the default for a step of this operation.
func (t *Target) document(operation string) map[string]any {
	m := fields.Object{"resolve": t.Resolve}
	m.Texts("participants", t.Participants)
	if t.Resolve != ResolveTaskType || t.CapabilityID != operation {
		m.Text("capability_id", t.CapabilityID)
	}
	m.Mapping("filter", t.Filter)
	m.Count("limit", t.Limit)
	return m
}

func (f *FanIn) document() map[string]any {
	m := fields.Object{}
	if f.Policy != AnyOne {
		m.Text("policy", f.Policy)
	}
	// any_one takes one answer, whether or not the author wrote min_responses.
	if f.MinResponses != 1 || f.Policy != AnyOne && f.Policy != "" {
		m.Count("min_responses", f.MinResponses)
	}
	m.Text("score_field", fields.Pointer(f.ScoreField))
	if f.ScoreOrder != "desc" {
		m.Text("score_order", f.ScoreOrder)
	}
	m.Duration("hedge_after", f.HedgeAfter)
	return m
}

func (t *Timing) document() map[string]any {
	m := fields.Object{}
	m.Duration("timeout", t.Timeout)
	if t.Retry != nil {
		m["retry"] = t.Retry.document()
	}
	if t.OnTimeout != FailOnTimeout {
		m.Text("on_timeout", string(t.OnTimeout))
	}
	m.Duration("total_timeout", t.TotalTimeout)
	m.Duration("queue_timeout", t.QueueTimeout)
	return m
}

// document always writes the number of attempts: a retry has no meaning without it.
func (r *Retry) document() map[string]any {
	m := fields.Object{"max_attempts": int64(r.MaxAttempts)}
	m.Duration("backoff", r.Backoff)
	if r.Multiplier != 0 && r.Multiplier != 1 {
		m["backoff_multiplier"] = r.Multiplier
	}
	m.Duration("max_backoff", r.MaxBackoff)
	if r.Jitter != 0 {
		m["jitter"] = r.Jitter
	}
	m.Texts("on", r.On)
	m.Texts("never", r.Never)
	if r.Scope != ScopeMissing {
		m.Text("scope", r.Scope)
	}
	return m
}

func (f *Fulfillment) document() map[string]any {
	m := fields.Object{"policy": f.Policy}
	if f.Source != nil {
		m["decision_source"] = f.Source.document()
	}
	if f.ResultMatch != nil {
		m["result_match"] = f.ResultMatch.document()
	}
	if f.OnNotFulfilled != ThenFail {
		m.Text("on_not_fulfilled", f.OnNotFulfilled)
	}
	if f.OnError != ThenFail {
		m.Text("on_error", f.OnError)
	}
	return m
}

func (s *DecisionSource) document() map[string]any {
	m := fields.Object{"kind": s.Kind}
	m.Text("capability_id", s.CapabilityID)
	m.Text("operation", s.Operation)
	m.Any("input", s.Input)
	if s.Timing != nil {
		m["timing"] = s.Timing.document()
	}
	return m
}

func (r *ResultMatch) document() map[string]any {
	m := fields.Object{"path": r.Path}
	m.List("fulfilled_values", r.FulfilledValues)
	m.List("not_fulfilled_values", r.NotFulfilledValues)
	return m
}

func (d *Directory) document() map[string]any {
	m := fields.Object{}
	m.Mapping("participants", d.Participants)
	if len(d.Capabilities) > 0 {
		capabilities := make(map[string]any, len(d.Capabilities))
		for id, passports := range d.Capabilities {
			list := make([]any, len(passports))
			for i := range passports {
				list[i] = passports[i].document()
			}
			capabilities[id] = list
		}
		m["capabilities"] = capabilities
	}
	return m
}

func (p *Passport) document() map[string]any {
	m := fields.Object{"participant": p.Participant}
	m.Instant("valid_from", p.ValidFrom)
	m.Instant("valid_until", p.ValidUntil)
	if p.Revoked {
		m["revoked"] = true
	}
	m.Mapping("attributes", p.Attributes)
	return m
}

// Document writes all bindings that are set. Check refuses more than one, but a document can contain that fault.
func (b Binding) Document() map[string]any {
	m := fields.Object{}
	if b.Command != nil {
		m["command"] = b.Command.document()
	}
	if b.HTTP != nil {
		m["http"] = b.HTTP.document()
	}
	if b.Sleep != nil {
		m["sleep"] = map[string]any{"for": b.Sleep.For}
	}
	if b.Wait != nil {
		m["wait"] = map[string]any{"message": b.Wait.Message}
	}
	if b.Workflow != nil {
		child := fields.Object{}
		child.Text("path", b.Workflow.Path)
		child.Text("name", b.Workflow.Name)
		m["workflow"] = map[string]any(child)
	}
	if b.Value != nil {
		m["value"] = b.Value.Value // null is a value, too
	}
	if b.Fail != nil {
		fail := fields.Object{"code": b.Fail.Code}
		fail.Text("message", b.Fail.Message)
		m["fail"] = map[string]any(fail)
	}
	return m
}

func (c *Command) document() map[string]any {
	m := fields.Object{}
	m.Texts("argv", c.Argv)
	m.Text("shell", c.Shell)
	m.Any("stdin", c.Stdin)
	m.TextMap("env", c.Env)
	m.Text("dir", c.Dir)
	m.Text("output", c.Output)
	return m
}

func (h *HTTP) document() map[string]any {
	m := fields.Object{"url": h.URL}
	if fallback := h.defaultMethod(); h.Method != fallback {
		m.Text("method", h.Method)
	}
	m.TextMap("headers", h.Headers)
	m.Any("body", h.Body)
	if h.FollowRedirects != FollowSameHost {
		m.Text("follow_redirects", h.FollowRedirects)
	}
	return m
}
