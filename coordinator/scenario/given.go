package scenario

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator/scenario/expected"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// inputs reads the expected inputs of the last calls of several steps.
func (r *reader) inputs(x *expectation, n *document.Node) {
	r.Each(n, func(name string, v *document.Node) {
		x.add("inputs."+name, expected.Show(v.Value()), wantInput(name, v.Value()))
	})
}

// wantInput compares the input of the last call named name. If both inputs are objects, it compares only the given keys.
func wantInput(name string, want value.Value) test {
	return func(g *execution) (string, *Event, bool) {
		t, key, ok := g.route(name)
		if !ok {
			return "unknown step " + quote(name), nil, false
		}
		for i := len(t.journal) - 1; i >= 0; i-- {
			if e := &t.journal[i]; e.Type == journal.CallRequested && slices.Contains(t.callNames(i), key) {
				return expected.Show(e.Value), t.event(i), expected.HasKeys(e.Value, want)
			}
		}
		return "none: no call has that name", nil, false
	}
}

// callNames returns the names of the call that an event requests, as a scenario may write them under operations.
func (t *track) callNames(i int) []string {
	if p, ok := t.places[i]; ok {
		return program.TaskNames("", p)
	}
	key := t.journal[i].Node
	if step := t.effects[i]; step != nil {
		return program.EffectNames("", key, program.Operation(step.Operation), step)
	}
	names := []string{key, script.Stem(key)}
	if v, ok := t.seen.Node(key); ok {
		names = append(names, program.Operation(t.seen.Operation(v).Name))
	}
	return names
}

// recordCall records the task of a playbook's call, or the effect of a world's call. The body drops both when the call ends.
func (t *track) recordCall(i int) {
	e := &t.journal[i]
	if e.Type != journal.CallRequested || t.seen.Body() == nil {
		return
	}
	v, ok := t.seen.Node(e.Node)
	if !ok {
		return
	}
	if steps := t.seen.Steps(); steps != nil {
		if p, ok := steps.Place(v); ok {
			t.places[i] = p
		}
		return
	}
	t.effects[i] = t.seen.Place(v).Step
}
