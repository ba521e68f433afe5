package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/flow/machine"
	world "github.com/sluiceflow/sluice/template/machine"
)

// keysText is the world of shop with all the keys that its definition in Go does not have.
const keysText = `
kind: World
name: shop
max_concurrency: 7
types:
  OrderPlaced: {record: {order_id: text, cents: nat}}
  OrderPaid: {record: {order_id: text, cents: nat}}
  Order: {record: {status: text, cents: nat, txn: option<text>}}
  PayParams: {record: {order: text, cents: nat}}
  Charge: {record: {txn: text}}
  Remark: {record: {text: text}}
effects:
  pay: {params: PayParams, receipt: Charge, timing: {timeout: PT10S, retry: {max_attempts: 3}}, max_concurrency: 2}
machines:
  order:
    key: text
    state: Order
    event: [OrderPlaced, Rejected]
    emits: [pay, timer]
    annotations: Remark
    lifecycle: entity
    ttl: P30D
    indexes: {status: "{{ state.status }}"}
    go: {name: order, version: "3"}
  ledger:
    state: {record: {cents: nat}}
    event: [OrderPaid]
    emits: []
    rules: [{event: OrderPaid, set: {cents: "{{ (state ?? {cents: 0}).cents + event.cents }}"}}]
routing:
  subscriptions:
    - {event: OrderPlaced, machine: order, key_field: order_id}
    - {event: OrderPaid, machine: ledger}
`

// Keys are laid over the definitions and supply the rest, so a world in Go can have everything that a document can, and its hash. Later
// changes to the keys by the caller have no effect, and keys that the reader refuses are refused.
func TestKeysSayTheRestOfAWorld(t *testing.T) {
	nodes, err := document.Parse("shop.yaml", []byte(keysText), document.Limits{})
	require.NoError(t, err)
	read, err := world.ParseNode(nodes[0])
	require.NoError(t, err)
	order := map[string]any{"lifecycle": "entity", "ttl": "P30D", "indexes": map[string]any{"status": "{{ state.status }}"}}
	keys := []machine.Keys{
		{"max_concurrency": 7, "machines": map[string]any{"order": order}},
		{"effects": map[string]any{"pay": map[string]any{"timing": map[string]any{"retry": map[string]any{"max_attempts": 3}}, "max_concurrency": 2}}},
		{"machines": map[string]any{"ledger": map[string]any{
			"state": map[string]any{"record": map[string]any{"cents": "nat"}}, "event": []string{"OrderPaid"}, "emits": []any{},
			"rules": []any{map[string]any{"event": "OrderPaid", "set": map[string]any{"cents": "{{ (state ?? {cents: 0}).cents + event.cents }}"}}},
		}}},
		{"routing": map[string]any{"subscriptions": []any{map[string]any{"event": "OrderPaid", "machine": "ledger"}}}},
	}
	parts := shop()
	for _, k := range keys {
		parts = append(parts, k)
	}
	built, err := machine.NewWorld("shop", parts...)
	require.NoError(t, err)
	order["ttl"] = "P1D"
	delete(keys[1], "effects")
	want, err := read.Hash()
	require.NoError(t, err)
	got, err := built.Hash()
	require.NoError(t, err)
	require.Equal(t, want, got)

	for text, k := range map[string]machine.Keys{
		"ttll":   {"machines": map[string]any{"order": map[string]any{"ttll": "P1D"}}},
		"chan":   {"max_concurrency": make(chan int)},
		"refund": {"machines": map[string]any{"order": map[string]any{"emits": []any{"refund"}}}},
	} {
		_, err := machine.NewWorld("shop", append(shop(), k)...)
		require.ErrorContains(t, err, text)
	}
}
