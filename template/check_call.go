package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/fields"
	"github.com/sluiceflow/sluice/template/value"
)

// step checks the call of a step. The names in it are checked later.
func (c *checker) step(n *Step, path string) {
	c.operationName(n, path)
	if n.Func != nil && n.Input != nil {
		c.faultf(path+".func", n.Func.Pos, "func cannot be combined with input")
	}
	c.function(n.Func, path+".func")
	if n.Target != nil {
		c.target(n.Target, path+".target")
		c.checkHasParticipants(n.Operation, path+".target", n.Target.Pos, "a target")
		c.checkNestedFanOut(n, path)
	}
	if n.FanIn != nil {
		if n.Target == nil && !c.w.refused[path+".target"] {
			c.faultf(path+".fan_in", n.FanIn.Pos, "fan_in needs a target")
		}
		c.fanIn(n, path)
	}
	c.timing(n.Timing, path+".timing")
	if _, bound := c.w.Operations[n.Operation]; bound {
		c.refuseQueueTimeout(n.Timing, path, "the operation is bound, so no worker takes its calls")
	}
	if n.Fulfillment != nil {
		c.fulfillment(n.Fulfillment, path+".fulfillment")
	}
}

// operationName checks that a step calls a known operation.
func (c *checker) operationName(n *Step, path string) {
	if n.Operation != "" {
		c.operationKnown(n.Operation, path+".operation", n.Pos)
		return
	}
	for _, key := range containers {
		if c.w.refused[path+"."+key] {
			return // already reported as a misspelt container
		}
	}
	c.faultf(path+".operation", n.Pos, "operation is missing")
}

// operationKnown reports an operation without a provider.
func (c *checker) operationKnown(name, path string, near document.Pos) {
	if _, bound := c.w.Operations[name]; bound || c.known.Lenient || c.known.Operation != nil && c.known.Operation(name) {
		return
	}
	suggestion := c.speller.Nearest(name, c.knownOperations())
	msg := fmt.Sprintf("unknown operation %q", name)
	switch {
	case suggestion != "":
	case c.w.Routing != nil: // it may be a built-in tool of another program
		msg += ": the program must register one of that name, built in are " + strings.Join(c.w.Routing.Tools(), ", ")
	default:
		msg += ": bind it under operations, or a program or worker must have it"
	}
	c.fault(path, near, &document.Error{Text: name, Msg: msg, Suggestion: suggestion})
}

// checkHasParticipants reports an operation that the engine executes itself, without participants, if participants are required.
func (c *checker) checkHasParticipants(name, path string, near document.Pos, what string) {
	b := c.w.Operations[name] // of an operation that is not bound, it has no kind
	if c.w.Routing != nil {
		name, _, _ = strings.Cut(name, "#") // the kind of the tool, without the name of its call
	}
	for _, kind := range b.kinds() {
		if slices.Contains([]string{"sleep", "wait", "value", "fail"}, kind) {
			c.faultf(path, near, "%s needs an operation with participants, but %q is a %s", what, name, kind)
		}
	}
}

// requirements checks that the operations that a workflow requires are known. A missing one would otherwise fail a run halfway.
func (c *checker) requirements() {
	if c.w.Routing == nil {
		return
	}
	for _, r := range c.w.Routing.Requires() {
		c.operationKnown(r.Operation, r.Pos.Path, r.Pos)
	}
}

// checkNestedFanOut reports a fan-out whose participants would each run this workflow, and so fan out again. Other child workflows are
// checked when they have been resolved; see Checked.FansOut.
func (c *checker) checkNestedFanOut(n *Step, path string) {
	if child := c.w.Operations[n.Operation].Workflow; child != nil && child.Name != "" && child.Name == c.w.Name {
		c.faultf(path+".target", n.Target.Pos, "nested fan-out: workflow %q asks participants itself", child.Name)
	}
}

