package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// Version is the version of the language. It increases when a template may return another result than before, so that a run
// that was started under one version is not continued under another.
const Version = 2

// Scope lists the names that a template may use besides `steps`.
type Scope struct {
	Names []string // the variables known here: input, run, item, index, participant, attempt, …

	// Keys are the keys of objects that have no others: by variable, or by "steps.error" for the field of every step. A literal
	// key that is not among them is refused, because it would always read as null.
	Keys map[string][]string
}

// Env supplies the values that a template reads, on demand. They are values of package value.
type Env interface {
	// Name returns a variable, which is one of the Scope's.
	Name(name string) (value.Value, error)

	// Step returns a field of a step. It returns ErrSkipped, bare or wrapped, for the output of a step that was skipped,
	// ErrNoOutput for that of a step whose failure was caught, and other errors for outputs missing for other reasons.
	Step(id string, f Field) (value.Value, error)
}

// Template is a compiled value with expressions in it. It is immutable and safe for concurrent use.
type Template struct {
	root  node
	slots int // variables of `let`
	reads []Read
	names []string
	keys  map[string]*keySet // by name, and by name and key, see inner

	fixed    bool
	constant value.Value // if fixed
	text     bool
}

// Compile compiles a string. The error is one *Error, or several joined.
func Compile(text string, scope Scope) (*Template, error) { return CompileValue(text, scope) }

// Trim returns a value that is to be one expression without surrounding white space, which YAML's | and > leave. It returns
// other values than strings unchanged.
func Trim(v value.Value) value.Value {
	if text, ok := v.(string); ok {
		return strings.TrimSpace(text)
	}
	return v
}

// CompileValue compiles any value with expressions in its strings (keys are never expressions), and with from pointers:
// objects whose only keys are from and, optionally, required. The error is one *Error, or several joined in the order of the
// value, keys sorted. The template may share memory with v. Offsets are in value.Of(v), which differs from v only where a
// string was not valid UTF-8.
func CompileValue(v value.Value, scope Scope) (*Template, error) {
	v, err := value.Of(v)
	if err != nil {
		return nil, &Error{Msg: err.Error(), Err: err}
	}
	c := &compiler{scope: scope.Names, known: scope.Keys}
	root := c.value(v, nil)
	if len(c.errs) > 0 {
		return nil, errors.Join(c.errs...)
	}
	t := &Template{root: root, slots: c.slots, reads: c.reads, names: c.names, keys: c.keys}
	if _, isString := v.(string); isString {
		t.text = c.mixed
	}
	t.settle(v)
	return t, nil
}

// settle marks the template as a constant if it reads nothing and quickly returns a value. A template that fails is left to
// fail when it is evaluated, which may never happen.
func (t *Template) settle(v value.Value) {
	const steps, bytes = 1000, 16 << 10 // enough for common expressions, and little in a document full of them
	if t.root == nil {
		t.fixed, t.constant = true, v
		return
	}
	if len(t.reads) > 0 || len(t.names) > 0 {
		return
	}
	r := run{steps: steps, bytes: bytes, vars: make([]value.Value, t.slots)}
	if v, err := t.root(&r); err == nil {
		t.fixed, t.constant = true, v
	}
}

// Reads returns every read of a step, in order of appearance. The caller must not change the result.
func (t *Template) Reads() []Read { return t.reads }

// Names returns the names of the Scope that are used, each once, in order of appearance. The caller must not change the
// result.
func (t *Template) Names() []string { return t.names }

// Constant returns the value of a template that reads nothing. It reports false for any other.
func (t *Template) Constant() (value.Value, bool) { return t.constant, t.fixed }

// Text reports whether the template is a text around expressions, whose value is always a string.
func (t *Template) Text() bool { return t.text }

// Eval returns the template's value in env. The error is an *Error that names the expression and wraps the error of env, or
// ErrLimit. The result may share memory with env and must not be changed.
func (t *Template) Eval(env Env) (value.Value, error) {
	if t.fixed {
		return t.constant, nil
	}
	quota, err := Begin(env)
	if err != nil {
		return nil, err
	}
	r := newRun(env, quota, t.slots)
	v, err := t.root(&r)
	r.settle()
	return v, err
}

// EvalBool is Eval for a guard, which must return true or false; null does not hold. See Guards in the documentation of the
// package.
func (t *Template) EvalBool(env Env) (bool, error) {
	v, err := t.constant, error(nil)
	if !t.fixed { // a constant does not depend on the treatment of null
		var quota Quota
		if quota, err = Begin(env); err != nil {
			return false, err
		}
		r := newRun(env, quota, t.slots)
		r.guard = true
		v, err = t.root(&r)
		r.settle()
	}
	if err != nil || v == nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, &Error{Msg: fmt.Sprintf("a condition must give true or false, but it gave %s", show(v))}
	}
	return b, nil
}

// show describes a value in a message: its kind and, if it is short, the value itself.
func show(v value.Value) string {
	switch v := v.(type) {
	case int64, float64:
		return fmt.Sprintf("%s (%s)", value.Describe(v), value.Text(v))
	case string:
		return fmt.Sprintf("%s (%s)", value.Describe(v), Quote(v))
	}
	return value.Describe(v)
}
