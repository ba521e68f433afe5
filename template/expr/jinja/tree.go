package jinja

import (
	"errors"
	"fmt"
	"math"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// ErrUndefined is what an Env's Name returns for a name that it does not know. The name is then undefined, which is no
// error as long as nobody reads a field of it or reckons with it.
var ErrUndefined = errors.New("jinja: undefined")

// Fallback may be implemented by an Env. Under gives what is read under a key of a variable that does not hold the key, and
// whether it is anything.
type Fallback interface {
	Under(name, key string) (value.Value, bool)
}

// undefined stands for what is not there; it says what that is.
type undefined struct{ what string }

// node is a part of an expression.
type node interface {
	eval(r *run) (any, error)
}

// run is one evaluation: where values come from, and how much may still be done. It belongs to one goroutine.
type run struct {
	env   expr.Env
	steps int // left
	bytes int // left
}

// spend pays for n steps of work before they are done.
func (r *run) spend(n int) error {
	if n > r.steps {
		r.steps = 0
		return fmt.Errorf("it takes more than %d steps: %w", expr.MaxSteps, expr.ErrLimit)
	}
	r.steps -= n
	return nil
}

// grow pays for n bytes of values before they are made. Lists cost their elements' size as well.
func (r *run) grow(n int) error {
	if n < 0 || n > r.bytes {
		r.bytes = 0
		return fmt.Errorf("its values take more than %d bytes: %w", expr.MaxBytes, expr.ErrLimit)
	}
	r.bytes -= n
	return nil
}

const slotBytes = 16 // an element of a list

// room pays for a list of n elements.
func (r *run) room(n int) error {
	if n > expr.MaxBytes/slotBytes {
		return r.grow(expr.MaxBytes + 1)
	}
	if err := r.grow(n * slotBytes); err != nil {
		return err
	}
	return r.spend(n)
}

type (
	literal          struct{ v any }
	undefinedLiteral struct{}
	variable         struct{ name string }
	listing          struct{ items []node }
	object           struct{ keys, values []node }
	attribute        struct {
		of  node
		key string
	}
	item  struct{ of, index node }
	slice struct {
		of    node
		parts [3]node // from, to, step; nil: not given
	}
	choice struct{ test, yes, no node }
	logic  struct {
		left, right node
		or          bool
	}
	negation struct{ of node }
	sign     struct {
		minus bool
		of    node
	}
	link struct {
		op    string
		right node
	}
	comparison struct {
		first node
		links []link
	}
	arithmetic struct {
		op          string
		left, right node
	}
	arguments struct {
		list  []node
		names []string
		named []node
	}
	filtered struct {
		of   node
		name string
		args arguments
	}
	tested struct {
		of   node
		name string
		args arguments
	}
	method struct {
		of   node
		name string
		args arguments
	}
	function struct {
		name string
		args arguments
	}
)

func (n literal) eval(*run) (any, error) { return n.v, nil }
func (undefinedLiteral) eval(*run) (any, error) {
	return undefined{"the value of an if without else"}, nil
}

func (n variable) eval(r *run) (any, error) {
	v, err := r.env.Name(n.name)
	if errors.Is(err, ErrUndefined) {
		return undefined{n.name}, nil
	}
	return v, err
}

func (n listing) eval(r *run) (any, error) { return r.all(n.items) }

func (r *run) all(nodes []node) ([]any, error) {
	if err := r.room(len(nodes)); err != nil {
		return nil, err
	}
	return r.each(nodes)
}

// settled is a value as it leaves a template: what is undefined is null there.
func settled(v any) any {
	if _, ok := v.(undefined); ok {
		return nil
	}
	return v
}

func (n object) eval(r *run) (any, error) {
	if err := r.room(4 * len(n.keys)); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(n.keys))
	for i, k := range n.keys {
		key, err := k.eval(r)
		if err != nil {
			return nil, err
		}
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("a key must be a string, not %s", describe(key))
		}
		v, err := n.values[i].eval(r)
		if err != nil {
			return nil, err
		}
		out[name] = v
	}
	return out, nil
}

func (n attribute) eval(r *run) (any, error) {
	of, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	if u, ok := of.(undefined); ok {
		return nil, fmt.Errorf("%s is undefined: it has no %q", u.what, n.key)
	}
	if v, ok := r.member(n.of, of, n.key); ok {
		return v, nil
	}
	return undefined{n.key}, nil
}

// member is what a value holds under a key, or what the environment has for it; n is the node that gave the value.
func (r *run) member(n node, of any, key string) (any, bool) {
	m, _ := of.(map[string]any)
	if v, ok := m[key]; ok {
		return v, true
	}
	v, isName := n.(variable)
	f, has := r.env.(Fallback)
	if !isName || !has {
		return nil, false
	}
	return f.Under(v.name, key)
}

func (n item) eval(r *run) (any, error) {
	of, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	index, err := n.index.eval(r)
	if err != nil {
		return nil, err
	}
	if key, ok := index.(string); ok {
		if _, missing := of.(undefined); !missing {
			if v, ok := r.member(n.of, of, key); ok {
				return v, nil
			}
		}
	}
	return lookup(of, index)
}

