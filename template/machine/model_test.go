package machine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
)

// modelRule is a rule as the document has it, and as plain Go.
type modelRule struct {
	text  string
	about func(modelEvent) bool
	holds func(s map[string]int64, n int64) bool
	set   map[string]func(s map[string]int64, n int64) int64
	drops []string
	end   string // complete, delete, or neither
}

// modelEvent is a message A or B, a receipt of the effect e or of e.f, or a timer.
type modelEvent struct {
	name, issuer string
	n            int64
}

func (e modelEvent) event() machine.Event {
	switch e.name {
	case "A", "B":
		return machine.Event{Kind: machine.Message, Name: e.name, Value: map[string]any{"n": e.n}}
	case "timer":
		return machine.Event{Kind: machine.Timer, Name: e.issuer, Value: map[string]any{"effect": "timer", "issuer": e.issuer, "n": e.n}}
	}
	v := map[string]any{"effect": e.name, "issuer": nil, "n": e.n}
	if e.issuer != "" {
		v["issuer"] = e.issuer
	}
	return machine.Event{Kind: machine.Receipt, Name: e.name, Value: v}
}

// modelAbout draws the events that a rule is about.
func modelAbout(t *rapid.T) (string, func(modelEvent) bool) {
	name := rapid.SampledFrom([]string{"A", "B", "e", "e.f", "timer", "Receipt"}).Draw(t, "about")
	switch issuer := rapid.SampledFrom([]string{"", "i", "j"}).Draw(t, "issuer"); {
	case name == "Receipt":
		return name, func(e modelEvent) bool { return e.name != "A" && e.name != "B" }
	case name == "A" || name == "B" || issuer == "":
		return name, func(e modelEvent) bool { return e.name == name }
	default:
		return name + "." + issuer, func(e modelEvent) bool { return e.name == name && e.issuer == issuer }
	}
}

// modelTerm draws an expression of integers: the number of the event, a field of the state (0 if there is none), or a constant.
func modelTerm(t *rapid.T) (string, func(map[string]int64, int64) int64) {
	c := rapid.Int64Range(0, 3).Draw(t, "constant")
	switch rapid.IntRange(0, 2).Draw(t, "term") {
	case 0:
		return fmt.Sprintf("event.n + %d", c), func(_ map[string]int64, n int64) int64 { return n + c }
	case 1:
		field := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(t, "field")
		return fmt.Sprintf("(state ?? {%[1]s: 0}).%[1]s - %[2]d", field, c), func(s map[string]int64, _ int64) int64 { return s[field] - c }
	}
	return fmt.Sprint(c), func(map[string]int64, int64) int64 { return c }
}

func drawRule(t *rapid.T) modelRule {
	r := modelRule{holds: func(map[string]int64, int64) bool { return true }, set: map[string]func(map[string]int64, int64) int64{}}
	var parts []string
	about, is := modelAbout(t)
	parts, r.about = append(parts, "event: "+about), is
	if rapid.Bool().Draw(t, "guarded") {
		text, left := modelTerm(t)
		other, right := modelTerm(t)
		parts = append(parts, fmt.Sprintf("when: '{{ %s < %s }}'", text, other))
		r.holds = func(s map[string]int64, n int64) bool { return left(s, n) < right(s, n) }
	}
	r.end = rapid.SampledFrom([]string{"", "", "complete", "delete"}).Draw(t, "end")
	if r.end != "" {
		parts = append(parts, r.end+": true")
	}
	if r.end != "delete" && rapid.Bool().Draw(t, "sets") {
		var fields []string
		for _, field := range []string{"x", "y", "z"} {
			if rapid.Bool().Draw(t, "field") {
				text, term := modelTerm(t)
				fields, r.set[field] = append(fields, fmt.Sprintf("%s: '{{ %s }}'", field, text)), term
			}
		}
		parts = append(parts, "set: {"+strings.Join(fields, ", ")+"}")
	} else {
		r.set = nil
	}
	r.drops = rapid.SliceOfN(rapid.SampledFrom([]string{"e", "e.i", "e.f", "e.f.i", "timer", "timer.i"}), 0, 3).Draw(t, "drops")
	if len(r.drops) > 0 {
		parts = append(parts, "drop: ["+strings.Join(r.drops, ", ")+"]")
	}
	r.text = "{" + strings.Join(parts, ", ") + "}"
	return r
}

