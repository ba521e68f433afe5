package net_test

import (
	"fmt"
	"reflect"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/value"
)

// handedOut records returned values, if enabled. The values must never change.
type handedOut struct {
	handed []handed
	known  map[uintptr]bool // already held; nil: not enabled
}

// handed is a returned value and a copy made when it was returned.
type handed struct {
	what   string
	v, was any
}

// hold records a returned value, once. The value must never change.
func (b *table) hold(what string, v any) {
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Map, reflect.Slice:
		if !b.known[r.Pointer()] {
			b.known[r.Pointer()] = true
			b.handed = append(b.handed, handed{what, v, b.copied(v, 0)})
		}
	}
}

// copied returns a deep copy. A value that contains itself was changed after it was returned.
func (b *table) copied(v any, depth int) any {
	require.LessOrEqual(b.t, depth, 2*value.MaxDepth, "a value holds itself")
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = b.copied(v[i], depth+1)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = b.copied(x, depth+1)
		}
		return out
	}
	return v
}

// holdAll records all values that a run returns after a turn.
func (b *table) holdAll(out decide.StepResult) {
	if b.known == nil {
		return
	}
	for i := range out.Batch {
		b.holdEvent(&out.Batch[i])
	}
	for _, req := range b.root.OpenCalls() {
		b.hold("the input of "+b.root.Key(req.Node), b.root.Requested(req.Node))
	}
	n := b.net()
	b.hold("the context", n.Context())
	b.hold("the workload", n.Workload())
	for i := range n.Playbook().Steps {
		b.hold("the result of "+n.Step(i).Step, n.Step(i).Result)
	}
	for _, w := range n.Waits() {
		b.hold("what the gate of "+w.Step+" reads", w.Reads)
	}
}

func (b *table) holdEvent(e *journal.Event) {
	what := fmt.Sprintf("event %d (%s)", e.Seq, e.Type)
	b.hold("the value of "+what, e.Value)
	if e.Detail == nil {
		return
	}
	b.hold("the metadata of the output in "+what, e.Detail.About)
	if e.Detail.Failure != nil {
		b.hold("the details of the failure in "+what, e.Detail.Failure.Details)
	}
}

func (b *table) holdView(v routed.View) {
	b.hold(fmt.Sprintf("what was read at %s (%s)", v.Name, v.Step), v.Reads)
}

// checkHanded checks that the recorded values are unchanged.
func (b *table) checkHanded() {
	for _, h := range b.handed {
		if !reflect.DeepEqual(h.v, h.was) {
			require.Equal(b.t, h.was, b.copied(h.v, 0), "%s was written to after it had been handed out", h.what)
		}
	}
}
