package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// BenchmarkStep measures an activation of a small rule over a state of about 100 bytes, with the decoding of the state before
// and the encoding of the new one.
func BenchmarkStep(b *testing.B) {
	checked, err := machine.Load("w.yaml", []byte(`
kind: World
name: bench
types: {Paid: {record: {order_id: text, cents: nat}}}
machines:
  order:
    key: text
    state: {record: {status: text, item: text, cents: nat, txn: option<text>, tries: nat}}
    event: [Paid]
    emits: []
    rules:
      - {event: Paid, when: '{{ state.status == "lost" }}', set: {tries: 0}}
      - {event: Paid, when: '{{ state != null }}', set: {status: paid, cents: "{{ state.cents + event.cents }}"}}
routing: {subscriptions: [{event: Paid, machine: order, key_field: order_id}]}
`), template.Known{})
	require.NoError(b, err)
	world, _ := machine.Of(checked.Workflow)
	state, err := value.Encode(map[string]any{"status": "paying", "item": "a lamp of brass with a green shade", "cents": 1250, "txn": "t-1234567890", "tries": 1})
	require.NoError(b, err)
	require.InDelta(b, 100, len(state), 20)
	in := &machine.Input{Machine: world.Machine("order"), Key: "o-1", Now: 1,
		Event: machine.Event{Kind: machine.Message, Name: "Paid", Value: map[string]any{"order_id": "o-1", "cents": int64(5)}}}
	var meter expr.Meter
	b.ReportAllocs()
	for b.Loop() {
		if in.State, err = value.Decode(state); err != nil {
			b.Fatal(err)
		}
		out, failure := world.Step(in, &meter)
		if failure != nil || !out.Changed {
			b.Fatal(failure)
		}
		if _, err := value.Encode(out.State); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRoute measures the ingress of a message.
func BenchmarkRoute(b *testing.B) {
	checked, err := machine.Load("w.yaml", []byte(`
kind: World
name: bench
types: {Paid: {record: {order_id: text, cents: nat}}}
machines: {order: {key: text, state: unit, event: [Paid], emits: []}}
routing: {subscriptions: [{event: Paid, machine: order, key_field: order_id}]}
`), template.Known{})
	require.NoError(b, err)
	world, _ := machine.Of(checked.Workflow)
	b.ReportAllocs()
	for b.Loop() {
		if routed, err := world.Route("Paid", map[string]any{"order_id": "o-1", "cents": int64(5)}); err != nil || len(routed.To) != 1 {
			b.Fatal(err)
		}
	}
}
