package inspect

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// awaitedMax bounds the names that an UnawaitedError lists if no name is similar.
const awaitedMax = 5

// UnawaitedError means that no step of a run's workflow waits for a message, or no machine of a world subscribes to it. The message
// is journaled, and no step will take it.
type UnawaitedError struct {
	World    bool     // the workflow is a world
	Workflow string   // name
	Message  string   // its name
	Nearest  string   // the name that was probably intended; "": none
	Awaited  []string // all names that steps of the workflow wait for, sorted
}

func (e *UnawaitedError) Error() string {
	text, to := fmt.Sprintf("no step of workflow %s waits for message %q", e.Workflow, e.Message), "for "
	if e.World {
		text, to = fmt.Sprintf("no machine of world %s subscribes to message %q", e.Workflow, e.Message), "to "
	}
	quoted := make([]string, min(len(e.Awaited), awaitedMax))
	for i := range quoted {
		quoted[i] = strconv.Quote(e.Awaited[i])
	}
	switch {
	case e.Nearest != "":
		return text + fmt.Sprintf(" (did you mean %q?)", e.Nearest)
	case len(e.Awaited) == 0:
		return text + ", or " + to + "any other"
	case len(e.Awaited) > awaitedMax:
		quoted = append(quoted, "…")
	}
	return text + ", but " + to + strings.Join(quoted, ", ")
}

// Unawaited returns an *UnawaitedError if no step of a workflow can wait for a message, or no machine of a world subscribes to it;
// else nil.
func Unawaited(p *plan.Plan, message string) error {
	e := &UnawaitedError{Workflow: p.Workflow.Name, Message: message}
	world, isWorld := machine.Of(p.Workflow)
	if e.World = isWorld; isWorld {
		e.Awaited = world.Heard()
	} else if names, all := awaited(p); all {
		e.Awaited = names
	} else {
		return nil
	}
	if slices.Contains(e.Awaited, message) {
		return nil
	}
	e.Nearest, _ = expr.Nearest(message, e.Awaited)
	return e
}

// awaited returns the names of the messages that the steps of a workflow wait for, sorted. It reports false if a name is known only
// when its step starts.
func awaited(p *plan.Plan) (names []string, all bool) {
	for i := range p.Nodes {
		n := &p.Nodes[i]
		if n.Kind != plan.Step {
			continue
		}
		if n.Decision >= 0 && p.Operations[n.Decision].Kind == plan.Wait {
			return nil, false
		}
		op := &p.Operations[n.Op]
		if op.Kind != plan.Wait {
			continue
		}
		name, err := op.Bound.Wanted.Eval(fixedInput{p, i})
		if err != nil {
			return nil, false
		}
		names = append(names, value.Text(name))
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// fixedInput is the environment of a binding's expressions before any run: it has the step's input if that is constant.
type fixedInput struct {
	plan *plan.Plan
	row  int
}

var errNotFixed = errors.New("it is known only in a run")

func (f fixedInput) Name(name string) (value.Value, error) {
	item := f.plan.Nodes[f.row].Item
	var input any = item.Input
	routing := f.plan.Workflow.Routing
	switch {
	case name != "input", item.Node.(*template.Step).Func != nil:
		return nil, errNotFixed
	case routing != nil: // keys of its step's input come after these
		input = routing.CallSite(f.row).Input
	case item.Input == nil:
		return nil, nil
	}
	if t, ok := input.(interface{ Constant() (value.Value, bool) }); ok {
		if v, fixed := t.Constant(); fixed {
			return v, nil
		}
	}
	return nil, errNotFixed
}

func (fixedInput) Step(string, expr.Field) (value.Value, error) { return nil, errNotFixed }