// The first rule that is about an event and holds is taken, its fields are computed from the state before, and the others stay:
// a model in plain Go agrees, over many events.
func TestRulesAgreeWithAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := rapid.SliceOfN(rapid.Custom(drawRule), 1, 6).Draw(t, "rules")
		text := "{kind: World, name: w, types: {A: {record: {n: int}}, B: {record: {n: int}}}, effects: {e: {params: unit, receipt: unit}, e.f: {params: unit, receipt: unit}},\n" +
			"machines: {m: {state: {'map': {key: text, value: int}}, event: [A, B], emits: [e, e.f, timer], rules: [\n"
		for _, r := range rules {
			text += r.text + ",\n"
		}
		checked, err := machine.Load("w.yaml", []byte(text+"]}}}"), template.Known{Lenient: true})
		require.NoError(t, err)
		w, _ := machine.Of(checked.Workflow)
		before := map[string]int64{"x": 0, "y": 0, "z": 0}
		exists := false
		for range rapid.IntRange(1, 30).Draw(t, "events") {
			e := modelEvent{rapid.SampledFrom([]string{"A", "B", "e", "e.f", "timer"}).Draw(t, "event"),
				rapid.SampledFrom([]string{"i", "j", "f"}).Draw(t, "issuer"), rapid.Int64Range(-2, 4).Draw(t, "n")}
			in := &machine.Input{Machine: w.Machine("m"), Event: e.event(), Now: 1}
			if exists {
				in.State = stateOf(before)
			}
			out, failure := w.Step(in, &expr.Meter{})
			taken := -1
			for i, r := range rules {
				if taken < 0 && r.about(e) && r.holds(before, e.n) {
					taken = i
				}
			}
			if taken < 0 {
				require.Nil(t, failure)
				require.Equal(t, &machine.Output{Ignored: true}, out)
				continue
			}
			exists = requireRule(t, rules[taken], in, out, failure, before, exists, e.n)
		}
	})
}

// requireRule checks the output of a rule, and lays it over the model's state. It reports whether there is a state.
func requireRule(t *rapid.T, r modelRule, in *machine.Input, out *machine.Output, failure *machine.Failure, before map[string]int64, exists bool, n int64) bool {
	require.Nil(t, failure)
	after := map[string]int64{}
	for field, old := range before {
		after[field] = old
		if term := r.set[field]; term != nil {
			after[field] = term(before, n)
		}
	}
	var drops []string
	for _, d := range out.Dropped {
		drops = append(drops, d.String())
	}
	require.ElementsMatch(t, r.drops, drops)
	require.Equal(t, r.end == "complete", out.Completed)
	switch {
	case r.end == "delete":
		require.Equal(t, exists, out.Changed)
		require.Nil(t, out.State)
		for field := range before {
			before[field] = 0
		}
		return false
	case r.set == nil:
		require.False(t, out.Changed)
		return exists
	}
	for field := range before {
		before[field] = after[field]
	}
	if out.Changed {
		require.NotEqual(t, in.State, out.State)
		require.Equal(t, stateOf(after), withZeros(out.State.(map[string]any)))
	} else {
		require.Equal(t, stateOf(after), in.State)
	}
	return true
}

func stateOf(s map[string]int64) map[string]any {
	m := map[string]any{}
	for field, n := range s {
		m[field] = n
	}
	return m
}

// withZeros adds the fields that a state does not have, with the value 0.
func withZeros(s map[string]any) map[string]any {
	m := map[string]any{"x": int64(0), "y": int64(0), "z": int64(0)}
	for field, n := range s {
		m[field] = n
	}
	return m
}
