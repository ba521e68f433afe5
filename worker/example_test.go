package worker_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http/httptest"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/httpapi"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/worker"
)

// A server and its worker, here in one process.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	engine, _ := coordinator.New(ctx, memory.New(), coordinator.Config{Workers: workers.NewKey()})
	handler, _ := httpapi.Handler(engine, httpapi.Config{
		Version: "1", Hosts: []string{"127.0.0.1"}, Logger: slog.New(slog.DiscardHandler),
		Authenticate: func(string) (httpapi.Identity, bool) {
			return httpapi.Identity{Name: "shop", Role: httpapi.Worker, Operations: []string{"charge"}}, true
		},
	})
	server := httptest.NewServer(handler)

	charge := operation.Define("charge", func(ctx context.Context, amount int) (string, error) {
		return fmt.Sprint(amount, " for ", operation.CallOf(ctx).Key()), nil
	})
	served := make(chan error)
	go func() {
		served <- worker.Serve(ctx, worker.Config{URL: server.URL, Token: "secret", Operations: []worker.Operation{charge}})
	}()

	order, _ := kinds.Load("order.yaml", []byte(`{kind: Workflow, name: order, steps: [{operation: charge, input: 12}], output: "{{ steps.charge.output }}"}`),
		template.Known{Operation: func(name string) bool { return name == "charge" }})
	run, _ := engine.Start(ctx, order.Workflow, nil, coordinator.WithID("order-7"))
	result, _ := run.Wait(ctx)
	fmt.Println(result.Status, result.Output)

	stop()
	fmt.Println(<-served)
	handler.Close()
	_ = engine.Shutdown(context.Background())
	server.Close()
	// Output:
	// completed 12 for order-7/charge
	// <nil>
}
