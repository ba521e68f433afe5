package machine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/flow/machine"
	world "github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
)

type OrderPlaced struct {
	ID    string `json:"order_id"`
	Cents uint   `json:"cents"`
}

type Order struct {
	Status string  `json:"status"`
	Cents  uint    `json:"cents"`
	Txn    *string `json:"txn"`
}

type PayParams struct {
	Order string `json:"order"`
	Cents uint   `json:"cents"`
}

type Charge struct {
	Txn string `json:"txn"`
}

type OrderPaid struct {
	ID    string `json:"order_id"`
	Cents uint   `json:"cents"`
}

type Remark struct {
	Text string `json:"text"`
}

type Event struct {
	Placed   *OrderPlaced
	Paid     *machine.Receipt[Charge] `effect:"pay"`
	Late     *machine.Fired           `timer:"deadline"`
	Rejected *machine.Rejected
}

var (
	Pay  = machine.Effect[PayParams, Charge]("pay")
	Paid = machine.Event[OrderPaid]()

	Orders = machine.Define("order", "3", step, machine.Emits(Pay, machine.Timer), machine.Raises(Paid), machine.Notes[Remark]())
)

func step(a *machine.Activation[string], s *Order, e Event) (*Order, error) {
	switch {
	case s == nil && e.Placed != nil:
		Pay.Emit(a, PayParams{Order: a.Key(), Cents: e.Placed.Cents}, machine.Issuer("card"), machine.IdempotencyKey("first"))
		a.After("deadline", 30*time.Minute)
		a.Note(Remark{"placed"})
		return &Order{Status: "paying", Cents: e.Placed.Cents}, nil
	case s != nil && e.Paid != nil && e.Paid.Status == machine.OK:
		a.Drop("timer.deadline")
		Paid.Raise(a, OrderPaid{ID: a.Key(), Cents: s.Cents})
		a.Complete()
		s.Status, s.Txn = "paid", &e.Paid.Payload.Txn
		return s, nil
	case e.Late != nil:
		return s, machine.Fail("too_late", "nothing came of "+a.Key())
	case e.Rejected != nil:
		return nil, nil
	}
	a.Ignore()
	return s, nil
}

const shopText = `
kind: World
name: shop
types:
  OrderPlaced: {record: {order_id: text, cents: nat}}
  OrderPaid: {record: {order_id: text, cents: nat}}
  Order: {record: {status: text, cents: nat, txn: option<text>}}
  PayParams: {record: {order: text, cents: nat}}
  Charge: {record: {txn: text}}
  Remark: {record: {text: text}}
effects:
  pay: {params: PayParams, receipt: Charge, timing: {timeout: PT10S}}
machines:
  order:
    key: text
    state: Order
    event: [OrderPlaced, Rejected]
    emits: [pay, timer]
    annotations: Remark
    go: {name: order, version: "3"}
routing: {subscriptions: [{event: OrderPlaced, machine: order, key_field: order_id}]}
`

func shop() []machine.Part {
	return []machine.Part{Orders, machine.Subscribe("OrderPlaced", Orders, "order_id"),
		machine.Keys{"effects": map[string]any{"pay": map[string]any{"timing": map[string]any{"timeout": "PT10S"}}}}}
}

// A world of machines in Go and the equivalent document have one hash.
func TestGoAndDocumentHaveOneHash(t *testing.T) {
	nodes, err := document.Parse("shop.yaml", []byte(shopText), document.Limits{})
	require.NoError(t, err)
	read, err := world.ParseNode(nodes[0])
	require.NoError(t, err)
	built := machine.World("shop", shop()...)
	require.Equal(t, read.Document(), built.Document())
	hash, err := built.Hash()
	require.NoError(t, err)
	same, err := read.Hash()
	require.NoError(t, err)
	require.Equal(t, same, hash)
	of, _ := world.Of(built)
	require.Equal(t, "sha256:"+hash, of.Manifest())
}

func TestAStepGivesWhatItAsksFor(t *testing.T) {
	w := machine.World("shop", shop()...)
	placed := world.Event{Kind: world.Message, Name: "OrderPlaced", Value: map[string]any{"order_id": "o-1", "cents": int64(250)}}
	out, err := attempt.Step(w, "order[o-1]", nil, placed)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"status": "paying", "cents": int64(250), "txn": nil}, out.State)
	require.Len(t, out.Emitted, 2)
	require.Equal(t, map[string]any{"order": "o-1", "cents": int64(250)}, out.Emitted[0].Params)
	require.Equal(t, "card", out.Emitted[0].Issuer)
	require.Equal(t, "first", out.Emitted[0].Key)
	require.Equal(t, "deadline", out.Emitted[1].Timer)
	require.Equal(t, int64(30*time.Minute), out.Emitted[1].Due)
	require.Equal(t, map[string]any{"text": "placed"}, out.Note)

	receipt := map[string]any{"effect": "pay", "issuer": "card", "status": "ok", "payload": map[string]any{"txn": "t-9"}, "error": nil,
		"intent": "sha256:00", "emitted_at_seq": int64(3)}
	out, err = attempt.Step(w, "order[o-1]", out.State, world.Event{Kind: world.Receipt, Name: "pay", Value: receipt})
	require.NoError(t, err)
	require.Equal(t, map[string]any{"status": "paid", "cents": int64(250), "txn": "t-9"}, out.State)
	require.True(t, out.Completed)
	require.Equal(t, []world.Drop{{Effect: "timer", Issuer: "deadline"}}, out.Dropped)
	require.Equal(t, "OrderPaid", out.Raised[0].Name)

	state, err := machine.StateOf[Order](out.State)
	require.NoError(t, err)
	require.Equal(t, "t-9", *state.Txn)

	out, err = attempt.Step(w, "order[o-1]", out.State, placed)
	require.NoError(t, err)
	require.True(t, out.Ignored)

	_, err = attempt.Step(w, "order[o-1]", out.State, world.Event{Kind: world.Timer, Name: "deadline",
		Value: map[string]any{"payload": map[string]any{"name": "deadline", "due": "2027-01-31T12:00:00Z"}}})
	require.Equal(t, &world.Failure{Code: "too_late", Message: "nothing came of o-1"}, err)
}
