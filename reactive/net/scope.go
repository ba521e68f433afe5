package net

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/net/ended"
	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"

	"github.com/sluiceflow/sluice/template/value"
)

// scope resolves the names of an expression. The playbook's reader has checked that the names are allowed at its place.
type scope struct {
	net   *Net
	run   *stepRun   // nil: at admission
	it    *iteration // nil: outside of a pipeline
	args  map[string]value.Value
	event value.Value
	out   *ended.Task // the task that has just ended
	ended bool        // the run's result is already available under the name of its step
}

var (
	_ expr.Env       = (*scope)(nil)
	_ jinja.Fallback = (*scope)(nil)
)

// Meter counts the work of the run's expressions.
func (s *scope) Meter() *expr.Meter { return s.net.root.Meter() }

// Name returns a variable.
func (s *scope) Name(name string) (value.Value, error) {
	if name == "input" && s.it == nil && s.run != nil && s.run.noInput != nil {
		return nil, s.run.noInput
	}
	if v, ok := s.own(name); ok {
		return v, nil
	}
	if !s.net.book.Jinja {
		return nil, fmt.Errorf("unknown name %q", name)
	}
	if v, _, ok := s.bare(name); ok {
		return v, nil
	}
	return nil, jinja.ErrUndefined
}

// Under makes a result also readable as its field data in the Jinja dialect, unless the result has such a field.
func (s *scope) Under(name, key string) (value.Value, bool) {
	if _, ok := s.own(name); ok || key != "data" {
		return nil, false
	}
	v, isResult, _ := s.bare(name)
	return v, isResult
}

// own returns a variable that has the same name in both dialects.
func (s *scope) own(name string) (value.Value, bool) {
	switch name {
	case "workload":
		return s.net.workload, true
	case "ctx":
		return s.context().All(), true
	case "args":
		return s.args, true
	case "event":
		return s.event, true
	case "execution_id":
		return s.net.root.Start().Run, true
	case "keychain":
		return s.net.book.Marks(), true // the secrets replace them when the call is made
	}
	return s.pipeline(name)
}

// pipeline returns a variable that only step-runs have.
func (s *scope) pipeline(name string) (value.Value, bool) {
	switch name {
	case "input":
		if s.it != nil {
			return s.it.input, true
		}
		if s.run != nil {
			return s.run.input, true
		}
	case "step":
		if s.run != nil {
			return s.run.vars.All(), true
		}
	case "iter":
		if s.it != nil {
			return s.it.vars.All(), true
		}
	case "results":
		if s.it != nil {
			return s.it.results.All(), true
		}
		if s.run != nil {
			return s.run.labeled.All(), true
		}
	case "_prev":
		if s.it != nil {
			return s.it.prev, true
		}
	case "_attempt":
		if s.it != nil {
			if s.out == nil { // a tool's input is evaluated before its attempt is counted
				return int64(s.it.tries + 1), true
			}
			return int64(s.it.tries), true
		}
	case "_task":
		if s.it != nil && s.it.pc < len(s.it.run.step.Tasks) {
			return s.it.task().Label, true
		}
	case "outcome", "output":
		if s.out != nil {
			return s.out.Describe(), true
		}
		return nothing, s.run != nil
	}
	return nil, false
}

// context returns the context of this scope.
func (s *scope) context() *variables.Vars {
	if s.it != nil && s.it.apart() {
		return &s.it.ctx
	}
	return &s.net.ctx.Vars
}

// bare returns a variable without a prefix in the Jinja dialect, by the order of lookup (playbook.Bare), and reports whether it
// is the result of a task or step.
func (s *scope) bare(name string) (v value.Value, isResult, ok bool) {
	if s.it != nil {
		if v, ok = s.it.vars.Get(name); ok {
			return v, false, true
		}
	}
	if v, ok = s.args[name]; ok {
		return v, false, true
	}
	if s.it != nil {
		if v, ok = s.it.results.Get(name); ok {
			return v, true, true
		}
	}
	if v, ok = s.context().Get(name); ok {
		return v, false, true
	}
	if v, ok = s.result(name); ok {
		return v, true, true
	}
	v, ok = s.net.workload[name]
	return v, false, ok
}

// result returns the newest result of a step, including the result of a run that has just ended.
func (s *scope) result(name string) (value.Value, bool) {
	i, ok := s.net.book.StepIndex(name)
	if !ok {
		return nil, false
	}
	of := &s.net.steps[i]
	if s.ended && s.run.step.Index == i {
		return s.run.result, of.hasResult || s.run.result != nil
	}
	return of.result, of.hasResult
}

// Step implements expr.Env; playbooks do not name steps in this way.
func (s *scope) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("a playbook has no steps.%s: the result of a step is passed on in args and ctx", id)
}

// nothing is the outcome of a step without a task, or with a loop without items.
var nothing value.Value = map[string]any{"status": "ok", "result": nil, "data": nil, "error": nil, "loop": nil}
