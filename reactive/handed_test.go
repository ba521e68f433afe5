package reactive_test

import (
	"reflect"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// handed is a returned value and a copy made when it was returned.
type handed struct {
	what   string
	v, was any
}

// hold records a returned value, once. The value must never change.
func (r *randomRun) hold(what string, v any) {
	ref := reflect.ValueOf(v)
	if k := ref.Kind(); k != reflect.Map && k != reflect.Slice || r.known[ref.Pointer()] {
		return
	}
	if r.known == nil {
		r.known = map[uintptr]bool{}
	}
	r.known[ref.Pointer()] = true
	var was any
	require.NoError(r.t, value.Convert(v, &was), what)
	r.handed = append(r.handed, handed{what, v, was})
}

// holdAll records all values that a run returns after an event.
func (r *randomRun) holdAll(e *journal.Event) {
	r.hold("the value of "+e.Type.String(), e.Value)
	if e.Detail != nil && e.Detail.Failure != nil {
		r.hold("the details of a failure", e.Detail.Failure.Details)
	}
	for _, name := range []string{"input", "run"} {
		if v, err := r.root.Env(-1).Name(name); err == nil {
			r.hold(name, v)
		}
	}
	for v := range r.root.Len() {
		if r.root.Status(v) == reactive.Absent {
			continue
		}
		key := r.root.Key(v)
		r.hold("the output of "+key, r.root.Output(v))
		r.hold("the input of "+key, r.root.Requested(v))
		if item, err := r.root.Env(v).Name("item"); err == nil {
			r.hold("the item of "+key, item)
		}
		if f := r.root.Failure(v); f != nil {
			r.hold("the details of "+key, f.Details)
		}
	}
	if r.root.Done() {
		r.hold("the output of the run", r.root.Verdict().Output)
	}
}

// checkHanded checks that the recorded values are unchanged.
func (r *randomRun) checkHanded() {
	for _, h := range r.handed {
		require.True(r.t, reflect.DeepEqual(h.v, h.was), "%s was written to after it had been handed out: %v, and was %v", h.what, h.v, h.was)
	}
}
