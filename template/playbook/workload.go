package playbook

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

// derived is a text with expressions in the workload.
type derived struct {
	path  value.Pointer // where it is in the workload
	text  string
	value Expr
}

// workloadReader reads the expressions in a workload.
type workloadReader struct {
	*reader
	nodes []*document.Node // by text
	texts []derived
	under map[string][]int // the texts below each key of the workload
	state []visit          // by text
	whole map[string]bool  // keys of which all texts have been visited
	order []derived
	trail []int
}

// visit is the state of a text while the order of evaluation is determined.
type visit uint8

const (
	unvisited visit = iota
	underway
	visited
)

// workload reads the initial values of runs. Their texts with expressions are evaluated when a run starts, each after those that it
// reads: a stored document has no order of keys.
func (r *reader) workload(n *document.Node) {
	if r.book.Workload = r.object(n); r.book.Workload == nil {
		return
	}
	w := &workloadReader{reader: r, under: map[string][]int{}, whole: map[string]bool{}}
	w.collect(n, nil)
	if len(w.texts) == 0 {
		return
	}
	w.state = make([]visit, len(w.texts))
	for i := range w.texts {
		if !w.visit(i) {
			return
		}
	}
	r.book.derived = w.order
}

// collect compiles the texts with expressions at and below a node.
func (w *workloadReader) collect(n *document.Node, path value.Pointer) {
	for e := range n.Entries() {
		w.collect(e.Value, append(slices.Clip(path), e.Key))
	}
	for i, item := range n.Items() {
		w.collect(item, append(slices.Clip(path), strconv.Itoa(i)))
	}
	text, isText := n.Text()
	if !isText || !strings.Contains(text, "{{") {
		return
	}
	e := w.compiled(text, n.Pos, seenByWorkload, func(value.Pointer) *document.Node { return n })
	if e == nil || !w.isEarly(n, e) {
		return
	}
	w.under[path[0]] = append(w.under[path[0]], len(w.texts))
	w.nodes, w.texts = append(w.nodes, n), append(w.texts, derived{path, text, e})
}

// isEarly reports whether everything that an expression reads exists before a run begins. It refuses an expression that reads
// anything else; in package expr's language, the compiler has done so.
func (w *workloadReader) isEarly(n *document.Node, e Expr) bool {
	if _, all := e.Keys("workload"); all {
		w.Refuse(n, "the workload is not complete when its expressions are evaluated: read single keys of it, such as workload.key")
		return false
	}
	for _, name := range e.Names() {
		_, isKey := w.book.Workload[name]
		_, isStep := w.book.StepIndex(name)
		if name != "workload" && slices.Contains(reserved, name) || isStep && !isKey {
			w.Refuse(n, fmt.Sprintf("%s does not exist when a run starts: expressions in the workload read only its other keys, and those of the run's input", name))
			return false
		}
	}
	return true
}

// visit appends a text to the order, after the texts that it reads. It refuses a text that reads itself by way of others.
func (w *workloadReader) visit(i int) bool {
	switch w.state[i] {
	case visited:
		return true
	case underway:
		var names []string
		for _, k := range append(w.trail[slices.Index(w.trail, i):], i) {
			names = append(names, strings.Join(w.texts[k].path, "."))
		}
		w.Refuse(w.nodes[i], "cycle: "+strings.Join(names, " -> "))
		return false
	}
	w.state[i] = underway
	w.trail = append(w.trail, i)
	e := w.texts[i].value
	keys, _ := e.Keys("workload")
	for _, key := range keys {
		if members, all := e.Members("workload", key); !w.visitKey(i, key, members, all) {
			return false
		}
	}
	for _, name := range Bare(e) {
		if members, all := e.Keys(name); w.book.Jinja && !w.visitKey(i, name, members, all) {
			return false
		}
	}
	w.trail = w.trail[:len(w.trail)-1]
	w.state[i] = visited
	w.order = append(w.order, w.texts[i])
	return true
}

// visitKey visits the texts below a key that text i reads: all of them, or those below its members. A text may read its own place,
// which has no value unless the input of the run has one.
func (w *workloadReader) visitKey(i int, key string, members []string, all bool) bool {
	if w.whole[key] {
		return true
	}
	for _, k := range w.under[key] {
		path := w.texts[k].path
		if len(path) > 1 && !all && !slices.Contains(members, path[1]) {
			continue
		}
		if k == i && (len(path) == 1 || len(path) == 2 && !all) {
			continue
		}
		if !w.visit(k) {
			return false
		}
	}
	w.whole[key] = all && w.texts[i].path[0] != key
	return true
}

