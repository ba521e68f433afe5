package net

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/net/outcome"
	"github.com/sluiceflow/sluice/reactive/net/variables"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"

	"github.com/sluiceflow/sluice/template/value"
)

// scope is what an expression sees from where it stands. Which names may stand where was checked when the playbook was
// read; here each is found.
type scope struct {
	net   *Net
	run   *stepRun   // nil: at admission
	it    *iteration // nil: outside of a pipeline
	args  map[string]value.Value
	event value.Value
	out   *outcome.Outcome // the task that has just ended
	ended bool             // the run's result has its step's name already
}

var (
	_ expr.Env       = (*scope)(nil)
	_ jinja.Fallback = (*scope)(nil)
)

// Meter counts the work of the run's expressions.
func (s *scope) Meter() *expr.Meter { return s.net.root.Meter() }

// Name finds a variable.
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

// Under lets the Jinja dialect read a result as its field data too, if it has no other.
func (s *scope) Under(name, key string) (value.Value, bool) {
	if _, ok := s.own(name); ok || key != "data" {
		return nil, false
	}
	v, isResult, _ := s.bare(name)
	return v, isResult
}

// own finds a variable that has its name in both dialects.
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
		return s.net.book.Marks(), true // the maker of the call puts the secrets in
	}
	return s.pipeline(name)
}

// pipeline finds what only a step-run has.
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
			if s.out == nil { // a tool asks before its attempt is counted
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

// context returns the context as it is seen from here.
func (s *scope) context() *variables.Vars {
	if s.it != nil && s.it.apart() {
		return &s.it.ctx
	}
	return &s.net.ctx.Vars
}

// bare finds what the Jinja dialect has without a prefix, in the order in which it is looked for (playbook.Bare), and says
// whether it is the result of a task or step.
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

// result finds the newest result of a step. That of a run which has just ended counts from then on.
func (s *scope) result(name string) (value.Value, bool) {
	i, ok := s.net.book.StepIndex(name)
	if !ok {
		return nil, false
	}
	of := &s.net.steps[i]
	if s.ended && s.run.step.Index == i {
		return s.run.result, of.gave || s.run.result != nil
	}
	return of.result, of.gave
}

// Step exists for templates of workflows; playbooks name no steps that way.
func (s *scope) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("a playbook has no steps.%s: what a step gives is passed on in args and ctx", id)
}

// nothing is the outcome of a step that has run no task: it has none, or nothing to go over.
var nothing value.Value = map[string]any{"status": "ok", "result": nil, "data": nil, "error": nil, "loop": nil}
