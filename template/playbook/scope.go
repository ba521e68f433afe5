package playbook

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/secret"
	"github.com/sluiceflow/sluice/template/value"
)

// compiler compiles a value whose expressions may use the variables names.
type compiler func(v value.Value, names []string) (Expr, error)

// compileExpr compiles the expressions of package expr. Playbooks do not allow reads of steps: results are passed in args and ctx.
func compileExpr(v value.Value, names []string) (Expr, error) {
	t, err := expr.CompileValue(v, expr.Scope{Names: names})
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, read := range t.Reads() {
		errs = append(errs, &expr.Error{Pointer: read.Pointer, Offset: read.Offset, Text: read.Text,
			Msg: fmt.Sprintf("a playbook has no %s: pass the result of a step in the args of an arc, or set it in ctx", read.Text)})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return t, nil
}

// keychainName is the variable that secrets are read from.
const keychainName = secret.Variable

// compileUnknown replaces the compiler of an unknown language, which has been reported. The expressions of such a document cannot be
// checked.
func compileUnknown(value.Value, []string) (Expr, error) {
	return expr.Compile("{{ input }}", expr.Scope{Names: []string{"input"}})
}

// The variables that expressions may use, by place.
//
//	the workload          workload
//	everywhere else       workload ctx args execution_id
//	admission             event
//	input of a step       keychain
//	list, width of a loop input
//	a tool                iter step input keychain _task _attempt _prev results
//	rules, set of a task  a tool's except keychain, and outcome (or output)
//	set of a step         step input results outcome (or output)
//	arcs                  step input results outcome (or output) event
//
// Only tools and inputs of steps may read the keychain: guards, events, args and ctx are visible to everyone.
var (
	seenByWorkload = []string{"workload"}
	seenEverywhere = []string{"workload", "ctx", "args", "execution_id"}
	seenByGate     = names(seenEverywhere, "event")
	seenByInput    = names(seenEverywhere, keychainName)
	seenByLoop     = names(seenEverywhere, "input")
	seenByRule     = names(seenEverywhere, "iter", "step", "input", "_task", "_attempt", "_prev", "results", "outcome", "output")
	seenByTool     = names(seenEverywhere, "iter", "step", "input", "_task", "_attempt", "_prev", "results", keychainName)
	seenByStep     = names(seenEverywhere, "step", "input", "results", "outcome", "output")
	seenByArc      = names(seenByStep, "event")
)

func names(base []string, more ...string) []string { return append(slices.Clone(base), more...) }

// expressions compiles expressions in the language of the playbook.
type expressions struct {
	forms
	book    *Playbook
	compile compiler
	here    *Step  // the step that is being read; nil: none
	bare    []bare // reads without a prefix, in Jinja's dialect
}

// expression compiles the value at a node. If the value cannot be compiled, it reports the fault and returns nil.
func (r *expressions) expression(n *document.Node, names []string) Expr {
	return r.compiled(n.Value(), n.Pos, names, func(pointer value.Pointer) *document.Node { return follow(n, pointer) })
}

// singleExpression compiles a value that must be one expression if it is a string; must describes its result. It reports any other string
// and returns nil.
func (r *expressions) singleExpression(n *document.Node, names []string, must string) Expr {
	e := r.compiled(expr.Trim(n.Value()), n.Pos, names, func(pointer value.Pointer) *document.Node { return follow(n, pointer) })
	if e != nil && alwaysText(e) {
		r.Refuse(n, fmt.Sprintf("%s must be one expression {{ … }} that returns %s", lastKey(n.Pos), must))
		return nil
	}
	return e
}

// alwaysText reports whether an expression is a text around others, which always returns a string.
func alwaysText(e Expr) bool {
	t, ok := e.(interface{ Text() bool })
	return ok && t.Text()
}

// compiled compiles a value composed from several places; at returns the node for a pointer into the value.
func (r *expressions) compiled(v value.Value, pos document.Pos, names []string, at func(value.Pointer) *document.Node) Expr {
	e, err := r.compile(v, names)
	if err != nil {
		r.expressionFaults(err, pos, at)
		return nil
	}
	if r.book.Jinja && r.here != nil {
		r.bare = append(r.bare, bare{Bare(e), r.here, pos, slices.Contains(names, "iter")})
	}
	return e
}

// expressionFaults reports each of the errors that are joined in err, the error of a compilation, at its place.
func (r *expressions) expressionFaults(err error, pos document.Pos, at func(value.Pointer) *document.Node) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, err := range joined.Unwrap() {
			r.expressionFaults(err, pos, at)
		}
		return
	}
	fault := &document.Error{Pos: pos, Msg: err.Error(), Err: err}
	if e, ok := errors.AsType[*expr.Error](err); ok {
		fault.Text, fault.Msg, fault.Suggestion = e.Text, e.Msg, e.Suggestion
		if pointer, err := value.ParsePointer(e.Pointer); err == nil {
			fault.Pos = at(pointer).Pos
		}
	}
	r.Fault(fault)
}

// follow returns the node at a pointer into a node's value, or the last node on the way.
func follow(n *document.Node, pointer value.Pointer) *document.Node {
	for _, segment := range pointer {
		next := n.Get(segment)
		if i, err := strconv.Atoi(segment); n.Kind == document.Sequence && err == nil {
			for at, item := range n.Items() {
				if at == i {
					next = item
				}
			}
		}
		if next == nil {
			return n
		}
		n = next
	}
	return n
}

// condition compiles a guard: one expression, true or false. It returns the guard with its text, without the braces. The
// returned expression is nil if the guard was refused.
func (r *expressions) condition(n *document.Node, names []string) (Expr, string) {
	text, isText := n.Text()
	if !isText && n.Kind != document.Bool {
		r.Refuse(n, lastKey(n.Pos)+" must be an expression, not "+n.Kind.String())
		return nil, ""
	}
	v := expr.Trim(n.Value())
	if r.book.Jinja {
		v = withOurEventNames(v)
	}
	e := r.compiled(v, n.Pos, names, func(value.Pointer) *document.Node { return n })
	if e == nil {
		return nil, ""
	}
	fixed, isFixed := constant(e)
	_, isBool := fixed.(bool)
	switch {
	case r.book.Jinja:
		r.lintCondition(n, e)
	case alwaysText(e) || isFixed && !isBool:
		r.Refuse(n, lastKey(n.Pos)+" must be an expression {{ … }} that returns true or false")
		return nil, ""
	}
	if !isText {
		return e, strconv.FormatBool(n.Value().(bool))
	}
	text = strings.TrimSpace(text)
	if inner, ok := strings.CutPrefix(text, "{{"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(inner, "}}"))
	}
	return e, text
}

// constant returns the value of an expression that reads nothing. It reports false for all others.
func constant(e Expr) (value.Value, bool) {
	if c, ok := e.(interface{ Constant() (value.Value, bool) }); ok {
		return c.Constant()
	}
	return nil, false
}

func sortedKeys(known template.Fields) []string { return slices.Sorted(maps.Keys(known)) }
