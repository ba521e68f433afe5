package template

// The functions of this file write the parts of a step and of a binding, each as the mapping that its reader takes. What
// has its default is left out: the document of a workflow must not depend on how much of it was written down.

// document leaves out the capability that a step of this operation has anyway.
func (t *Target) document(operation string) map[string]any {
	m := object{"resolve": t.Resolve}
	m.texts("participants", t.Participants)
	if t.Resolve != ResolveTaskType || t.CapabilityID != operation {
		m.text("capability_id", t.CapabilityID)
	}
	m.mapping("filter", t.Filter)
	m.count("limit", t.Limit)
	return m
}

func (f *FanIn) document() map[string]any {
	m := object{}
	if f.Policy != AnyOne {
		m.text("policy", f.Policy)
	}
	// any_one takes one answer, whether or not it is written.
	if f.MinResponses != 1 || f.Policy != AnyOne && f.Policy != "" {
		m.count("min_responses", f.MinResponses)
	}
	m.text("score_field", fieldPointer(f.ScoreField))
	if f.ScoreOrder != "desc" {
		m.text("score_order", f.ScoreOrder)
	}
	m.duration("hedge_after", f.HedgeAfter)
	return m
}

func (t *Timing) document() map[string]any {
	m := object{}
	m.duration("timeout", t.Timeout)
	if t.Retry != nil {
		m["retry"] = t.Retry.document()
	}
	if t.OnTimeout != FailOnTimeout {
		m.text("on_timeout", string(t.OnTimeout))
	}
	m.duration("total_timeout", t.TotalTimeout)
	return m
}

// document writes the number of attempts always: a retry without one means nothing.
func (r *Retry) document() map[string]any {
	m := object{"max_attempts": int64(r.MaxAttempts)}
	m.duration("backoff", r.Backoff)
	if r.Multiplier != 0 && r.Multiplier != 1 {
		m["backoff_multiplier"] = r.Multiplier
	}
	m.duration("max_backoff", r.MaxBackoff)
	if r.Jitter != 0 {
		m["jitter"] = r.Jitter
	}
	m.texts("on", r.On)
	m.texts("never", r.Never)
	if r.Scope != ScopeMissing {
		m.text("scope", r.Scope)
	}
	return m
}

func (f *Fulfillment) document() map[string]any {
	m := object{"policy": f.Policy}
	if f.Source != nil {
		m["decision_source"] = f.Source.document()
	}
	if f.ResultMatch != nil {
		m["result_match"] = f.ResultMatch.document()
	}
	if f.OnNotFulfilled != ThenFail {
		m.text("on_not_fulfilled", f.OnNotFulfilled)
	}
	if f.OnError != ThenFail {
		m.text("on_error", f.OnError)
	}
	return m
}

func (s *DecisionSource) document() map[string]any {
	m := object{"kind": s.Kind}
	m.text("capability_id", s.CapabilityID)
	m.text("operation", s.Operation)
	m.any("input", s.Input)
	if s.Timing != nil {
		m["timing"] = s.Timing.document()
	}
	return m
}

func (r *ResultMatch) document() map[string]any {
	m := object{"path": r.Path}
	m.list("fulfilled_values", r.FulfilledValues)
	m.list("not_fulfilled_values", r.NotFulfilledValues)
	return m
}

func (d *Directory) document() map[string]any {
	m := object{}
	m.mapping("participants", d.Participants)
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
	m := object{"participant": p.Participant}
	m.instant("valid_from", p.ValidFrom)
	m.instant("valid_until", p.ValidUntil)
	if p.Revoked {
		m["revoked"] = true
	}
	m.mapping("attributes", p.Attributes)
	return m
}

// document writes all bindings that are set, also where Check would refuse more than one: a tree must be able to say what
// is wrong with it.
func (b Binding) document() map[string]any {
	m := object{}
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
		child := object{}
		child.text("path", b.Workflow.Path)
		child.text("name", b.Workflow.Name)
		m["workflow"] = map[string]any(child)
	}
	if b.Value != nil {
		m["value"] = b.Value.Value // also when it is null, which is a value to return
	}
	if b.Fail != nil {
		fail := object{"code": b.Fail.Code}
		fail.text("message", b.Fail.Message)
		m["fail"] = map[string]any(fail)
	}
	return m
}

func (c *Command) document() map[string]any {
	m := object{}
	m.texts("argv", c.Argv)
	m.text("shell", c.Shell)
	m.any("stdin", c.Stdin)
	m.textMap("env", c.Env)
	m.text("dir", c.Dir)
	m.text("output", c.Output)
	return m
}

func (h *HTTP) document() map[string]any {
	m := object{"url": h.URL}
	if fallback := h.defaultMethod(); h.Method != fallback {
		m.text("method", h.Method)
	}
	m.textMap("headers", h.Headers)
	m.any("body", h.Body)
	if h.FollowRedirects != FollowSameHost {
		m.text("follow_redirects", h.FollowRedirects)
	}
	return m
}
