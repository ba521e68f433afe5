package sluice_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template/flow"
)

var split = operation.Define("split", func(_ context.Context, s string) ([]string, error) { return strings.Fields(s), nil })
var upper = operation.Define("upper", func(_ context.Context, s string) (string, error) { return strings.ToUpper(s), nil })

func Example() {
	words := flow.Call("words", split, flow.Input[string]())
	loud := flow.Each("loud", words, func(word flow.Ref[string]) flow.Ref[string] { return flow.Call("upper", upper, word) })
	ctx, shout := context.Background(), flow.MustNew("shout", flow.Input[string](), flow.Output(loud), words, loud)
	engine, _ := sluice.Open(ctx, "", coordinator.Config{}) // "" is in memory; a folder keeps runs through crashes
	run, _ := sluice.Start(ctx, engine, shout, "open the gate")
	result, _ := run.Wait(ctx)
	fmt.Println(result.Status, result.Output)
	// Output:
	// completed [OPEN THE GATE]
}
