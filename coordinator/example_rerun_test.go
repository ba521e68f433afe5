package coordinator_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
)

// A rerun keeps the results of completed steps: only the failed step and those that follow it are called.
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
	// will run [{pack pack false false} {ship ship true false}] may run [] kept [{pick pick false false}]
	// calls pack
	// calls ship
	// completed
}

// A playbook is rerun from an event on: the events up to it are kept, and the calls that were under way are made again.
func ExampleRun_Rerun_playbook() {
	ctx := context.Background()
	down := true
	call := func(name string) coordinator.Operation {
		return operation.Define(name, func(context.Context, any) (any, error) {
			if fmt.Println("calls", name); name == "send" && down {
				return nil, errors.New("no line")
			}
			return name, nil
		})
	}
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{Operations: []coordinator.Operation{call("load"), call("send")}})
	if err != nil {
		panic(err)
	}
	defer engine.Shutdown(ctx)
	nodes, err := document.Parse("", []byte(`{kind: Playbook, apiVersion: sluice/v1, metadata: {name: report}, workflow: [
		{step: load, tool: {kind: load}, next: {arcs: [{step: send}]}}, {step: send, tool: {kind: send}}]}`), document.Limits{})
	if err != nil {
		panic(err)
	}
	report, err := kinds.ParseNode(nodes[0])
	if err != nil {
		panic(err)
	}
	run, err := engine.Start(ctx, report, nil)
	if err != nil {
		panic(err)
	}
	result, _ := run.Wait(ctx)
	fmt.Println(result.Status, result.Failure.Message)

	what := coordinator.Rerun{}
	for e := range run.Events(ctx, 1) {
		if e.Type == journal.CallRequested {
			what.At = e.Seq // in the end, the sequence of the last request
		}
	}
	down = false
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
	// calls load
	// calls send
	// failed no line
	// will run [{send@1.send_task send false false}] may run [] kept [{load@1.load_task load false false}]
	// calls send
	// completed
}
