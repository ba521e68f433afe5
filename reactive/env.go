package reactive

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// env resolves the names of expressions at node v, or outside all maps (-1).
type env struct {
	t *tree
	v int32
}

var _ expr.Env = env{}

// Meter counts the work of the run's expressions.
func (e env) Meter() *expr.Meter { return &e.t.meter }

// Meter counts the work of the run's expressions. It has no bound for expressions with journaled results; EvaluationMax bounds
// the expressions that every replay evaluates again.
func (t *tree) Meter() *expr.Meter { return &t.meter }

// EvaluationMax bounds the work of all expressions that one event evaluates: see expr.Meter. An expression beyond it fails
// like one that exceeds its own limit, so any run can be stopped, whatever its document.
const EvaluationMax = 64_000_000

// Env resolves the names of the expressions of node v.
func (t *tree) Env(v int32) expr.Env { return env{t, v} }

// Name returns the run's input, the description of the run, or the variable of a map.
func (e env) Name(name string) (value.Value, error) {
	switch name {
	case "input":
		return value.Of(e.t.l.RunInput())
	case "run":
		return e.t.describe(), nil
	}
	for b := e.block(); b != 0; b = e.t.blocks[b].parent {
		blk := &e.t.blocks[b]
		if name == "index" {
			return int64(blk.index), nil
		}
		if name == e.t.plan.Nodes[blk.row].Over.As || name == "item" && e.t.plan.Nodes[blk.row].Over.As == "" {
			return e.t.maps[blk.owner].items[blk.index], nil
		}
	}
	return nil, fmt.Errorf("unknown name %q", name)
}

func (e env) block() int32 {
	if e.v < 0 {
		return 0
	}
	return e.t.l.Node(e.v).Block
}

// Step returns a field of a step. Within the body of a map, the step is the one of the same item.
func (e env) Step(id string, f expr.Field) (value.Value, error) {
	row, ok := e.t.plan.Row(id)
	if !ok {
		return nil, fmt.Errorf("unknown step %q", id)
	}
	b := e.block()
	for e.t.blocks[b].row != e.t.plan.Nodes[row].Map {
		b = e.t.blocks[b].parent
	}
	v := row
	if b != 0 {
		v = e.t.blocks[b].base + row - (e.t.blocks[b].row + 1)
	}
	switch f {
	case expr.Status:
		return e.t.l.Node(v).Status.String(), nil
	case expr.Failure:
		return describeFailure(e.t.faults.Failure(v)), nil
	case expr.Fulfillment:
		return string(e.t.l.Fulfillment(v)), nil
	case expr.Reports:
		return e.t.l.ReportsOf(v)
	}
	return e.output(v)
}

// output returns the output of a node that an expression requires. The error is a NoOutputError if a default can replace the
// output: the node was skipped, or a conditional that reads its end has caught its failure. Expressions of the run's output are
// evaluated only if every failure was caught.
func (e env) output(v int32) (value.Value, error) {
	t := e.t
	switch s := t.l.Node(v).Status; {
	case s == ledger.Completed:
		return value.Of(t.Output(v))
	case s == ledger.Skipped, t.l.Final(v) && (e.v < 0 || t.isCaught(v, e.v)):
		return nil, NoOutputError{t.Key(v), s}
	default:
		return nil, fmt.Errorf("step %q has no output: it is %s", t.Key(v), s)
	}
}

// isCaught reports whether a conditional that reads the end of v has decided or is deciding, or a map around such a conditional
// has begun.
func (t *tree) isCaught(v, reader int32) bool {
	return slices.ContainsFunc(t.l.Place(v).Testers, func(row int32) bool {
		g := t.inSameBody(v, row)
		return g == reader || t.l.Node(g).Status == ledger.Completed || t.l.Node(g).Has(ledger.Expanded)
	})
}

// guard is an env in which the output of a skipped step is null: an expression that reads the end of a step does not require
// its output.
type guard struct{ env }

func (g guard) Step(id string, f expr.Field) (value.Value, error) {
	v, err := g.env.Step(id, f)
	if e, ok := errors.AsType[NoOutputError](err); ok && e.Status == ledger.Skipped {
		return nil, nil
	}
	return v, err
}

// NoOutputError means that a step has no output and that a default can replace it. A `from` pointer can replace the output of a
// skipped step, too.
type NoOutputError struct {
	Key    string // of the node
	Status Status // of the node
}

func (e NoOutputError) Error() string {
	return fmt.Sprintf("step %q has no output: it is %s", e.Key, e.Status)
}