// target checks that a target selects participants in one way and has no key of another way: a limit beside named participants,
// for example, would have no effect.
func (c *checker) target(t *Target, path string) {
	c.oneOf(path+".resolve", t.Pos, t.Resolve, ResolveStatic, ResolveCapability, ResolveTaskType)
	c.checkChoice(path+".participants", t.Pos, len(t.Participants) > 0, "resolve", t.Resolve, ResolveStatic)
	c.checkChoice(path+".capability_id", t.Pos, t.CapabilityID != "" && t.Resolve != ResolveTaskType, "resolve", t.Resolve, ResolveCapability)
	c.checkChoice(path+".filter", t.Pos, len(t.Filter) > 0, "resolve", t.Resolve, ResolveCapability)
	c.checkChoice(path+".limit", t.Pos, t.Limit != 0, "resolve", t.Resolve, ResolveCapability)
	c.limit(path+".limit", t.Pos, t.Limit)
	if t.Resolve == ResolveStatic && len(t.Participants) == 0 {
		c.faultf(path+".participants", t.Pos, "static needs participants")
	}
	if t.Resolve == ResolveCapability && t.CapabilityID == "" {
		c.faultf(path+".capability_id", t.Pos, "capability needs capability_id")
	}
	c.visible(path+".capability_id", t.Pos, t.CapabilityID)
	for i, id := range t.Participants {
		at := fmt.Sprintf("%s.participants[%d]", path, i)
		if id == "" {
			c.faultf(at, t.Pos, "participants must have names")
		}
		c.visible(at, t.Pos, id)
	}
}

// visible reports a name that contains invisible characters.
func (c *checker) visible(path string, pos document.Pos, name string) {
	if err := document.Visible(name); err != nil {
		c.fault(path, pos, &document.Error{Text: name, Msg: "invalid name " + err.Error()})
	}
}

// checkChoice reports a key that is set although it has no effect with the choice got.
func (c *checker) checkChoice(path string, near document.Pos, isSet bool, choice, got, want string) {
	if isSet && got != want {
		c.faultf(path, near, "%s needs %s %s", fields.LastKey(path), choice, want)
	}
}

// fanIn checks that a policy has the keys that it needs. best_of needs a time limit for the collection of answers: without a
// timeout or a deadline, a better answer could always follow.
func (c *checker) fanIn(s *Step, step string) {
	f, path := s.FanIn, step+".fan_in"
	c.oneOf(path+".policy", f.Pos, f.Policy, AnyOne, All, Quorum, BestOf)
	c.minResponses(s, path+".min_responses")
	c.checkChoice(path+".score_field", f.Pos, f.ScoreField != "", "policy", f.Policy, BestOf)
	c.checkChoice(path+".score_order", f.Pos, f.ScoreOrder != "", "policy", f.Policy, BestOf)
	c.checkChoice(path+".hedge_after", f.Pos, f.HedgeAfter != 0, "policy", f.Policy, AnyOne)
	c.duration(path+".hedge_after", f.Pos, f.HedgeAfter)
	if f.Policy != BestOf {
		return
	}
	c.oneOf(path+".score_order", f.Pos, f.ScoreOrder, "asc", "desc")
	switch _, err := value.ParsePointer(f.ScoreField); {
	case f.ScoreField == "":
		c.faultf(path+".score_field", f.Pos, "best_of needs score_field")
	case err != nil:
		c.fault(path+".score_field", f.Pos, &document.Error{Text: f.ScoreField, Err: err,
			Msg: fmt.Sprintf("score_field %s is not a field: write a path such as /offer/price", document.Quote(f.ScoreField))})
	}
	hasTimeout := s.Timing != nil && s.Timing.Timeout != 0 || c.w.refused[step+".timing"] || c.w.refused[step+".timing.timeout"]
	if !hasTimeout && c.w.Deadline == 0 && !c.w.refused[c.rootPath("deadline")] {
		c.faultf(path+".policy", f.Pos, "best_of needs a timeout or a deadline")
	}
}

// minResponses checks the minimum number of answers. The minimum is absolute: at run time it is not lowered to the number of
// available participants. So a minimum that can never be reached is refused here. A participant named twice answers once.
func (c *checker) minResponses(s *Step, path string) {
	f := s.FanIn
	switch {
	case f.MinResponses < 0:
		c.faultf(path, f.Pos, "min_responses must be at least 1, not %d", f.MinResponses)
	case f.Policy == Quorum && f.MinResponses == 0:
		c.faultf(path, f.Pos, "quorum needs min_responses")
	case f.Policy == AnyOne && f.MinResponses > 1:
		c.faultf(path, f.Pos, "min_responses must be 1 with policy any_one, which takes the first answer")
	case f.Policy == All && f.MinResponses != 0:
		c.faultf(path, f.Pos, "min_responses cannot be combined with policy all, which requires every answer")
	}
	if s.Target == nil {
		return
	}
	distinct := len(slices.Compact(slices.Sorted(slices.Values(s.Target.Participants))))
	if s.Target.Resolve == ResolveStatic && distinct > 0 && f.MinResponses > distinct {
		c.faultf(path, f.Pos, "min_responses is %d but there are %d participants", f.MinResponses, distinct)
	}
	if s.Target.Limit > 0 && f.MinResponses > s.Target.Limit {
		c.faultf(path, f.Pos, "min_responses is %d but limit is %d", f.MinResponses, s.Target.Limit)
	}
}

