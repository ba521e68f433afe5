package coordinator_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// A run that waits for an approval goes on under a corrected workflow, because its past is the same under both workflows.
func ExampleRun_Move() {
	ctx := context.Background()
	call := func(name string) coordinator.Operation {
		return operation.Define(name, func(context.Context, any) (any, error) { return name, nil })
	}
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{Operations: []coordinator.Operation{call("price"), call("quote"), call("charge"), call("refund")}})
	if err != nil {
		panic(err)
	}
	defer engine.Shutdown(ctx)
	version := func(first, last string) *template.Workflow {
		w, err := template.Parse("", []byte(`{kind: Workflow, name: order, operations: {approve: {wait: {message: approved}}},
			steps: [{operation: `+first+`}, {operation: approve}, {operation: `+last+`}], output: "{{ steps.`+last+`.output }}"}`))
		if err != nil {
			panic(err)
		}
		return w
	}
	run, err := engine.Start(ctx, version("price", "refund"), nil)
	if err != nil {
		panic(err)
	}
	for update, err := range run.Watch(ctx, 1) {
		if err != nil {
			panic(err)
		}
		if update.Status == "waiting" {
			break
		}
	}
	_, err = run.Move(ctx, version("quote", "charge"))
	past, _ := errors.AsType[*coordinator.PastError](err)
	fmt.Println(past.Report.Past())
	if _, err := run.Move(ctx, version("price", "charge")); err != nil {
		panic(err)
	}
	if err := run.Send(ctx, "approved", nil); err != nil {
		panic(err)
	}
	result, err := run.Wait(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Status, result.Output)
	// Output:
	// price: was asked, and would not be asked any more (event 2)
	// completed charge
}
