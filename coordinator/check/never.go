package check

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// neverNames are what a condition that must never hold may read, beside the steps.
var neverNames = []string{"run", "ctx", "runs"}

// condition is one that must hold in no state.
type condition struct {
	text   string
	test   *expr.Template
	broken bool
}

// holds evaluates the condition. Where it cannot be evaluated, since a step has no output yet, it does not hold.
func (c *condition) holds(root *reactive.Root) bool {
	yes, err := c.test.EvalBool(eyes{root})
	return err == nil && yes
}

// eyes are what a condition sees of a state.
type eyes struct{ root *reactive.Root }

var _ expr.Env = eyes{}

// Name gives the run's status, and of a playbook its context and how often each step has run.
func (s eyes) Name(name string) (value.Value, error) {
	n := net.Of(s.root)
	switch name {
	case "run":
		return map[string]any{"status": string(s.root.RunStatus()), "finished": s.root.Finished() != nil}, nil
	case "ctx":
		if n != nil {
			return n.Context(), nil
		}
		return map[string]any{}, nil
	case "runs":
		runs := map[string]any{}
		if n != nil {
			for i, step := range n.Playbook().Steps {
				runs[step.Name] = int64(n.Step(i).Runs)
			}
		}
		return runs, nil
	}
	return nil, fmt.Errorf("unknown name %q", name)
}

// Step gives what is known of a step.
func (s eyes) Step(id string, f expr.Field) (value.Value, error) {
	n := net.Of(s.root)
	if n == nil {
		return s.root.Env(-1).Step(id, f)
	}
	i, ok := n.Playbook().StepIndex(id)
	if !ok {
		return nil, fmt.Errorf("unknown step %q", id)
	}
	step := n.Step(i)
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
