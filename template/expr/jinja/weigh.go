package jinja

import (
	"errors"
	"fmt"
	"math"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// scan pays for visiting n bytes of text, which is much faster than a step each.
func (r *run) scan(n int) error { return r.spend(n / 64) }

// touch pays for an operation on a value, which may visit a text. Lists are paid for when they are visited.
func (r *run) touch(v any) error {
	s, _ := v.(string)
	return r.spend(1 + len(s)/64)
}

// weight is the result of visiting a value.
type weight struct {
	size    int  // in bytes, when it is written; about
	foreign bool // something in it is not of package value
}

// weigh pays for visiting a value and everything in it. A filter can put one long text into a list a thousand times, and
// that list into another, so such a value is weighed before it is visited. A weighed value is within the depth that the
// model allows.
func (r *run) weigh(v any) (w weight, err error) { return w, r.weighAt(v, 0, &w) }

func (r *run) weighAt(v any, depth int, w *weight) error {
	w.size += 4
	switch v := v.(type) {
	case string:
		w.size += len(v)
		return r.scan(len(v))
	case float64:
		w.foreign = w.foreign || v == math.Trunc(v) || math.IsNaN(v)
		return nil
	case undefined, tuple, group, dict:
		w.foreign = true
	}
	if list, ok := sequence(v); ok {
		if err := r.enter(len(list), depth); err != nil {
			return err
		}
		for _, x := range list {
			if err := r.weighAt(x, depth+1, w); err != nil {
				return err
			}
		}
		return nil
	}
	m, ok := mappingOf(v)
	if !ok {
		return nil
	}
	if err := r.enter(m.size(), depth); err != nil {
		return err
	}
	return m.each(func(k, x any) error {
		if s, ok := k.(string); ok {
			w.size += len(s) + 4
		} else if err := r.weighAt(k, depth+1, w); err != nil {
			return err
		}
		return r.weighAt(x, depth+1, w)
	})
}

// each visits the entries, in no particular order.
func (m mapping) each(f func(key, x any) error) error {
	for k, x := range m.texts {
		if err := f(k, x); err != nil {
			return err
		}
	}
	for _, e := range m.other {
		if err := f(e.key, e.value); err != nil {
			return err
		}
	}
	return nil
}

// enter pays for a list or an object of n elements.
func (r *run) enter(n, depth int) error {
	if depth >= value.MaxDepth {
		return fmt.Errorf("its values nest deeper than %d levels: %w", value.MaxDepth, expr.ErrLimit)
	}
	return r.spend(n + 1)
}

// leaving converts a value to the result of an expression: of package value, and weighed if it may have been made here.
func (r *run) leaving(v any, made bool) (any, error) {
	switch v.(type) {
	case []any, map[string]any:
		if !made {
			return v, nil
		}
		w, err := r.weigh(v)
		if err != nil || !w.foreign {
			return v, err
		}
	case tuple, group, dict:
		if _, err := r.weigh(v); err != nil {
			return nil, err
		}
	}
	return r.settled(v)
}

// settled converts a weighed value to one of package value: undefined becomes null, and a tuple a list.
func (r *run) settled(v any) (any, error) {
	switch v := v.(type) {
	case undefined:
		return nil, nil
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, errOverflow
		}
		return whole(v), nil
	}
	if list, ok := sequence(v); ok {
		if err := r.room(len(list)); err != nil {
			return nil, err
		}
		out := make([]any, len(list))
		for i, x := range list {
			var err error
			if out[i], err = r.settled(x); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if m, ok := mappingOf(v); ok {
		return r.settledObject(m)
	}
	return v, nil
}

func (r *run) settledObject(m mapping) (any, error) {
	entries, err := r.pairs(m)
	if err != nil {
		return nil, err
	}
	out := make(map[string]any, len(entries))
	for _, e := range entries {
		key, err := keyText(e.key)
		if err != nil {
			return nil, err
		}
		if _, twice := out[key]; twice {
			return nil, fmt.Errorf("two of its keys are written %s", expr.Quote(key))
		}
		if out[key], err = r.settled(e.value); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// keyText returns a key as a string, for JSON.
func keyText(key any) (string, error) {
	switch k := key.(type) {
	case string:
		return k, nil
	case nil:
		return "null", nil
	case bool:
		if k {
			return "true", nil
		}
		return "false", nil
	case int64, float64:
		return shown(k), nil
	}
	return "", errors.New("a key must be a string, a number, true, false or null where an object leaves an expression, not " + describe(key))
}
