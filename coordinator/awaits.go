package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// awaitedMax is how many names an UnawaitedError lists where none is near.
const awaitedMax = 5

// UnawaitedError says that no step of a run's workflow waits for a message: it is journaled, and nobody will take it.
type UnawaitedError struct {
	Workflow string   // name
	Message  string   // that nobody waits for
	Nearest  string   // the name that was probably meant; "": none is near
	Awaited  []string // all names that steps of the workflow wait for, sorted
}

func (e *UnawaitedError) Error() string {
	text := fmt.Sprintf("no step of workflow %s waits for message %q", e.Workflow, e.Message)
	quoted := make([]string, min(len(e.Awaited), awaitedMax))
	for i := range quoted {
		quoted[i] = strconv.Quote(e.Awaited[i])
	}
	switch {
	case e.Nearest != "":
		return text + fmt.Sprintf(" (did you mean %q?)", e.Nearest)
	case len(e.Awaited) == 0:
		return text + ", or for any other"
	case len(e.Awaited) > awaitedMax:
		quoted = append(quoted, "…")
	}
	return text + ", but for " + strings.Join(quoted, ", ")
}

// Awaits returns nil when a step of the run's workflow waits for a message of that name, has waited, or may come to it; else an
// *UnawaitedError. A name that a document computes may be any. Other errors say why it cannot be told. Send takes a message
// either way: what nobody waits for, it says in the log.
func (r *Run) Awaits(ctx context.Context, message string) error {
	e := r.engine
	if err := e.down(); err != nil {
		return err
	}
	start, err := e.start(ctx, r.id)
	if err != nil {
		return e.why(ctx, err)
	}
	entry, err := e.library.read(ctx, e.store, start.Workflow, start.Children)
	if err != nil {
		return e.why(ctx, err)
	}
	names, all := awaited(entry.plan)
	if !all || slices.Contains(names, message) {
		return nil
	}
	near, _ := expr.Nearest(message, names)
	return &UnawaitedError{Workflow: entry.plan.Workflow.Name, Message: message, Nearest: near, Awaited: names}
}

// awaited are the names of the messages that a workflow waits for, sorted; all is false where a name is known only when its
// step starts.
func awaited(p *plan.Plan) (names []string, all bool) {
	for i := range p.Operations {
		op := &p.Operations[i]
		if op.Kind != plan.Wait {
			continue
		}
		name, fixed := op.Bound.Wanted.Constant()
		if !fixed {
			return nil, false
		}
		names = append(names, value.Text(name))
	}
	slices.Sort(names)
	return slices.Compact(names), true
}

// tellUnawaited logs that a message was sent that nobody waits for.
func (r *Run) tellUnawaited(ctx context.Context, message string) {
	if e, ok := errors.AsType[*UnawaitedError](r.Awaits(ctx, message)); ok {
		r.engine.config.Logger.Warn("a message that nobody waits for was sent", "run", r.id, "message", message, "reason", e)
	}
}