func (e NoOutputError) Unwrap() error {
	if e.Status == ledger.Skipped {
		return expr.ErrSkipped
	}
	return expr.ErrNoOutput
}

// describe returns the variable run of expressions.
func (t *tree) describe() value.Value {
	return map[string]any{
		"id": t.l.Start().Run, "name": t.l.Start().Name,
		"started_at": time.Unix(0, t.l.StartedAt()).UTC().Format(time.RFC3339Nano),
	}
}

func describeFailure(f *journal.Failure) value.Value {
	if f == nil {
		return nil
	}
	details, err := value.Of(f.Details)
	if err != nil {
		details = nil
	}
	return map[string]any{"code": f.Code, "message": f.Message, "details": details}
}

// Output returns the output of a completed node, as in the event. The output of a map is the list of its items' outputs. Output
// returns nil for any other node.
func (t *tree) Output(v int32) any {
	n := t.l.Node(v)
	if n.Status != ledger.Completed {
		return nil
	}
	if x := t.maps[v]; x != nil && t.l.Row(v).Kind == plan.Map {
		list := make([]any, len(x.items))
		for i := range list {
			list[i] = t.itemOutput(x, i)
		}
		return list
	}
	return t.decoded.Open(v, n.Output)
}

// itemOutput returns the output of the last node of a map's body for one item. For a conditional, it returns the output of the
// last node of the branch taken, or nil for an empty branch.
func (t *tree) itemOutput(x *expansion, i int) any {
	b := &t.blocks[x.blocks[i]]
	first, end, gate, branch := b.row+1, t.plan.Nodes[b.row].End, int32(-1), plan.Undecided
	for {
		row := end - 1
		for row >= first && !t.plan.Rows[row].Stands(b.row, gate, branch) {
			row--
		}
		if row < first {
			return nil
		}
		v := b.base + row - (b.row + 1)
		if t.plan.Rows[row].Kind != plan.Gate {
			return t.Output(v)
		}
		first, end, gate, branch = row+1, t.plan.Nodes[row].End, row, t.Chose(v)
	}
}

// test evaluates a gate's test.
func (t *tree) test(v int32) (bool, *journal.Failure) {
	item := t.l.Place(v).Item
	if item.TestID != "" {
		s, err := env{t, v}.Step(item.TestID, expr.Status)
		return s == ledger.Completed.String(), failed(CodeTest, err)
	}
	yes, err := item.Test.EvalBool(guard{env{t, v}})
	return yes, failed(CodeTest, err)
}

// over evaluates a map's list.
func (t *tree) over(v int32) (any, *journal.Failure) {
	list, err := t.l.Place(v).Item.Over.Eval(env{t, v})
	return list, failed(CodeOver, err)
}

// Input returns the input of a step's call: rendered from its template, or another step's output unchanged.
func (r *Root) Input(v int32) (any, *journal.Failure) {
	if r.body != nil {
		return r.body.Input(v)
	}
	if from := r.Row(v).Source; from >= 0 {
		if u := r.places.inSameBody(v, from); r.keeper.Node(u).Status == ledger.Completed {
			return r.Output(u), nil
		}
	}
	input := r.Place(v).Item.Input
	if input == nil {
		return nil, nil
	}
	in, err := rendered(input, env{r.tree, v})
	return in, failed(CodeInputResolution, err)
}

// rendered evaluates a template for the journal, and checks that the result does not nest too deep.
func rendered(t *expr.Template, e expr.Env) (value.Value, error) {
	v, err := t.Eval(e)
	if err == nil {
		err = value.Fits(v, 0)
	}
	return v, err
}

// DecisionInput returns the input of a call to a step's decision source.
func (t *tree) DecisionInput(v int32) (any, *journal.Failure) {
	asks := t.l.Place(v).Item.Asks
	if asks == nil {
		return nil, nil
	}
	in, err := rendered(asks, env{t, v})
	return in, failed(CodeInputResolution, err)
}

// Arguments returns the arguments of the Go function of a conditional or a map.
func (t *tree) Arguments(v int32) (any, *journal.Failure) {
	row := t.l.Place(v)
	list, code := row.Item.Test, CodeTest
	if row.Kind == plan.Map {
		list, code = row.Item.Over, CodeOver
	}
	if list == nil {
		return []any(nil), nil
	}
	args, err := list.Eval(env{t, v})
	return args, failed(code, err)
}

func failed(code string, err error) *journal.Failure {
	if err == nil {
		return nil
	}
	return &journal.Failure{Code: code, Message: err.Error()}
}
