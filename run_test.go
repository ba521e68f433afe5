package sluice_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
)

type order struct {
	Item  string `json:"item"`
	Count int    `json:"count"`
}

func TestARunWithTypes(t *testing.T) {
	ctx := t.Context()
	engine, err := sluice.Open(ctx, "", coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()
	pack := operation.Define("pack", func(_ context.Context, o order) (order, error) {
		if o.Count == 0 {
			return o, operation.Permanent(errors.New("nothing to pack"))
		}
		return order{o.Item, o.Count - 1}, nil
	})
	packed := flow.Call("packed", pack, flow.Input[order]())
	packing := flow.MustNew("packing", flow.Input[order](), flow.Output(packed), packed)

	run, err := sluice.Start(ctx, engine, packing, order{"kettle", 3}, coordinator.WithID("packing-1"))
	require.NoError(t, err)
	result, err := run.Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, order{"kettle", 2}, result.Output)
	require.Equal(t, reactive.RunCompleted, result.Status)
	require.Equal(t, "packing-1", run.ID())

	found, err := engine.Run(ctx, "packing-1")
	require.NoError(t, err)
	result, err = (&sluice.Run[order]{Run: found}).Wait(ctx)
	require.NoError(t, err)
	require.Equal(t, order{"kettle", 2}, result.Output)

	run, err = sluice.Start(ctx, engine, packing, order{"kettle", 0})
	require.NoError(t, err)
	result, err = run.Wait(ctx)
	require.NoError(t, err)
	require.ErrorContains(t, result.Err(), "nothing to pack")
	require.Zero(t, result.Output)
}

func TestAnOutputOfAnotherTypeIsAnError(t *testing.T) {
	ctx := t.Context()
	engine, err := sluice.Open(ctx, "", coordinator.Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, engine.Shutdown(context.Background())) }()
	tree, err := template.Parse("w.yaml", []byte(`
kind: Workflow
name: w
input: {type: object}
operations: {take: {value: "{{ input.item }}"}}
steps: [{operation: take, input: "{{ input }}"}]
output: "{{ steps.take.output }}"
`))
	require.NoError(t, err)
	run, err := sluice.Start(ctx, engine, flow.Typed[order, int](tree), order{Item: "kettle"})
	require.NoError(t, err)
	result, err := run.Wait(ctx)
	require.ErrorContains(t, err, "output of run "+run.ID())
	require.Equal(t, "kettle", result.Result.Output)

	_, err = sluice.Start(ctx, engine, flow.Typed[int, string](tree), 3)
	var refused *coordinator.InputError
	require.ErrorAs(t, err, &refused)
}
