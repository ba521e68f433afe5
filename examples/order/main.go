// Command order shows a run that outlives its process: it charges a card, waits for an approval, and ships.
//
//	go run ./examples/order            places the order, and exits while the run waits
//	go run ./examples/order approve    another process: it continues the run
//
// The journal is the folder out/orders. Placing the order once more returns the same run, whatever its status.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

// id is the id of the run. A fixed id makes the start idempotent.
const id = "order-1042"

// Order is the input of the run.
type Order struct {
	Item  string `json:"item"`
	Cents int    `json:"cents"`
}

// Approval is the message that approves an order.
type Approval struct {
	By string `json:"by"`
	OK bool   `json:"ok"`
}

// charge fails at first. Its idempotency key is the same for every attempt and after a crash, so a bank that honours it charges once.
var charge = operation.Define("card.charge", func(ctx context.Context, o Order) (string, error) {
	call := operation.CallOf(ctx)
	if call.Attempt == 1 {
		return "", &operation.Error{Code: "busy", Message: "the bank asks for a moment"}
	}
	return fmt.Sprintf("%d cents for key %s", o.Cents, call.Key()), nil
})

var ship = operation.Define("parcel.ship", func(_ context.Context, item string) (string, error) {
	return item + " is on its way", nil
})

var refund = operation.Define("card.refund", func(_ context.Context, receipt string) (string, error) {
	return "gave back " + receipt, nil
})

// approval is bound below: it waits for a message.
var approval = template.NewOp[any, Approval]("approval", nil)

// orders is the workflow. An input of the wrong type for an operation, or for the run, would not compile.
var orders = define()

func define() flow.Workflow[Order, string] {
	order := flow.Input[Order]()
	receipt := flow.Call("charge", charge, order,
		flow.Retry(template.Retry{MaxAttempts: 5, Backoff: 10 * time.Millisecond, Multiplier: 2}))
	answer := flow.Call("approval", approval, nil)
	shipped := flow.Call("ship", ship, flow.Select[string](order, "/item"))
	refunded := flow.Call("refund", refund, receipt)
	return flow.MustNew("order", order, flow.Output(flow.FromOr(shipped, "not shipped")),
		flow.Bind("approval", template.Binding{Wait: &template.Wait{Message: "approval"}}),
		receipt,
		answer,
		flow.If(flow.Select[bool](answer, "/ok"),
			flow.Then(shipped),
			flow.Else(refunded),
		),
	)
}

func main() {
	ctx := context.Background()
	engine, err := open(ctx, "out/orders")
	if err != nil {
		log.Fatal(err)
	}
	if len(os.Args) > 1 && os.Args[1] == "approve" {
		err = approve(ctx, engine, os.Stdout)
	} else {
		err = place(ctx, engine, os.Stdout)
	}
	if err := errors.Join(err, engine.Shutdown(ctx)); err != nil {
		log.Fatal(err)
	}
}

// open starts an engine, which continues the runs of the folder. It needs the workflow, because the journal does not have the Go
// functions of the workflow.
func open(ctx context.Context, dir string) (*coordinator.Engine, error) {
	return sluice.Open(ctx, dir, coordinator.Config{Workflows: []*template.Workflow{orders.Tree()}})
}

// place starts the run, or finds it, and follows it until it waits for the approval.
func place(ctx context.Context, engine *coordinator.Engine, out io.Writer) error {
	run, err := sluice.Start(ctx, engine, orders, Order{Item: "a kettle", Cents: 3900}, coordinator.WithID(id))
	if err != nil {
		return err
	}
	for update, err := range run.Watch(ctx, 1) {
		if err != nil {
			return err
		}
		for _, change := range update.Changes {
			show(out, change)
			if change.Step == "approval" && change.To == reactive.Running {
				fmt.Fprintln(out, "to approve: go run ./examples/order approve")
				return nil
			}
		}
	}
	return nil
}

// approve sends the approval and follows the run to its end. A run that has ended refuses messages.
func approve(ctx context.Context, engine *coordinator.Engine, out io.Writer) error {
	run, err := engine.Run(ctx, id)
	if err != nil {
		return err
	}
	if err := run.Send(ctx, "approval", Approval{By: "ann", OK: true}); err != nil && !errors.Is(err, coordinator.ErrFinished) {
		return err
	}
	for update, err := range run.Watch(ctx, 1) {
		if err != nil {
			return err
		}
		for _, change := range update.Changes {
			show(out, change)
		}
	}
	result, err := run.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %v\n", result.Status, result.Output)
	return result.Err()
}

func show(out io.Writer, change coordinator.StepChange) {
	if change.To >= reactive.Running {
		fmt.Fprintln(out, change.Step, change.To)
	}
}
