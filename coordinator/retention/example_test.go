package retention_test

import (
	"context"
	"fmt"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// Rules set the time for which runs are kept after they have ended, and Collect deletes those whose time is over.
func Example() {
	ctx := context.Background()
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{})
	if err != nil {
		panic(err)
	}
	report, err := template.Parse("report.yaml", []byte(`{kind: Workflow, name: report, operations: {one: {value: 1}}, steps: [{operation: one}]}`))
	if err != nil {
		panic(err)
	}
	run, err := engine.Start(ctx, report, nil, coordinator.WithID("monday"))
	if err != nil {
		panic(err)
	}
	if _, err := run.Wait(ctx); err != nil {
		panic(err)
	}
	fmt.Println(engine.Keep(ctx, retention.Rule{Where: "status:completed", Keep: 0}, "ann"))
	rules, err := engine.Rules(ctx)
	for _, rule := range rules {
		fmt.Printf("%q %s\n", rule.Where, rule.Keep)
	}
	fmt.Println(err, rules[0].Keep == 30*24*time.Hour)
	_, err = engine.Collect(ctx, retention.Collection{Found: func(g retention.Gone) error {
		if g.Kind == retention.KindRun {
			fmt.Println("deleted", g.Name)
		}
		return nil
	}})
	fmt.Println(err)
	fmt.Println(engine.Shutdown(ctx))
	// Output:
	// <nil>
	// "" 720h0m0s
	// "status:completed" 0s
	// <nil> true
	// deleted monday
	// <nil>
	// <nil>
}
