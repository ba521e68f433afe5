package cells

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Condition is a condition about a cell: an expression that sees `state` (null: none), `key`, `status`, and `cell`, an object of
// `machine`, `key`, `status` and `paused`. It is safe for concurrent use.
type Condition struct {
	text string
	test *expr.Template
}

// ParseCondition reads a condition, with or without {{ }}.
func ParseCondition(text string) (*Condition, error) {
	whole := text
	if !strings.Contains(text, "{{") {
		whole = "{{ " + text + " }}"
	}
	test, err := expr.Compile(strings.TrimSpace(whole), expr.Scope{Names: []string{"state", "key", "status", "cell"}})
	if err != nil {
		return nil, fmt.Errorf("condition %s: %w", expr.Quote(text), err)
	}
	if _, fixed := test.Constant(); fixed {
		return nil, fmt.Errorf("condition %s: it reads nothing of the cell: state, key, status and cell can be read", expr.Quote(text))
	}
	return &Condition{text, test}, nil
}

// Holds reports whether the condition holds for a cell. Null does not hold. A condition that cannot be evaluated for a cell
// without state does not hold; for any other cell it is an error.
func (c *Condition) Holds(s *State) (bool, error) {
	v, err := c.test.Eval(scope{s})
	switch yes, isBool := v.(bool); {
	case err != nil && s.State == nil:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("condition %s, for cell %q: %w", expr.Quote(c.text), s.Address, err)
	case v != nil && !isBool:
		return false, fmt.Errorf("condition %s, for cell %q: it must be true or false, not %s", expr.Quote(c.text), s.Address, value.Text(v))
	default:
		return yes, nil
	}
}

// scope holds the names of a condition. It implements expr.Env.
type scope struct{ cell *State }

// Name returns a variable.
func (s scope) Name(name string) (value.Value, error) {
	switch name {
	case "state":
		return s.cell.State, nil
	case "key":
		return s.cell.Key, nil
	case "status":
		return string(s.cell.Status), nil
	case "cell":
		return map[string]any{
			"machine": s.cell.Machine, "key": s.cell.Key, "status": string(s.cell.Status), "paused": s.cell.Paused,
		}, nil
	}
	return nil, fmt.Errorf("there is no %s", name)
}

// Step returns an error: a world has no steps.
func (s scope) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("there is no step %q", id)
}
