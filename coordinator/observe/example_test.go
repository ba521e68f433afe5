package observe_test

import (
	"context"
	"fmt"

	"github.com/reactivex/rxgo/v2"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/observe"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/live"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template"
)

func exampleRun(ctx context.Context) (*coordinator.Engine, *coordinator.Run) {
	engine, _ := coordinator.New(ctx, memory.New(), coordinator.Config{})
	workflow, _ := template.Parse("order.yaml", []byte(`
kind: Workflow
name: order
operations: {approval: {wait: {message: approve}}, ship: {value: shipped}}
steps: [{operation: approval}, {operation: ship}]`))
	run, _ := engine.Start(ctx, workflow, nil)
	return engine, run
}

// An effect runs when a value that it has read changes, and only then.
func ExampleLive() {
	ctx := context.Background()
	engine, run := exampleRun(ctx)
	defer engine.Shutdown(ctx)
	go run.Send(ctx, "approve", nil)
	err := observe.Live(ctx, run, func(s *live.Signals) error {
		approval, ship := s.Step("approval"), s.Step("ship")
		open := signals.NewComputed(s.Graph(), func(r signals.Reader) (bool, error) {
			status, err := approval.Status.Get(r)
			return status == reactive.Completed, err
		})
		_, err := s.Graph().Effect(func(r signals.Reader) error {
			approved, _ := open.Get(r)
			result, _ := ship.Result.Get(r)
			if approved && result != nil {
				fmt.Println(result)
			}
			return nil
		})
		return err
	})
	fmt.Println(err)
	// Output:
	// shipped
	// <nil>
}

// The iteration may be broken off behind any operators.
func ExampleEach() {
	ctx := context.Background()
	engine, run := exampleRun(ctx)
	defer engine.Shutdown(ctx)
	requested := func(_ context.Context, updates rxgo.Observable) rxgo.Observable {
		return updates.Filter(func(v any) bool { return v.(coordinator.Update).Event.Type == journal.CallRequested })
	}
	for item := range observe.Each(ctx, run, 1, requested) {
		fmt.Println(item.V.(coordinator.Update).Event.Node)
		break
	}
	// Output: approval
}
