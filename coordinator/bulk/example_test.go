package bulk_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// An act states the number of runs that it expects, as counted by its preview.
func Example() {
	ctx := context.Background()
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{})
	if err != nil {
		panic(err)
	}
	order, err := template.Parse("order.yaml", []byte(`{kind: Workflow, name: order, operations: {paid: {wait: {message: paid}}}, steps: [{operation: paid}]}`))
	if err != nil {
		panic(err)
	}
	for _, id := range []string{"order-1", "order-2"} {
		if _, err := engine.Start(ctx, order, nil, coordinator.WithID(id)); err != nil {
			panic(err)
		}
	}
	act := bulk.Act{Verb: "cancel", Where: "workflow:order", Actor: "ann", Reason: "the shop closes"}
	_, err = engine.BeginBulk(ctx, act)
	fmt.Println(err)
	preview, err := engine.PreviewBulk(ctx, act)
	fmt.Println(preview.Will, "of", preview.Count, err)
	act.Expect = preview.Count
	id, err := engine.BeginBulk(ctx, act)
	if err != nil {
		panic(err)
	}
	status, err := engine.AwaitBulk(ctx, id)
	fmt.Println(status.State, status.Done, err)
	for o := range engine.BulkOutcomes(ctx, id) {
		fmt.Println(o.Run, o.Result)
	}
	fmt.Println(engine.Shutdown(ctx))
	// Unordered output:
	// bulk: the count has changed: the query selects 2 runs, not 0; nothing was done: preview it again
	// 2 of 2 <nil>
	// completed 2 <nil>
	// order-1 done
	// order-2 done
	// <nil>
}

// An act of reruns starts a new run for each failed one, and reports its id.
func Example_rerun() {
	ctx := context.Background()
	closed := true
	pay := operation.Define("pay", func(context.Context, any) (any, error) {
		if closed {
			return nil, errors.New("the bank is closed")
		}
		return "paid", nil
	})
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{Operations: []coordinator.Operation{pay}})
	if err != nil {
		panic(err)
	}
	order, err := template.Parse("order.yaml", []byte(`{kind: Workflow, name: order, steps: [{operation: pay}], output: "{{ steps.pay.output }}"}`))
	if err != nil {
		panic(err)
	}
	for _, id := range []string{"order-1", "order-2"} {
		run, err := engine.Start(ctx, order, nil, coordinator.WithID(id))
		if err != nil {
			panic(err)
		}
		result, err := run.Wait(ctx)
		fmt.Println(id, result.Status, err)
	}
	closed = false
	id, err := engine.BeginBulk(ctx, bulk.Act{Verb: "rerun", Where: "status:failed", Expect: 2, Rerun: &coordinator.Rerun{Failed: true}})
	if err != nil {
		panic(err)
	}
	status, err := engine.AwaitBulk(ctx, id)
	fmt.Println(status.State, status.Done, err)
	for o := range engine.BulkOutcomes(ctx, id) {
		run, err := engine.Run(ctx, o.New)
		if err != nil {
			panic(err)
		}
		result, err := run.Wait(ctx)
		fmt.Println("instead of", o.Run, result.Output, err)
	}
	fmt.Println(engine.Shutdown(ctx))
	// Unordered output:
	// order-1 failed <nil>
	// order-2 failed <nil>
	// completed 2 <nil>
	// instead of order-1 paid <nil>
	// instead of order-2 paid <nil>
	// <nil>
}