// duration reports a negative duration. Only a tree built in Go can contain one; the reader refuses it in documents.
func (c *checker) duration(path string, near document.Pos, d time.Duration) {
	if d < 0 {
		c.faultf(path, near, "invalid duration %q: it is negative", duration.Format(d))
	}
}

// timing checks the limits of a step's or a decision's call.
func (c *checker) timing(t *Timing, path string) {
	if t == nil {
		return
	}
	c.duration(path+".timeout", t.Pos, t.Timeout)
	c.duration(path+".total_timeout", t.Pos, t.TotalTimeout)
	c.duration(path+".queue_timeout", t.Pos, t.QueueTimeout)
	c.oneOf(path+".on_timeout", t.Pos, string(t.OnTimeout), string(FailOnTimeout), string(SkipOnTimeout), string(AbortOnTimeout))
	if t.Retry != nil {
		c.retry(t.Retry, path+".retry")
	}
}

// refuseQueueTimeout refuses a queue timeout of a call that waits for no worker.
func (c *checker) refuseQueueTimeout(t *Timing, path, why string) {
	if t != nil && t.QueueTimeout > 0 {
		c.fault(path+".timing.queue_timeout", t.Pos, &document.Error{Text: duration.Format(t.QueueTimeout), Msg: "queue_timeout has no effect: " + why})
	}
}

// retry checks how a call is repeated. A multiplier below one would shorten the delay with every failure.
func (c *checker) retry(r *Retry, path string) {
	if r.MaxAttempts < 1 {
		c.faultf(path+".max_attempts", r.Pos, "max_attempts must be at least 1, not %d", r.MaxAttempts)
	}
	// The negation also catches NaN.
	if !(r.Multiplier >= 1) {
		c.faultf(path+".backoff_multiplier", r.Pos, "backoff_multiplier must be at least 1, not %v", r.Multiplier)
	}
	if !(r.Jitter >= 0 && r.Jitter <= 1) {
		c.faultf(path+".jitter", r.Pos, "jitter must be between 0 and 1, not %v", r.Jitter)
	}
	c.duration(path+".backoff", r.Pos, r.Backoff)
	c.duration(path+".max_backoff", r.Pos, r.MaxBackoff)
	c.oneOf(path+".scope", r.Pos, r.Scope, ScopeMissing, ScopeAll)
	for i, code := range r.Never {
		if slices.Contains(r.On, code) {
			c.fault(fmt.Sprintf("%s.never[%d]", path, i), r.Pos, &document.Error{Text: code,
				Msg: fmt.Sprintf("never and on both name %q", code)})
		}
	}
}

// fulfillment checks that a decision is possible: the policy is known, and it has the source or the result match that it needs.
func (c *checker) fulfillment(f *Fulfillment, path string) {
	c.oneOf(path+".policy", f.Pos, f.Policy, OutputMatch, ExternalDecision, RequesterConfirmation, Auto, Never)
	c.oneOf(path+".on_not_fulfilled", f.Pos, f.OnNotFulfilled, ThenFail, ThenPause, ThenSkip, ThenAbort)
	c.oneOf(path+".on_error", f.Pos, f.OnError, ThenFail, ThenPause, ThenSkip, ThenAbort, ThenRetry)
	if f.Policy == ExternalDecision && f.Source == nil {
		c.faultf(path+".decision_source", f.Pos, "external_decision needs decision_source")
	}
	if f.Policy == OutputMatch && f.ResultMatch == nil {
		c.faultf(path+".result_match", f.Pos, "output_match needs result_match")
	}
	if f.Source != nil {
		c.decisionSource(f, path+".decision_source")
	}
	if f.ResultMatch != nil {
		c.resultMatch(f.ResultMatch, path+".result_match")
	}
}