// WorkloadOf returns the workload of a run: its input, merged over the defaults, including objects within objects; lists are
// replaced. The expressions of defaults that remain are evaluated; those of the input are not. A text with an expression that
// CheckInput refuses stays as it is written. The result shares memory with both and must not be changed.
func (p *Playbook) WorkloadOf(input value.Value) map[string]value.Value {
	workload, _ := p.workloadOf(input)
	return workload
}

// CheckInput returns the reason that no workload can be made of the input of a run: an expression of the defaults that fails.
func (p *Playbook) CheckInput(input value.Value) error {
	if len(p.derived) == 0 {
		return nil
	}
	_, err := p.workloadOf(input)
	return err
}

func (p *Playbook) workloadOf(input value.Value) (map[string]value.Value, error) {
	payload, _ := input.(map[string]any)
	var texts []derived
	for _, d := range p.derived {
		if !replaces(payload, p.Workload, d.path) {
			texts = append(texts, d)
		}
	}
	if len(texts) == 0 {
		return mergedOver(p.Workload, payload), nil
	}
	defaults, err := value.OwnMembers(p.Workload)
	if err != nil {
		return mergedOver(p.Workload, payload), err
	}
	own := mergedOver(defaults, payload)
	for _, d := range texts {
		place(own, d.path, nil)
	}
	env := &start{workload: own, jinja: p.Jinja}
	env.meter.Bound(expr.MaxSteps)
	var errs []error
	for _, d := range texts {
		v, err := d.value.Eval(env)
		if err != nil {
			errs = append(errs, fmt.Errorf("workload.%s: %w", strings.Join(d.path, "."), err))
			v = d.text
		}
		place(own, d.path, &v)
	}
	return own, errors.Join(errs...)
}

// replaces reports whether a payload has a value in place of the one at a path of the defaults.
func replaces(payload map[string]value.Value, defaults value.Value, path value.Pointer) bool {
	var over value.Value = payload
	for _, key := range path {
		under, okUnder := defaults.(map[string]any)
		object, okOver := over.(map[string]any)
		if !okUnder || !okOver {
			return true
		}
		next, has := object[key]
		if !has {
			return false
		}
		defaults, over = under[key], next
	}
	return true
}

// place writes a value at a path; nil removes it, and leaves null in a list.
func place(in value.Value, path value.Pointer, v *value.Value) {
	for ; len(path) > 1; path = path[1:] {
		switch c := in.(type) {
		case map[string]any:
			in = c[path[0]]
		case []any:
			i, _ := strconv.Atoi(path[0])
			in = c[i]
		}
	}
	switch c := in.(type) {
	case map[string]any:
		if v == nil {
			delete(c, path[0])
			return
		}
		c[path[0]] = *v
	case []any:
		i, _ := strconv.Atoi(path[0])
		c[i] = *cmp.Or(v, new(value.Value))
	}
}

// start resolves the names of expressions in the workload.
type start struct {
	workload map[string]value.Value
	jinja    bool
	meter    expr.Meter
}

var _ expr.Metered = (*start)(nil)

// Name returns the workload so far, or a key of it in Jinja's dialect.
func (s *start) Name(name string) (value.Value, error) {
	if name == "workload" {
		return s.workload, nil
	}
	if v, ok := s.workload[name]; ok && s.jinja {
		return v, nil
	}
	return nil, jinja.ErrUndefined
}

// Step implements expr.Env; playbooks do not name steps in this way.
func (s *start) Step(id string, _ expr.Field) (value.Value, error) {
	return nil, fmt.Errorf("a playbook has no steps.%s", id)
}

// Meter bounds the work of all expressions together by that of one.
func (s *start) Meter() *expr.Meter { return &s.meter }

func mergedOver(under, over map[string]value.Value) map[string]value.Value {
	out := make(map[string]value.Value, len(under)+len(over))
	maps.Copy(out, under)
	for k, v := range over {
		a, okA := out[k].(map[string]any)
		b, okB := v.(map[string]any)
		if okA && okB {
			v = mergedOver(a, b)
		}
		out[k] = v
	}
	return out
}
