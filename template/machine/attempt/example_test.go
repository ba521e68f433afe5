package attempt_test

import (
	"fmt"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
)

// A machine is tried alone: Step returns the output of its rules for an event in a state.
func ExampleStep() {
	checked, err := machine.Load("orders.yaml", []byte(`
kind: World
name: orders
types: {Placed: {record: {id: text, cents: nat}}}
effects: {pay: {params: {record: {cents: nat}}, receipt: unit, operation: shop.pay}}
machines:
  order:
    key: text
    state: {record: {status: text}}
    event: [Placed]
    emits: [pay, timer]
    rules:
      - event: Placed
        when: "{{ state == null }}"
        set: {status: paying}
        emit: [{effect: pay, params: {cents: "{{ event.cents }}"}}, {timer: deadline, for: PT30M}]
routing: {subscriptions: [{event: Placed, machine: order, key_field: id}]}
`), template.Known{Lenient: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	placed := machine.Event{Kind: machine.Message, Name: "Placed", Value: map[string]any{"id": "o-1", "cents": 1250}}
	out, err := attempt.Step(checked.Workflow, "order[o-1]", nil, placed)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(out.State)
	for _, e := range out.Emitted {
		if e.Effect != nil {
			fmt.Println(e.Effect.Name, e.Params)
		} else {
			fmt.Println(machine.TimerEffect, e.Timer)
		}
	}
	// Output:
	// map[status:paying]
	// pay map[cents:1250]
	// timer deadline
}
