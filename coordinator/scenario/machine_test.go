package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/scenario"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow/machine"
)

type (
	Put struct {
		ID string `json:"id"`
		N  int64  `json:"n"`
	}
	drawer struct {
		N     int64 `json:"n"`
		Tries int64 `json:"tries"`
	}
	weight struct {
		N int64 `json:"n"`
	}
	drawerEvent struct {
		Put     *Put                    `event:"Put"`
		Weighed *machine.Receipt[int64] `effect:"weigh"`
		Again   *machine.Fired          `timer:"again"`
	}
)

var (
	weighing = machine.Effect[weight, int64]("weigh")
	drawers  = machine.Define("drawer", "1", stepDrawer, machine.Emits(weighing, machine.Timer))
	others   = machine.Define("drawer", "1", stepDrawer, machine.Emits(weighing, machine.Timer))
	unfit    = machine.Define("drawer", "1", func(*machine.Activation[string], *Put, drawerEvent) (*Put, error) { return nil, nil },
		machine.Emits(weighing, machine.Timer))
)

// stepDrawer weighs each put number. One minute after a failed weighing, it weighs the number of tries.
func stepDrawer(a *machine.Activation[string], s *drawer, e drawerEvent) (*drawer, error) {
	if s == nil {
		s = &drawer{}
	}
	switch {
	case e.Put != nil && e.Put.N < 0:
		return nil, machine.Fail("light", a.Key())
	case e.Put != nil:
		weighing.Emit(a, weight{e.Put.N})
	case e.Weighed != nil && e.Weighed.Status == machine.OK:
		s.N += *e.Weighed.Payload
	case e.Weighed != nil:
		a.After("again", time.Minute)
	case e.Again != nil:
		s.Tries++
		weighing.Emit(a, weight{s.Tries})
	}
	return s, nil
}

const drawerWorld = `
kind: World
name: desk
types: {Put: {record: {id: text, n: int}}}
effects: {weigh: {params: {record: {n: int}}, receipt: int}}
machines:
  drawer: {key: text, state: {record: {n: int, tries: int}}, event: [Put], emits: [weigh, timer], lifecycle: entity, go: {name: drawer, version: "1"}}
  last: {state: {record: {id: text}}, event: [Put], emits: [], lifecycle: entity, rules: [{event: Put, set: {id: "{{ event.id }}"}}]}
routing: {subscriptions: [{event: Put, machine: drawer, key_field: id}, {event: Put, machine: last}]}
`

const drawerScenario = `
kind: Scenario
name: a drawer is weighed again
workflow: %s
operations: {"drawer[a].weigh": [{error: {code: busy}}, {output: 5}], weigh: {output: 7}}
timeline:
  - {at: PT0S, message: {name: Put, payload: {id: a, n: 1}}}
  - {at: PT1S, message: {name: Put, payload: {id: b, n: 1}}}
  - {at: PT2S, snapshot: {}}
  - {at: PT3S, message: {name: Put, payload: {id: c, n: -1}}}
expect:
  cells:
    "drawer[a]": {status: completed, state: {n: 5, tries: 1}}
    "drawer[b]": {state: {n: 7, tries: 0}}
    "drawer[c]": {status: failed, reason: light}
    last: {state: {id: c}}
  inputs: {"drawer[a].weigh": {n: 1}}
`

// TestAScenarioDrivesAMachineInGo: a document names the machine, the Go test provides it, and the YAML is the same as for any
// world.
func TestAScenarioDrivesAMachineInGo(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		return file
	}
	write("desk.yaml", drawerWorld)
	for seed := range int64(5) {
		scenario.RunWith(t, scenario.Options{Machines: []*registry.Machine{drawers}, Seed: seed},
			write("drawer.yaml", fmt.Sprintf(drawerScenario, "desk.yaml")))
	}
	built := machine.World("desk", drawers, machine.Subscribe("Put", drawers, "id"), machine.Keys{
		"machines": map[string]any{"drawer": map[string]any{"lifecycle": "entity"}, "last": map[string]any{"state": map[string]any{"record": map[string]any{"id": "text"}},
			"event": []any{"Put"}, "emits": []any{}, "lifecycle": "entity", "rules": []any{map[string]any{"event": "Put", "set": map[string]any{"id": "{{ event.id }}"}}}}},
		"routing": map[string]any{"subscriptions": []any{map[string]any{"event": "Put", "machine": "last"}}}})
	scenario.RunWith(t, scenario.Options{Workflows: map[string]*template.Workflow{"desk": built}},
		write("built.yaml", fmt.Sprintf(drawerScenario, "desk")))
	for want, machines := range map[string][]*registry.Machine{
		`: the program does not have machine "drawer", version "1": a Go test passes it as Options.Machines`:  nil,
		`two machines in Go are named "drawer", version "1": define a machine once, at package level`:         {drawers, others},
		`machines.drawer: machine "drawer" in Go, version "1", does not fit machine "drawer" of world "desk"`: {unfit},
	} {
		list, err := scenario.Load(filepath.Join(dir, "drawer.yaml"))
		require.NoError(t, err)
		report := list[0].Run(scenario.Options{Machines: machines})
		require.False(t, report.Passed)
		require.Contains(t, report.String(), want)
	}
}
