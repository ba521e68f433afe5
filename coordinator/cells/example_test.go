package cells_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// shop is a world of orders: each is paid, and then done. The payment is a value here.
const shop = `
kind: World
name: shop
types:
  OrderPlaced: {record: {order_id: text, cents: nat}}
effects:
  pay: {params: {record: {cents: nat}}, receipt: text, value: "paid {{ input.cents }}"}
machines:
  order:
    key: text
    state: {record: {status: text, note: text}}
    event: [OrderPlaced]
    emits: [pay]
    rules:
      - event: OrderPlaced
        when: "{{ state == null }}"
        set: {status: paying, note: ""}
        emit: [{effect: pay, params: {cents: "{{ event.cents }}"}}]
      - {event: pay, set: {status: done, note: "{{ event.payload }}"}, complete: true}
routing: {subscriptions: [{event: OrderPlaced, machine: order, key_field: order_id}]}
`

// open starts the shop in memory; a folder in place of "" keeps it.
func open(ctx context.Context) (*coordinator.Engine, *coordinator.Run) {
	checked, err := kinds.Load("shop.yaml", []byte(shop), template.Known{})
	if err != nil {
		log.Panic(err)
	}
	engine, err := sluice.Open(ctx, "", coordinator.Config{})
	if err != nil {
		log.Panic(err)
	}
	run, err := engine.Start(ctx, checked.Workflow, nil, coordinator.WithID("shop"))
	if err != nil {
		log.Panic(err)
	}
	return engine, run
}

// A sender that is not sure that a message arrived sends it again with the same id. A message that does not fit changes nothing.
func ExampleHandle_SendMessage() {
	ctx := context.Background()
	engine, run := open(ctx)
	defer engine.Shutdown(ctx)

	order := map[string]any{"order_id": "o-1", "cents": 1250}
	for range 2 {
		sent, err := run.SendMessage(ctx, cells.Message{Name: "OrderPlaced", Payload: order, ID: "web-17"})
		fmt.Println(sent.Seq, sent.Cells, err)
	}
	order["cents"] = -1
	_, err := run.SendMessage(ctx, cells.Message{Name: "OrderPlaced", Payload: order})
	fmt.Println(errors.Is(err, decide.ErrInvalidMessage), err)
	// Output:
	// 2 [order[o-1]] <nil>
	// 2 [order[o-1]] <nil>
	// true run shop: coordinator: the world does not take the message: /cents: must be at least 0
}

// Await waits until a function accepts the state of a cell, which need not exist yet.
func ExampleHandle_Await() {
	ctx := context.Background()
	engine, run := open(ctx)
	defer engine.Shutdown(ctx)

	order := map[string]any{"order_id": "o-1", "cents": 1250}
	if _, err := run.SendMessage(ctx, cells.Message{Name: "OrderPlaced", Payload: order}); err != nil {
		fmt.Println(err)
	}
	cell, err := run.Await(ctx, "order[o-1]", func(c *cells.State) bool { return c.Status == world.Completed })
	fmt.Println(cell.State, err)
	// Output:
	// map[note:paid 1250 status:done] <nil>
}

// Cell reads one cell, as of the newest durable event or a later one.
func ExampleHandle_Cell() {
	ctx := context.Background()
	engine, run := open(ctx)
	defer engine.Shutdown(ctx)

	_, err := run.Cell(ctx, "order[o-9]")
	fmt.Println(errors.Is(err, decide.ErrCellNotFound), err)
	// Output:
	// true coordinator: no cell "order[o-9]"
}

// Cells lists the cells that a function accepts.
func ExampleHandle_Cells() {
	ctx := context.Background()
	engine, run := open(ctx)
	defer engine.Shutdown(ctx)

	for _, id := range []string{"o-1", "o-2", "o-3"} {
		order := map[string]any{"order_id": id, "cents": 1250}
		if _, err := run.SendMessage(ctx, cells.Message{Name: "OrderPlaced", Payload: order}); err != nil {
			fmt.Println(err)
		}
	}
	list, err := run.Cells(ctx, func(c *cells.State) bool { return c.Key != "o-2" }, 0)
	for _, c := range list {
		fmt.Println(c.Address)
	}
	fmt.Println(err)
	// Output:
	// order[o-1]
	// order[o-3]
	// <nil>
}
