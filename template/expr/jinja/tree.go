package jinja

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/template/expr"
)

// ErrUndefined is the error of an Env's Name for an unknown name. The name is then undefined, which is an error only if an
// expression reads a field of it or computes with it.
var ErrUndefined = errors.New("jinja: undefined")

// node is a part of an expression.
type node interface {
	eval(r *run) (any, error)
}

// run is one evaluation: its environment and the remaining work. It belongs to one goroutine.
type run struct {
	env   expr.Env
	guard bool // texts are tested as in a guard
	steps int  // left
	bytes int  // left
	quota expr.Quota
}

func newRun(env expr.Env, quota expr.Quota) *run {
	return &run{env: env, steps: quota.Steps(), bytes: quota.Bytes(), quota: quota}
}

// settle adds the work of the evaluation to env's meter.
func (r *run) settle() { expr.Spend(r.env, r.quota.Steps()-r.steps, r.quota.Bytes()-r.bytes) }

// spend pays for n steps of work before they are done.
func (r *run) spend(n int) error {
	if n < 0 || n > r.steps {
		r.steps = 0
		return fmt.Errorf("it takes more than %d steps: %w", r.quota.Steps(), expr.ErrLimit)
	}
	r.steps -= n
	return nil
}

// grow pays for n bytes of values before they are made. Lists cost their elements' size as well.
func (r *run) grow(n int) error {
	if n < 0 || n > r.bytes {
		r.bytes = 0
		return fmt.Errorf("its values take more than %d bytes: %w", r.quota.Bytes(), expr.ErrLimit)
	}
	r.bytes -= n
	return nil
}

const slotBytes = 16 // an element of a list

// room pays for a list of n elements.
func (r *run) room(n int) error {
	if n > expr.MaxBytes/slotBytes {
		return r.grow(-1)
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
	listing          struct {
		items []node
		tuple bool
	}
	object struct{ keys, values []node }
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

func (n listing) eval(r *run) (any, error) {
	if err := r.room(len(n.items)); err != nil {
		return nil, err
	}
	list, err := r.each(n.items)
	if err == nil && n.tuple {
		return tuple(list), nil
	}
	return list, err
}

func (r *run) each(nodes []node) ([]any, error) {
	list := make([]any, len(nodes))
	for i, n := range nodes {
		v, err := n.eval(r)
		if err != nil {
			return nil, err
		}
		list[i] = v
	}
	return list, nil
}

func (n object) eval(r *run) (any, error) {
	list := make([]entry, len(n.keys))
	for i := range n.keys {
		var err error
		if list[i].key, err = n.keys[i].eval(r); err != nil {
			return nil, err
		}
		if list[i].value, err = n.values[i].eval(r); err != nil {
			return nil, err
		}
	}
	return r.object(list)
}

func (n choice) eval(r *run) (any, error) {
	v, err := n.test.eval(r)
	if err != nil {
		return nil, err
	}
	if r.holds(v) {
		return n.yes.eval(r)
	}
	return n.no.eval(r)
}

func (n logic) eval(r *run) (any, error) {
	v, err := n.left.eval(r)
	if err != nil || r.holds(v) == n.or {
		return v, err
	}
	return n.right.eval(r)
}

func (n negation) eval(r *run) (any, error) {
	v, err := n.of.eval(r)
	if err != nil {
		return nil, err
	}
	return !r.holds(v), nil
}
