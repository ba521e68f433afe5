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

// A rerun keeps what has completed: only the step that has failed is called, and what follows it.
func ExampleRun_Rerun() {
	ctx := context.Background()
	full := true
	call := func(name string) coordinator.Operation {
		return operation.Define(name, func(context.Context, any) (any, error) {
			if fmt.Println("calls", name); name == "pack" && full {
				return nil, errors.New("no room")
			}
			return name, nil
		})
	}
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{Operations: []coordinator.Operation{call("pick"), call("pack"), call("ship")}})
	if err != nil {
		panic(err)
	}
	defer engine.Shutdown(ctx)
	order, err := template.Parse("", []byte(`{kind: Workflow, name: order, steps: [{operation: pick}, {operation: pack}, {operation: ship, idempotent: false}]}`))
	if err != nil {
		panic(err)
	}
	run, err := engine.Start(ctx, order, nil)
	if err != nil {
		panic(err)
	}
	result, _ := run.Wait(ctx)
	fmt.Println(result.Status, result.Failure.Message)

	full = false
	what := coordinator.Rerun{Failed: true}
	preview, err := run.PreviewRerun(ctx, what)
	if err != nil {
		panic(err)
	}
	fmt.Println("will run", preview.Will, "may run", preview.May, "kept", preview.Kept)
	again, err := run.Rerun(ctx, what)
	if err != nil {
		panic(err)
	}
	result, _ = again.Wait(ctx)
	fmt.Println(result.Status)
	// Output:
	// calls pick
	// calls pack
	// failed no room
	// will run [{pack pack false} {ship ship true}] may run [] kept [{pick pick false}]
	// calls pack
	// calls ship
	// completed
}
