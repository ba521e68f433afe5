package machine_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
)

// A message is routed to the subscribed cells, or refused with the place that does not fit.
func ExampleWorld_Route() {
	checked, err := machine.Load("notes.yaml", []byte(`
kind: World
name: notes
types: {Edited: {record: {note: text, pages: nat}}}
machines:
  note: {key: text, state: unit, event: [Edited], emits: []}
  index: {state: unit, event: [Edited], emits: []}
routing: {subscriptions: [{event: Edited, machine: note, key_field: note}, {event: Edited, machine: index}]}
`), template.Known{})
	if err != nil {
		fmt.Println(err)
		return
	}
	world, _ := machine.Of(checked.Workflow)
	routed, err := world.Route("Edited", map[string]any{"note": "n 1", "pages": 3.0})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range routed.To {
		fmt.Println(machine.Address(d.Machine, d.Key))
	}
	_, err = world.Route("Edited", map[string]any{"note": "n 1", "pages": -1})
	fmt.Println(err)
	// Output:
	// note[n%201]
	// index
	// /pages: must be at least 0
}