// lookup is what stands in a value under a key or an index.
func lookup(of, index any) (any, error) {
	switch of := of.(type) {
	case undefined:
		return nil, fmt.Errorf("%s is undefined: it has no [%s]", of.what, brief(index))
	case map[string]any:
		if k, ok := index.(string); ok {
			if v, ok := of[k]; ok {
				return v, nil
			}
		}
	case []any:
		if i, ok := index.(int64); ok {
			if i < 0 {
				i += int64(len(of))
			}
			if i >= 0 && i < int64(len(of)) {
				return of[i], nil
			}
		}
	case string:
		if i, ok := index.(int64); ok {
			runes := []rune(of)
			if i < 0 {
				i += int64(len(runes))
			}
			if i >= 0 && i < int64(len(runes)) {
				return string(runes[i]), nil
			}
		}
	}
	return undefined{"[" + brief(index) + "]"}, nil
}

func (n slice) eval(r *run) (any, error) {
	of, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	var bounds [3]*int64
	for i, part := range n.parts {
		if part == nil {
			continue
		}
		v, err := part.eval(r)
		if err != nil {
			return nil, err
		}
		if v == nil {
			continue
		}
		b, ok := v.(int64)
		if !ok {
			return nil, fmt.Errorf("a slice goes by whole numbers, not %s", describe(v))
		}
		bounds[i] = &b
	}
	switch of := of.(type) {
	case []any:
		return cut(r, of, bounds)
	case string:
		runes, err := cut(r, []rune(of), bounds)
		return string(runes), err
	}
	return nil, fmt.Errorf("only lists and strings have slices, not %s", describe(of))
}

// cut takes the elements that a slice names, as in Python.
func cut[T any](r *run, list []T, bounds [3]*int64) ([]T, error) {
	size, step := int64(len(list)), int64(1)
	if bounds[2] != nil {
		step = *bounds[2]
	}
	if step == 0 || step == math.MinInt64 {
		return nil, errors.New("the step of a slice must not be 0")
	}
	low, high := int64(0), size
	if step < 0 {
		low, high = -1, size-1
	}
	bound := func(b *int64, none int64) int64 {
		if b == nil {
			return none
		}
		i := *b
		if i < 0 {
			i = max(i+size, low)
		}
		return min(max(i, low), high)
	}
	from, to := bound(bounds[0], low), bound(bounds[1], high)
	if step < 0 {
		from, to = bound(bounds[0], high), bound(bounds[1], low)
	}
	var out []T
	for i := from; step > 0 && i < to || step < 0 && i > to; i += step {
		if i < 0 || i >= size {
			break
		}
		if err := r.room(1); err != nil {
			return nil, err
		}
		out = append(out, list[i])
	}
	if out == nil {
		out = []T{}
	}
	return out, nil
}

func (n choice) eval(r *run) (any, error) {
	v, err := n.test.eval(r)
	if err != nil {
		return nil, err
	}
	if truth(v) {
		return n.yes.eval(r)
	}
	return n.no.eval(r)
}

// truth is what a value is in a condition, as in Python.
func truth(v any) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

func (n logic) eval(r *run) (any, error) {
	v, err := n.left.eval(r)
	if err != nil || truth(v) == n.or {
		return v, err
	}
	return n.right.eval(r)
}

func (n negation) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	return !truth(v), err
}

func (n filtered) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	a, err := r.arguments(n.args)
	if err != nil {
		return nil, err
	}
	return r.filter(n.name, v, a)
}

func (r *run) filter(name string, v any, a args) (any, error) {
	if err := r.touch(v); err != nil {
		return nil, err
	}
	out, err := filters[name].do(r, v, a)
	if err != nil {
		return nil, fmt.Errorf("filter %s: %w", name, err)
	}
	return out, nil
}

func (n tested) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	a, err := r.arguments(n.args)
	if err != nil {
		return nil, err
	}
	return r.test(n.name, v, a)
}

func (r *run) test(name string, v any, a args) (any, error) {
	if err := r.touch(v); err != nil {
		return nil, err
	}
	return tests[name].do(r, v, a)
}

func (n method) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	if u, ok := v.(undefined); ok {
		return nil, fmt.Errorf("%s is undefined: it has no method %s", u.what, n.name)
	}
	a, err := r.arguments(n.args)
	if err != nil {
		return nil, err
	}
	if err := r.touch(v); err != nil {
		return nil, err
	}
	if key, ok := a.key(); ok && n.name == "get" {
		if x, ok := r.member(n.of, v, key); ok {
			return x, nil
		}
	}
	out, err := methods[n.name].do(r, v, a)
	if err != nil {
		return nil, fmt.Errorf("method %s: %w", n.name, err)
	}
	return out, nil
}

func (n function) eval(r *run) (any, error) {
	a, err := r.arguments(n.args)
	if err != nil {
		return nil, err
	}
	out, err := functions[n.name].do(r, nil, a)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.name, err)
	}
	return out, nil
}

func describe(v any) string {
	if u, ok := v.(undefined); ok {
		return u.what + ", which is undefined"
	}
	return value.Describe(v)
}
