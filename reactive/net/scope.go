package net

import (
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
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
	out   *outcome // the task that has just ended
}

var _ expr.Env = (*scope)(nil)

// Name finds a variable.
func (s *scope) Name(name string) (value.Value, error) {
	switch name {
	case "workload":
		return s.net.workload, nil
	case "ctx":
		if s.it != nil && s.it.ctx != nil {
			return s.it.ctx, nil
		}
		return s.net.ctx.snapshot(), nil
	case "args":
		return s.args, nil
	case "event":
		return s.event, nil
	case "execution_id":
		return s.net.root.Start().Run, nil
	case "keychain":
		return s.net.book.Marks(), nil // whoever makes the call puts the secrets in
	}
	if v, ok := s.pipeline(name); ok {
		return v, nil
	}
	if s.net.book.Jinja {
		return s.bare(name)
	}
	return nil, fmt.Errorf("unknown name %q", name)
}

// pipeline finds what only a step-run has.
func (s *scope) pipeline(name string) (value.Value, bool) {
	switch name {
	case "input":
		if s.run != nil {
			return s.run.input, true
		}
	case "step":
		if s.run != nil {
			return object(s.run.vars), true
		}
	case "iter":
		if s.it != nil {
			return object(s.it.vars), true
		}
	case "results":
		if s.it != nil {
			return object(s.it.results), true
		}
		if s.run != nil {
			return object(s.run.labeled), true
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
			return s.out.describe(), true
		}
		return nil, s.run != nil // a step without tools has none
	}
	return nil, false
}

// object is a map that may be nil as an object.
func object(m map[string]value.Value) value.Value {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// bare finds what the Jinja dialect has without a prefix: results of tasks and steps, and keys of the workload.
func (s *scope) bare(name string) (value.Value, error) {
	if s.it != nil {
		if v, ok := s.it.results[name]; ok {
			return withData(v), nil
		}
	}
	if i, ok := s.net.book.StepIndex(name); ok && s.net.steps[i].gave {
		return withData(s.net.steps[i].result), nil
	}
	if v, ok := s.net.workload[name]; ok {
		return v, nil
	}
	return nil, jinja.ErrUndefined
}

// withData lets a result be read as its field data too.
func withData(v value.Value) value.Value {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	if _, has := object["data"]; has {
		return v
	}
	both := make(map[string]any, len(object)+1)
	for k, x := range object {
		both[k] = x
	}
	both["data"] = v
	return both
}

// Step is there for templates of workflows; playbooks name no steps that way.
func (s *scope) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("a playbook has no steps.%s: what a step gives is passed on in args and ctx", id)
}

// describe is what rules see of an outcome.
func (o *outcome) describe() value.Value {
	status := "ok"
	if o.failure != nil {
		status = "error"
	}
	out := map[string]any{
		"status": status, "result": o.result, "data": o.result, "error": describe(o.failure),
		"meta": map[string]any{
			"attempt": int64(o.attempt), "duration_ms": o.duration.Milliseconds(),
			"ts": time.Unix(0, o.at).UTC().Format(time.RFC3339Nano),
		},
	}
	switch o.task.Kind {
	case "http":
		out["http"] = map[string]any{"status": nil}
	case "postgres":
		out["pg"] = map[string]any{"code": nil}
	case "python":
		out["py"] = map[string]any{}
	}
	for k, v := range o.about {
		out[k] = v
	}
	if o.failure != nil {
		details, _ := value.Of(o.failure.Details)
		object, _ := details.(map[string]any)
		for _, k := range []string{"http", "pg", "py"} {
			if v, ok := object[k]; ok {
				out[k] = v
			}
		}
	}
	return out
}

// describe is what rules and guards see of an error; null when there is none.
func describe(f *journal.Failure) value.Value {
	if f == nil {
		return nil
	}
	details, err := value.Of(f.Details)
	if err != nil {
		details = nil
	}
	return map[string]any{
		"kind": kindOfFailure(f), "code": f.Code, "message": f.Message, "retryable": f.Retryable, "details": details,
	}
}
