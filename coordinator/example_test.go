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

// letter returns a workflow of two steps: one calls a Go function, the other waits for a message.
func letter() *template.Workflow {
	w, err := template.Parse("letter.yaml", []byte(`
kind: Workflow
name: letter
operations: {signature: {wait: {message: signed}}}
steps:
  - {operation: write, input: "{{ input }}"}
  - {operation: signature}
output: "{{ steps.write.output }}, signed by {{ steps.signature.output }}"
`))
	if err != nil {
		panic(err)
	}
	return w
}

// office returns an engine in memory with an operation that writes letters.
func office(ctx context.Context) *coordinator.Engine {
	write := operation.Define("write", func(_ context.Context, to string) (string, error) {
		if to == "" {
			return "", &operation.Error{Code: "no_address", Message: "a letter goes to somebody"}
		}
		return "dear " + to, nil
	})
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{Operations: []coordinator.Operation{write}})
	if err != nil {
		panic(err)
	}
	return engine
}

// An engine starts a run, delivers messages to it, and waits for its end.
func Example() {
	ctx := context.Background()
	engine := office(ctx)
	run, err := engine.Start(ctx, letter(), "bob")
	if err != nil {
		panic(err)
	}
	if err := run.Send(ctx, "signed", "ann"); err != nil {
		panic(err)
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, result.Output, err)
	fmt.Println(engine.Shutdown(ctx))
	// Output:
	// completed dear bob, signed by ann <nil>
	// <nil>
}

// An id names a run: starting it again returns the existing run, and Run finds it later.
func ExampleEngine_Start() {
	ctx := context.Background()
	engine := office(ctx)
	defer engine.Shutdown(ctx)
	for range 2 {
		run, err := engine.Start(ctx, letter(), "bob", coordinator.WithID("letter-7"))
		fmt.Println(run.ID(), err)
	}
	_, err := engine.Run(ctx, "letter-8")
	fmt.Println(errors.Is(err, coordinator.ErrRunNotFound))
	// Output:
	// letter-7 <nil>
	// letter-7 <nil>
	// true
}

// The result of a run that did not complete has its status and the failure that ended it.
func ExampleRun_Wait() {
	ctx := context.Background()
	engine := office(ctx)
	defer engine.Shutdown(ctx)
	run, err := engine.Start(ctx, letter(), "")
	if err != nil {
		panic(err)
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, result.Failure.Step, result.Failure.Code, err)
	// Output:
	// failed write no_address <nil>
}

// A command to a run that has ended is refused with an error.
func ExampleRun_Cancel() {
	ctx := context.Background()
	engine := office(ctx)
	defer engine.Shutdown(ctx)
	run, err := engine.Start(ctx, letter(), "bob")
	if err != nil {
		panic(err)
	}
	fmt.Println(run.Cancel(ctx, "it was never meant"))
	result, err := run.Wait(ctx)
	fmt.Println(result.Status, result.Failure.Code, err)
	fmt.Println(errors.Is(run.Cancel(ctx, "again"), coordinator.ErrFinished))
	// Output:
	// <nil>
	// aborted cancelled <nil>
	// true
}

// Watch yields the updates of a run, from its first event on, as they become durable.
func ExampleRun_Watch() {
	ctx := context.Background()
	engine := office(ctx)
	defer engine.Shutdown(ctx)
	run, err := engine.Start(ctx, letter(), "bob")
	if err != nil {
		panic(err)
	}
	for update, err := range run.Watch(ctx, 1) {
		if err != nil {
			panic(err)
		}
		for _, c := range update.Changes {
			fmt.Println(c.Step, c.To)
		}
		if update.Status == "waiting" {
			break
		}
	}
	// Output:
	// write ready
	// write running
	// signature waiting
	// write completed
	// signature ready
	// signature running
}

// At reads the past of a run: the moment after any of its events, or an instant.
func ExampleRun_at() {
	ctx := context.Background()
	engine := office(ctx)
	defer engine.Shutdown(ctx)
	run, err := engine.Start(ctx, letter(), "bob")
	if err != nil {
		panic(err)
	}
	if err := run.Cancel(ctx, "it was never meant"); err != nil {
		panic(err)
	}
	if _, err := run.Wait(ctx); err != nil {
		panic(err)
	}
	for _, seq := range []uint64{1, 2} {
		state, err := run.At(coordinator.Moment{Seq: seq}).State(ctx)
		if err != nil {
			panic(err)
		}
		fmt.Println(seq, state.Status, state.Steps[0].Step, state.Steps[0].Status)
	}
	// Output:
	// 1 running write ready
	// 2 running write running
}
