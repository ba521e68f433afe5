package jinja

import (
	"fmt"

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

// weigh pays for going through a value, all the way down, and gives about how many bytes it takes when written. A filter can
// put one long text into a list a thousand times, and that list into another: whoever walks such a value weighs it first.
// What has been weighed nests no deeper than the model allows.
func (r *run) weigh(v any) (size int, err error) { return r.weighAt(v, 0) }

func (r *run) weighAt(v any, depth int) (size int, err error) {
	switch v := v.(type) {
	case string:
		return len(v) + 2, r.scan(len(v))
	case []any:
		if err := r.enter(len(v), depth); err != nil {
			return 0, err
		}
		for _, x := range v {
			n, err := r.weighAt(x, depth+1)
			if err != nil {
				return 0, err
			}
			size += n + 1
		}
	case map[string]any:
		if err := r.enter(len(v), depth); err != nil {
			return 0, err
		}
		for k, x := range v {
			n, err := r.weighAt(x, depth+1)
			if err != nil {
				return 0, err
			}
			size += len(k) + n + 4
		}
	}
	return size + 2, nil
}

// enter pays for a list or an object of n elements.
func (r *run) enter(n, depth int) error {
	if depth >= value.MaxDepth {
		return fmt.Errorf("its values nest deeper than %d levels: %w", value.MaxDepth, expr.ErrLimit)
	}
	return r.spend(n + 1)
}

// text is a value as it reads in a text.
func (r *run) text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	size, err := r.weigh(v)
	if err == nil {
		err = r.grow(size)
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
	_, ua := a.(undefined)
	_, ub := b.(undefined)
	if ua || ub {
		return ua && ub
	}
	return value.Equal(a, b)
}

// brief names a value in a message: what it is and, if that is short, the value itself.
func brief(v any) string {
	switch v := v.(type) {
	case bool, int64, float64:
		return show(v)
	case string:
		return fmt.Sprintf("%q", clip(v))
	}
	return describe(v)
}
