package jinja

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// scan pays for going through n bytes of text, which is much faster than a step each.
func (r *run) scan(n int) error { return r.spend(n / 64) }

// touch pays for whatever is then done with a value, which may go through a text. Lists pay where they are gone through.
func (r *run) touch(v any) error {
	s, _ := v.(string)
	return r.spend(1 + len(s)/64)
}

// weight is what a walk through a value has found.
type weight struct {
	size  int  // in bytes, when it is written; about
	holes bool // something in it is undefined
}

// weigh pays for going through a value, all the way down. A filter can put one long text into a list a thousand times, and
// that list into another: whoever walks such a value weighs it first. What has been weighed nests no deeper than the model
// allows.
func (r *run) weigh(v any) (w weight, err error) { return w, r.weighAt(v, 0, &w) }

func (r *run) weighAt(v any, depth int, w *weight) error {
	w.size += 4
	switch v := v.(type) {
	case undefined:
		w.holes = depth > 0
	case string:
		w.size += len(v)
		return r.scan(len(v))
	case []any:
		if err := r.enter(len(v), depth); err != nil {
			return err
		}
		for _, x := range v {
			if err := r.weighAt(x, depth+1, w); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := r.enter(len(v), depth); err != nil {
			return err
		}
		for k, x := range v {
			w.size += len(k) + 4
			if err := r.weighAt(x, depth+1, w); err != nil {
				return err
			}
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

// finished is a value as others see it: weighed, and with null for what is undefined in it.
func (r *run) finished(v any) (any, weight, error) {
	w, err := r.weigh(v)
	if err == nil && w.holes {
		err = r.grow(w.size * slotBytes)
	}
	if err != nil || !w.holes {
		return v, w, err
	}
	return filled(v), w, nil
}

func filled(v any) any {
	switch v := v.(type) {
	case undefined:
		return nil
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = filled(x)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = filled(x)
		}
		return out
	}
	return v
}

// text is a value as it reads in a text.
func (r *run) text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	v, w, err := r.finished(v)
	if err == nil {
		err = r.grow(w.size)
	}
	if err != nil {
		return "", err
	}
	return show(v), nil
}

// equal compares two values; what is undefined equals only its like. The walk goes through both at once, so only one of them
// is paid for.
func (r *run) equal(a, b any) (bool, error) {
	switch a.(type) {
	case string, []any, map[string]any:
		if _, err := r.weigh(a); err != nil {
			return false, err
		}
	}
	return same(a, b), nil
}

func same(a, b any) bool {
	switch a := a.(type) {
	case undefined:
		_, ok := b.(undefined)
		return ok
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, same)
	}
	_, ok := b.(undefined)
	return !ok && value.Equal(a, b)
}

// brief names a value in a message: what it is and, if that is short, the value itself.
func brief(v any) string {
	switch v := v.(type) {
	case bool, int64, float64:
		return show(v)
	case string:
		return expr.Quote(v)
	}
	return describe(v)
}
