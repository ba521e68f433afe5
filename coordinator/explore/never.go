package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// neverNames are the names that a condition that must never hold may read, besides the steps.
var neverNames = []string{"run", "ctx", "runs"}

// condition is a condition that must hold in no state.
type condition struct {
	text   string
	test   *expr.Template
	broken bool  // it has held in a state
	judged bool  // it could be evaluated in some state
	err    error // of the last evaluation that failed
}

// newCondition compiles a condition. The names in it must exist, because a condition that cannot be evaluated does not hold.
func newCondition(p *plan.Plan, text string) (*condition, error) {
	t, err := expr.Compile(text, expr.Scope{Names: neverNames})
	if err != nil {
		return nil, fmt.Errorf("never: %w", err)
	}
	if _, fixed := t.Constant(); fixed {
		return nil, fmt.Errorf("never: %q reads nothing of the run: write a condition {{ … }}", text)
	}
	routing := p.Workflow.Routing
	var names []string
	for _, read := range t.Reads() {
		names = append(names, read.Step)
	}
	for _, name := range t.Names() {
		if name != "run" && routing == nil {
			return nil, fmt.Errorf("never: %s: only playbooks have %s", text, name)
		}
	}
	runs, _ := t.Keys("runs")
	for _, name := range append(names, runs...) {
		if routing != nil {
			err = known(name, slices.Contains(routing.StepNames(), name), p.StepNames())
		} else {
			err = readable(p, name)
		}
		if err != nil {
			return nil, fmt.Errorf("never: %s: %w", text, err)
		}
	}
	return &condition{text: text, test: t}, nil
}

// readable returns the reason that a condition cannot read a step of a tree; nil: it can.
func readable(p *plan.Plan, name string) error {
	id, _, isItem := strings.Cut(name, "[")
	row, ok := p.Row(id)
	if err := known(name, ok, p.StepNames()); err != nil {
		return err
	}
	if m := p.Nodes[row].Map; m >= 0 && !isItem {
		return fmt.Errorf("step %q is inside map %q: name an item of it, such as steps[%q]", name, p.Nodes[m].Key, name+"[0]")
	}
	return nil
}

// known returns an error for an unknown step, which suggests another name.
func known(name string, ok bool, steps []string) error {
	if ok {
		return nil
	}
	if near, ok := expr.Nearest(name, steps); ok {
		return fmt.Errorf("unknown step %q (did you mean %q?)", name, near)
	}
	return fmt.Errorf("unknown step %q", name)
}

// holds reports whether the condition holds. One that cannot be evaluated, because a step has no output yet, does not.
func (c *condition) holds(root *reactive.Root) bool {
	yes, err := c.test.EvalBool(view{root})
	if err != nil {
		c.err = err
		return false
	}
	c.judged = true
	return yes
}

// view is the environment of a condition in a state.
type view struct{ root *reactive.Root }

var _ expr.Env = view{}

// Name returns the run's status, the context of routed steps, or the numbers of their runs.
func (s view) Name(name string) (value.Value, error) {
	steps := s.root.Steps()
	switch name {
	case "run":
		return map[string]any{"status": string(s.root.RunStatus()), "finished": s.root.Finished() != nil}, nil
	case "ctx":
		if steps != nil {
			return steps.Context(), nil
		}
		return map[string]any{}, nil
	case "runs":
		runs := map[string]any{}
		if steps != nil {
			for _, name := range steps.Names() {
				step, _ := steps.StepNow(name)
				runs[name] = int64(step.Runs)
			}
		}
		return runs, nil
	}
	return nil, fmt.Errorf("unknown name %q", name)
}

// Step returns the view of a step.
func (s view) Step(id string, f expr.Field) (value.Value, error) {
	steps := s.root.Steps()
	if steps == nil && strings.Contains(id, "[") {
		return s.item(id, f)
	}
	if steps == nil {
		return s.root.Env(-1).Step(id, f)
	}
	step, ok := steps.StepNow(id)
	if !ok {
		return nil, fmt.Errorf("unknown step %q", id)
	}
	switch f {
	case expr.Status:
		return step.Status.String(), nil
	case expr.Output:
		return step.Result, nil
	case expr.Failure:
		if step.Failure == nil {
			return nil, nil
		}
		return map[string]any{"code": step.Failure.Code, "message": step.Failure.Message}, nil
	}
	return nil, nil
}

// item returns the view of a step of a map's item.
func (s view) item(key string, f expr.Field) (value.Value, error) {
	v, ok := s.root.Node(key)
	status := reactive.Idle
	if ok {
		status = s.root.Status(v)
	}
	switch f {
	case expr.Status:
		return status.String(), nil
	case expr.Failure:
		if !ok || s.root.Failure(v) == nil {
			return nil, nil
		}
		return map[string]any{"code": s.root.Failure(v).Code, "message": s.root.Failure(v).Message}, nil
	case expr.Output:
		if status == reactive.Completed {
			return value.Of(s.root.Output(v))
		}
	}
	return nil, fmt.Errorf("step %q has no output: it is %s", key, status)
}
