package jinja

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Template is a compiled value with expressions in it. It is immutable and safe for concurrent use.
type Template struct {
	root  part
	names []string
	reads map[string]*reads // by name
}

// part is a part of the value that was compiled.
type part interface {
	evalPart(r *run) (any, error) // a value of package value
}

// Compile compiles a string. The error is one *expr.Error, or several joined.
func Compile(text string) (*Template, error) { return CompileValue(text) }

// CompileValue compiles any value with expressions in its strings; keys are never expressions. Unknown names are not errors:
// they are undefined. The error is one *expr.Error, or several joined in the order of the value, keys sorted.
func CompileValue(v value.Value) (*Template, error) {
	v, err := value.Of(v)
	if err != nil {
		return nil, &expr.Error{Msg: err.Error(), Err: err}
	}
	c := &compiler{reads: map[string]*reads{}}
	root := c.value(v, nil)
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	return &Template{root: root, names: c.names, reads: c.reads}, nil
}

// Names returns the names that are used, each once, in order of appearance. The caller must not change the result.
func (t *Template) Names() []string { return t.names }

// Constant returns the value of a template without expressions. It reports false for any other.
func (t *Template) Constant() (value.Value, bool) {
	c, ok := t.root.(constant)
	return c.v, ok
}

// Text reports whether the template is a text around expressions, whose value is always a string.
func (t *Template) Text() bool {
	_, ok := t.root.(mixed)
	return ok
}

// Eval returns the template's value in env. The error is an *expr.Error that names the expression and wraps the error of
// env, or expr.ErrLimit. The result may share memory with env and must not be changed.
func (t *Template) Eval(env expr.Env) (value.Value, error) {
	quota, err := expr.Begin(env)
	if err != nil {
		return nil, err
	}
	r := newRun(env, quota)
	v, err := t.root.evalPart(r)
	r.settle()
	return v, err
}

type (
	constant struct{ v any }
	list     struct{ parts []part }
	members  struct {
		keys  []string
		parts []part
	}
	mixed      struct{ parts []part } // a text with expressions in it
	expression struct {
		root    node
		builds  bool // the value must be weighed before the caller may visit it
		pointer string
		offset  int
		source  string // with its braces
	}
)

func (c constant) evalPart(*run) (any, error) { return c.v, nil }

func (l list) evalPart(r *run) (any, error) {
	out := make([]any, len(l.parts))
	for i, p := range l.parts {
		v, err := p.evalPart(r)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func (m members) evalPart(r *run) (any, error) {
	out := make(map[string]any, len(m.parts))
	for i, p := range m.parts {
		v, err := p.evalPart(r)
		if err != nil {
			return nil, err
		}
		out[m.keys[i]] = v
	}
	return out, nil
}

func (m mixed) evalPart(r *run) (any, error) {
	w := writer{run: r}
	for _, p := range m.parts {
		e, ok := p.(expression)
		if !ok {
			w.WriteString(p.(constant).v.(string))
			continue
		}
		v, err := e.eval(r)
		if err != nil {
			return nil, err
		}
		text, err := r.text(v)
		if w.put(text); cmp.Or(err, w.err) != nil {
			return nil, e.fails(cmp.Or(err, w.err))
		}
	}
	return w.String(), nil
}

func (e expression) evalPart(r *run) (any, error) {
	v, err := e.eval(r)
	if err != nil {
		return nil, err
	}
	if v, err = r.leaving(v, e.builds); err != nil {
		return nil, e.fails(err)
	}
	return v, nil
}

// eval returns the value of the expression in its form within expressions.
func (e expression) eval(r *run) (any, error) {
	v, err := e.root.eval(r)
	if err != nil {
		return nil, e.fails(err)
	}
	return v, nil
}

func (e expression) fails(err error) error {
	return &expr.Error{Pointer: e.pointer, Offset: e.offset, Text: e.source, Msg: fmt.Sprintf("%s: %v", expr.Clip(e.source), err), Err: err}
}

// compiler compiles a value.
type compiler struct {
	names []string
	reads map[string]*reads
	errs  []error
}

func (c *compiler) value(v value.Value, path value.Pointer) part {
	switch v := v.(type) {
	case string:
		return c.text(v, path)
	case []any:
		l := list{parts: make([]part, len(v))}
		for i, x := range v {
			l.parts[i] = c.value(x, append(path, strconv.Itoa(i)))
		}
		return fixed(v, l, l.parts)
	case map[string]any:
		var m members
		for _, k := range slices.Sorted(maps.Keys(v)) {
			m.keys = append(m.keys, k)
			m.parts = append(m.parts, c.value(v[k], append(path, k)))
		}
		return fixed(v, m, m.parts)
	}
	return constant{v}
}

// oneNewline normalizes line ends, as Jinja does in a text with expressions.
var oneNewline = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// fixed keeps a value without expressions unchanged.
func fixed(v any, p part, parts []part) part {
	for _, x := range parts {
		if _, ok := x.(constant); !ok {
			return p
		}
	}
	return constant{v}
}

func withoutLastNewline(s string) string {
	for _, newline := range []string{"\r\n", "\n", "\r"} {
		if rest, ok := strings.CutSuffix(s, newline); ok {
			return rest
		}
	}
	return s
}

func (c *compiler) text(s string, path value.Pointer) part {
	filled := strings.Contains(s, "{{") || strings.Contains(s, "{#")
	if filled {
		s = withoutLastNewline(s) // which YAML's | and > leave after a single expression
	}
	pieces, f := scan(s)
	if f != nil {
		c.fault(path, f.at, s[f.at:], f)
		return constant{s}
	}
	var parts []part
	for _, p := range pieces {
		if !p.expression {
			if filled {
				p.text = oneNewline.Replace(p.text)
			}
			parts = append(parts, constant{p.text})
			continue
		}
		source := s[p.from:p.to]
		root, parsed, f := parse(p.text)
		if f != nil {
			c.fault(path, p.at+f.at, source, f)
			continue
		}
		c.note(root, parsed.names)
		parts = append(parts, expression{root, parsed.builds, path.String(), p.from, source})
	}
	switch {
	case len(parts) == 0:
		return constant{""}
	case len(parts) == 1:
		return parts[0]
	}
	return mixed{parts}
}

func (c *compiler) fault(path value.Pointer, offset int, source string, f *fault) {
	c.errs = append(c.errs, &expr.Error{
		Pointer: path.String(), Offset: offset, Text: source, Msg: fmt.Sprintf("malformed expression %s: %s", expr.Clip(source), f.msg),
	})
}

// note records the names that an expression uses.
func (c *compiler) note(root node, names []string) {
	for _, n := range names {
		if !slices.Contains(c.names, n) {
			c.names = append(c.names, n)
		}
	}
	watch(root, c.reads)
}
