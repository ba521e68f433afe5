// Command worker carries out two operations of a Sluice server, until Ctrl-C:
//
//	sluice serve --data ./journal --listen 127.0.0.1:8080 &
//	sluice start examples/worker/order.yaml --data ./journal
//	export SLUICE_TOKEN=$(sluice token create shop --role worker --operation price --operation charge --data ./journal)
//	go run ./examples/worker
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/worker"
)

type item struct {
	Article string `json:"article"`
	Count   int    `json:"count"`
}

var price = operation.Define("price", func(_ context.Context, i item) (int, error) { return 5 * i.Count, nil })

// charge is called at most once, since its step is not idempotent. It only simulates a charge; a real one passes the key on.
var charge = operation.Define("charge", func(ctx context.Context, amount int) (string, error) {
	worker.Log(ctx, fmt.Sprint("charging ", amount))
	return fmt.Sprintf("%d for %s", amount, operation.CallOf(ctx).Key()), nil
})

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := worker.Serve(ctx, worker.Config{
		URL: cmp.Or(os.Getenv("SLUICE_SERVER"), "http://127.0.0.1:8080"), Token: os.Getenv("SLUICE_TOKEN"),
		Operations: []worker.Operation{price, charge},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
