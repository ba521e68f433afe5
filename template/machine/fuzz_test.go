package machine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
)

// FuzzLoad: no document causes a panic; a refused one has errors with places; an accepted one can be stored, read again and
// compiled, and its machines can be asked about any event.
func FuzzLoad(f *testing.F) {
	files, err := filepath.Glob("testdata/cases/*.world.yaml")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Add(notes)
	f.Add(rule("{event: P, raise: [{event: P, value: {id: a}}], emit: [{effect: e}, {timer: t, until: '{{ now }}'}], drop: [e.x], note: 1}"))
	f.Add(one("{state: {map: {key: text, value: int}}, event: V, emits: [], indexes: {i: '{{ key }}'}, migrate: {}, rules: [{event: V, set: {a: '{{ len(event) }}'}}]}"))
	f.Add(effect("{params: unit, receipt: list<unit>, command: {argv: [ls]}, max_concurrency: 2, target: {resolve: static, participants: [a]}}"))
	f.Add(routing("{event: V, machine: v, key_field: $value.id.x}", "{event: {ref: P}, op: u}"))
	f.Fuzz(func(t *testing.T, text string) {
		checked, err := machine.Load("w.yaml", []byte(text), template.Known{Lenient: true})
		if err != nil {
			require.Nil(t, checked)
			faults, ok := err.(document.Errors)
			require.True(t, ok)
			for _, fault := range faults {
				require.Equal(t, "w.yaml", fault.File, "%v", fault)
				require.NotEmpty(t, fault.Msg)
			}
			return
		}
		requireRoundTrip(t, checked)
		world, _ := machine.Of(checked.Workflow)
		var meter expr.Meter
		meter.Bound(1_000_000)
		for _, m := range world.Machines {
			for _, name := range m.Event.Messages {
				_, _ = world.Route(name, map[string]any{})
				out, failure := world.Step(&machine.Input{Machine: m, Event: machine.Event{Kind: machine.Message, Name: name, Value: map[string]any{}}}, &meter)
				require.True(t, (out == nil) != (failure == nil))
			}
			for _, kind := range []machine.EventKind{machine.Receipt, machine.Rejected, machine.Frame, machine.Timer} {
				out, failure := world.Step(&machine.Input{Machine: m, Event: machine.Event{Kind: kind, Name: "e", Value: map[string]any{"issuer": nil}}}, &meter)
				require.True(t, (out == nil) != (failure == nil))
			}
		}
	})
}
