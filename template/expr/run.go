package expr

import (
	"fmt"

	"github.com/sluiceflow/sluice/template/value"
)

// run is one evaluation: its environment, its variables, and the remaining work. It belongs to one goroutine. It takes 64
// bytes, because every evaluation makes one.
type run struct {
	env   Env
	steps int32 // left
	bytes int32 // left
	vars  []value.Value
	frame *frame // of the innermost predicate; nil outside
	guard bool   // null has null members, and does not hold
	quota Quota
}

func newRun(env Env, quota Quota, slots int) run {
	r := run{env: env, steps: int32(quota.Steps()), bytes: int32(quota.Bytes()), quota: quota}
	if slots > 0 {
		r.vars = make([]value.Value, slots)
	}
	return r
}

// frame is the state of a loop that its predicate can read.
type frame struct {
	item  value.Value
	index int
	acc   value.Value // of reduce
}

// settle adds the work of the evaluation to env's meter.
func (r *run) settle() { Spend(r.env, r.quota.Steps()-int(r.steps), r.quota.Bytes()-int(r.bytes)) }

// spend pays for n steps of work before they are done.
func (r *run) spend(n int) error {
	if n > int(r.steps) {
		r.steps = 0
		return fmt.Errorf("it takes more than %d steps: %w", r.quota.Steps(), ErrLimit)
	}
	r.steps -= int32(n)
	return nil
}

// grow pays for a value of about n bytes before it is made.
func (r *run) grow(n int) error {
	if n > int(r.bytes) {
		r.bytes = 0
		return fmt.Errorf("its values take more than %d bytes: %w", r.quota.Bytes(), ErrLimit)
	}
	r.bytes -= int32(n)
	return nil
}

// Sizes in memory, for grow.
const (
	slotBytes   = 16 // an element of a list
	memberBytes = 64 // a key and a value of an object
)

// newList pays for a list of n elements.
func (r *run) newList(n int) ([]any, error) {
	// The division comes first, because n comes from a text and may be any number.
	if n > MaxBytes/slotBytes {
		return nil, r.grow(MaxBytes + 1)
	}
	if err := r.grow(n * slotBytes); err != nil {
		return nil, err
	}
	return make([]any, 0, n), nil
}

// scan pays for visiting n bytes of text, which is much faster than a step each.
func (r *run) scan(n int) error { return r.spend(n / 64) }

// weigh pays for visiting v and everything in it, and returns its approximate size in bytes when written. Values made by
// expressions can be small graphs of shared lists that expand beyond memory, and lists nested a hundred thousand deep, so
// they are weighed before they are visited. A weighed value is within the depth that the model allows.
func (r *run) weigh(v value.Value) (size int, err error) { return r.weighAt(v, 0) }

// weighAt is weigh of a value that is nested depth levels deep. The numbers are upper estimates of the size in JSON.
func (r *run) weighAt(v value.Value, depth int) (size int, err error) {
	switch v := v.(type) {
	case string:
		return len(v) + 2, r.scan(len(v))
	case []any:
		if err := r.enter(len(v), depth); err != nil {
			return 0, err
		}
		for _, item := range v {
			n, err := r.weighAt(item, depth+1)
			if err != nil {
				return 0, err
			}
			size += n + 1
		}
	case map[string]any:
		if err := r.enter(len(v), depth); err != nil {
			return 0, err
		}
		for key, item := range v {
			n, err := r.weighAt(item, depth+1)
			if err != nil {
				return 0, err
			}
			size += len(key) + n + 4
		}
	}
	return size + 2, nil
}

// enter pays for a list or object of n elements.
func (r *run) enter(n, depth int) error {
	if depth >= value.MaxDepth {
		return fmt.Errorf("its values nest deeper than %d levels: %w", value.MaxDepth, ErrLimit)
	}
	return r.spend(n + 1)
}

// text returns v as part of a text.
func (r *run) text(v value.Value) (string, error) {
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
	return value.Text(v), nil
}

// equal compares two values.
func (r *run) equal(a, b value.Value) (bool, error) {
	// The walk visits both at once, so only one of them need be finite and counted.
	switch a.(type) {
	case string, []any, map[string]any:
		if _, err := r.weigh(a); err != nil {
			return false, err
		}
	}
	return value.Equal(a, b), nil
}
