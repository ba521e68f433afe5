package lists_test

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// order returns a workflow that checks an order if its value exceeds a limit.
func order(limit int) *template.Workflow {
	w, err := template.Parse("order.yaml", fmt.Appendf(nil, `
kind: Workflow
name: order
operations: {say: {value: "{{ input }}"}}
steps:
  - {id: amount, operation: say, input: "{{ input }}"}
  - conditional:
      id: large
      test: "{{ steps.amount.output > %d }}"
      then: [{id: check, operation: say, input: checked}]
      else: [{id: pay, operation: say, input: paid}]
`, limit))
	if err != nil {
		panic(err)
	}
	return w
}

// A run that has ended is followed under a new version of its workflow: no call is made.
func Example_shadow() {
	ctx := context.Background()
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{})
	if err != nil {
		panic(err)
	}
	run, err := engine.Start(ctx, order(500), 200)
	if err != nil {
		panic(err)
	}
	if _, err := run.Wait(ctx); err != nil {
		panic(err)
	}
	report, err := run.Shadow(ctx, order(100))
	if err != nil {
		panic(err)
	}
	for _, d := range report.Differences {
		fmt.Println(d.Kind, d.Step)
	}
	fmt.Println(report.Same(), engine.Shutdown(ctx))
	// Output:
	// branch large
	// new check
	// gone pay
	// false <nil>
}

// Two versions of a workflow are compared step by step.
func Example_diff() {
	ctx := context.Background()
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{})
	if err != nil {
		panic(err)
	}
	d, err := engine.Diff(order(500), order(100))
	if err != nil {
		panic(err)
	}
	for _, step := range d.Changed {
		fmt.Println(step.ID, step.Parts[0].What)
	}
	fmt.Println(d.None(), engine.Shutdown(ctx))
	// Output:
	// large test
	// check guards
	// pay guards
	// false <nil>
}
