// Package advice finds what an author of a workflow will hardly have meant: keys without effect, and maps and conditionals that always
// fail. They are valid, because a program that writes documents may set all keys, and may write a constant where people write an
// expression.
package advice

import (
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
)

// Of returns a warning for each key of a step that has no effect, and for each map and conditional that always fails, in the order of the
// document. It does not report keys with their default value.
func Of(checked *template.Checked) document.Errors {
	var a adviser
	for _, it := range checked.Items {
		switch n := it.Node.(type) {
		case *template.Step:
			a.step(n, it.Path)
		case *template.Map:
			if n.Func == nil && !mayBe[[]any](it.Over) {
				a.warn(it.Path, n.Pos, "over is never a list, so the map always fails", "map", "over")
			}
		case *template.Conditional:
			if n.Func == nil && !mayBe[bool](it.Test) {
				a.warn(it.Path, n.Pos, "test is never true or false, so the conditional always fails", "conditional", "test")
			}
		}
	}
	list, _ := a.list.Err().(document.Errors)
	return list
}

type adviser struct{ list document.Errors }

// warnIf adds the warning that a key of the mapping at a path has no effect, if it is set.
func (a *adviser) warnIf(isSet bool, path, key string, near document.Pos, why string) {
	if isSet {
		a.warn(path, near, key+" has no effect: "+why, key)
	}
}

// warn adds a warning about a value in the mapping at a path. It has the line of the mapping.
func (a *adviser) warn(path string, near document.Pos, msg string, keys ...string) {
	pos := near.At(path + "." + strings.Join(keys, "."))
	if near.Path != "" { // a document of another kind may have another path
		pos = near
		for _, key := range keys {
			pos = pos.Key(key)
		}
	}
	a.list.Add(&document.Error{Pos: pos, Msg: msg})
}

// mayBe reports whether an expression can return a T: a text cannot, nor can a constant of another type. Null can stand for one, and no
// expression means the result of another step.
func mayBe[T any](t *expr.Template) bool {
	if t == nil {
		return true
	}
	v, isConstant := t.Constant()
	_, is := v.(T)
	return !t.Text() && (!isConstant || is || v == nil)
}

func (a *adviser) step(s *template.Step, path string) {
	if t := s.Timing; t != nil {
		bounded := t.Timeout > 0 || t.TotalTimeout > 0 || t.QueueTimeout > 0
		changed := t.OnTimeout != "" && t.OnTimeout != template.FailOnTimeout
		a.warnIf(changed && !bounded, path+".timing", "on_timeout", t.Pos, "there is no timeout, total_timeout or queue_timeout")
		if t.Retry != nil {
			a.retry(t.Retry, path+".timing.retry")
			a.warnIf(t.Retry.Scope == template.ScopeAll && s.Target == nil, path+".timing.retry", "scope", t.Retry.Pos, "without a target, one is asked")
		}
	}
	if s.Fulfillment != nil {
		a.fulfillment(s.Fulfillment, path+".fulfillment")
	}
}

func (a *adviser) retry(r *template.Retry, path string) {
	if r.MaxAttempts == 1 {
		why := "max_attempts is 1, so nothing is retried"
		a.warnIf(r.Backoff > 0, path, "backoff", r.Pos, why)
		a.warnIf(len(r.On) > 0, path, "on", r.Pos, why)
		a.warnIf(len(r.Never) > 0, path, "never", r.Pos, why)
	}
	if r.Backoff == 0 {
		why := "there is no backoff, so a retry is made at once"
		a.warnIf(r.Multiplier > 1, path, "backoff_multiplier", r.Pos, why)
		a.warnIf(r.MaxBackoff > 0, path, "max_backoff", r.Pos, why)
		a.warnIf(r.Jitter > 0, path, "jitter", r.Pos, why)
	}
}

func (a *adviser) fulfillment(f *template.Fulfillment, path string) {
	changed := f.OnError != "" && f.OnError != template.ThenFail
	if f.Policy == template.Auto {
		why := "policy is auto, so every answer is enough"
		a.warnIf(f.Source != nil, path, "decision_source", f.Pos, why)
		a.warnIf(f.ResultMatch != nil, path, "result_match", f.Pos, why)
		a.warnIf(f.OnNotFulfilled != "" && f.OnNotFulfilled != template.ThenFail, path, "on_not_fulfilled", f.Pos, why)
		a.warnIf(changed, path, "on_error", f.Pos, why)
		return
	}
	s := f.Source
	if f.Policy == template.OutputMatch {
		why := "policy is output_match, so the step's output decides"
		a.warnIf(s != nil, path, "decision_source", f.Pos, why)
		a.warnIf(f.OnError == template.ThenRetry, path, "on_error", f.Pos, why+", and retry is like fail")
		return
	}
	var t template.Timing
	if s != nil && s.Timing != nil {
		t = *s.Timing
	}
	why := "policy is " + f.Policy + ", so a person decides and nothing is called"
	if s != nil && isPerson(s) {
		why = "kind is " + s.Kind + ", so a person decides and nothing is called"
	}
	switch {
	case asksPerson(f) && t.Timeout == 0:
		a.warnIf(changed, path, "on_error", f.Pos, "a person decides, for which decision_source sets no timeout")
	default:
		a.warnIf(f.OnError == template.ThenRetry && t.Retry == nil, path, "on_error", f.Pos, "decision_source has no timing.retry, so retry is like fail")
	}
	if asksPerson(f) {
		a.warnIf(f.ResultMatch != nil, path, "result_match", f.Pos, why)
	}
	if s == nil {
		return
	}
	path += ".decision_source"
	if asksPerson(f) {
		a.warnIf(s.CapabilityID != "", path, "capability_id", s.Pos, why)
		a.warnIf(s.Operation != "", path, "operation", s.Pos, why)
		a.warnIf(s.Input != nil, path, "input", s.Pos, why)
	}
	path += ".timing"
	a.warnIf(t.OnTimeout != "" && t.OnTimeout != template.FailOnTimeout, path, "on_timeout", t.Pos, "on_error is what follows a late decision")
	if t.Retry != nil {
		a.warnIf(f.OnError != template.ThenRetry, path, "retry", t.Pos, "on_error is not retry")
		a.retry(t.Retry, path+".retry")
	}
}

// asksPerson reports whether a person decides.
func asksPerson(f *template.Fulfillment) bool {
	switch f.Policy {
	case template.Never, template.RequesterConfirmation:
		return true
	case template.ExternalDecision:
		return f.Source != nil && isPerson(f.Source)
	}
	return false
}

func isPerson(s *template.DecisionSource) bool {
	return s.Kind == template.DecidedByOperator || s.Kind == template.DecidedByRequester
}