// decisionSource checks the source of a decision. A source needs a capability or an operation to be called; a person, neither.
func (c *checker) decisionSource(f *Fulfillment, path string) {
	s := f.Source
	c.oneOf(path+".kind", s.Pos, s.Kind, DecidedByCapability, DecidedByOperator, DecidedByRequester, DecidedAutomatically)
	if s.Kind == DecidedByCapability && s.CapabilityID == "" {
		c.faultf(path+".capability_id", s.Pos, "capability needs capability_id")
	}
	if s.Kind == DecidedAutomatically && s.Operation == "" && !c.known.Lenient {
		c.faultf(path+".operation", s.Pos, "automatic needs operation")
	}
	called, at := s.Operation, path+".operation"
	if called == "" && s.Kind == DecidedByCapability && f.Policy == ExternalDecision {
		called, at = s.CapabilityID, path+".capability_id"
	}
	if called != "" {
		c.operationKnown(called, at, s.Pos)
		c.checkHasParticipants(called, at, s.Pos, "a decision")
	}
	c.timing(s.Timing, path+".timing")
	c.refuseQueueTimeout(s.Timing, path, "a decision is asked for at once")
	if t := s.Timing; t != nil && t.TotalTimeout > 0 && !c.known.Lenient { // it limits nothing, and prevents retries
		c.faultf(path+".timing.total_timeout", t.Pos, "total_timeout does not limit a decision: timeout limits each attempt, and retry their number")
	}
}

// resultMatch checks that the path is a pointer, that there are values to match, and that no value is in both lists.
func (c *checker) resultMatch(m *ResultMatch, path string) {
	if _, err := value.ParsePointer(m.Path); err != nil || m.Path == "" {
		c.fault(path+".path", m.Pos, &document.Error{Text: m.Path, Err: err,
			Msg: fmt.Sprintf("path must be a JSON pointer such as /verification/status, not %s", document.Quote(m.Path))})
	}
	if len(m.FulfilledValues)+len(m.NotFulfilledValues) == 0 {
		c.faultf(path+".fulfilled_values", m.Pos, "result_match needs fulfilled_values or not_fulfilled_values")
	}
	for i, v := range m.NotFulfilledValues {
		if slices.ContainsFunc(m.FulfilledValues, func(w value.Value) bool { return value.Equal(v, w) }) {
			c.faultf(fmt.Sprintf("%s.not_fulfilled_values[%d]", path, i), m.Pos,
				"fulfilled_values and not_fulfilled_values both contain %s", value.Text(v))
		}
	}
}

// directory checks participants and passports. The participants of passports need not be listed: a program may supply them.
func (c *checker) directory(d *Directory, path document.Pos) {
	for _, id := range slices.Sorted(maps.Keys(d.Participants)) {
		at := path.Key("participants").Key(id)
		c.visible(at.Path, at, id)
		c.participant(at, id, d.Participants[id])
	}
	for _, id := range slices.Sorted(maps.Keys(d.Capabilities)) {
		at := path.Key("capabilities").Key(id)
		c.visible(at.Path, at, id)
		for i := range d.Capabilities[id] {
			p := &d.Capabilities[id][i]
			if p.Participant == "" {
				c.faultf(at.Index(i).Key("participant").Path, p.Pos, "participant is missing")
			}
			c.visible(at.Index(i).Key("participant").Path, p.Pos, p.Participant)
			if !p.ValidFrom.IsZero() && !p.ValidUntil.IsZero() && !p.ValidFrom.Before(p.ValidUntil) {
				c.faultf(at.Index(i).Key("valid_until").Path, p.Pos, "valid_until must be after valid_from")
			}
		}
	}
}

// participant checks the data about a participant, which bindings read together with its id. Data that is not a value is
// refused later, because it has no hash.
func (c *checker) participant(at document.Pos, id string, about value.Value) {
	if c.known.Lenient {
		return
	}
	about, _ = value.Of(about)
	object, isObject := about.(map[string]any)
	if own, ok := object["id"]; ok && !value.Equal(own, id) {
		c.faultf(at.Key("id").Path, at, "the id of participant %q is its key, not %s: omit id, or use another key", id, document.Quote(value.Text(own)))
	}
	if about != nil && !isObject {
		c.faultf(at.Path, at, "participant %q must be a mapping or null, not %s", id, value.Describe(about))
	}
}
