package coordinator_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow/machine"
	"github.com/sluiceflow/sluice/template/kinds"
)

type bought struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

type basket struct {
	Items []string `json:"items"`
	Txn   *string  `json:"txn"`
}

type charge struct {
	Txn string `json:"txn"`
}

type basketEvent struct {
	Bought *bought                  `event:"Bought"`
	Paid   *machine.Receipt[charge] `effect:"pay"`
}

var (
	payBasket = machine.Effect[string, charge]("pay")
	hang      chan struct{} // closed at the end of its test
	impure    atomic.Int64
)

// stepBasket carries out the instruction in bought.What.
func stepBasket(a *machine.Activation[string], s *basket, e basketEvent) (*basket, error) {
	if s == nil {
		s = &basket{}
	}
	if e.Paid != nil {
		s.Txn = &e.Paid.Payload.Txn
		a.Complete()
		return s, nil
	}
	switch e.Bought.What {
	case "panic":
		panic("nothing left")
	case "exit":
		runtime.Goexit()
	case "error":
		return nil, errors.New("no such item")
	case "fail":
		return nil, machine.Fail("sold_out", "come back later")
	case "hang":
		<-hang
	case "undeclared":
		machine.Effect[string, charge]("ship").Emit(a, "x")
	case "text":
		s.Items = append(s.Items, "\xff")
		return s, nil
	case "pay":
		payBasket.Emit(a, a.Key())
	case "delete":
		return nil, nil
	case "impure":
		s.Items = append(s.Items, time.Unix(impure.Add(1), 0).UTC().String())
		return s, nil
	}
	s.Items = append(s.Items, e.Bought.What)
	return s, nil
}

func baskets() *registry.Machine {
	return machine.Define("basket", "1", stepBasket, machine.Emits(payBasket))
}

const basketText = `
kind: World
name: shop
types:
  Bought: {record: {id: text, what: text}}
  basket: {record: {items: list<text>, txn: option<text>}}
  charge: {record: {txn: text}}
effects: {pay: {params: text, receipt: charge}}
machines:
  basket: {key: text, state: basket, event: [Bought], emits: [pay], go: {name: basket, version: "1"}}
routing: {subscriptions: [{event: Bought, machine: basket, key_field: id}]}
`

func basketWorld(t *testing.T) *template.Workflow {
	checked, err := kinds.Load("shop.yaml", []byte(basketText), template.Known{Lenient: true})
	require.NoError(t, err)
	return checked.Workflow
}

var payer = operation.Define("pay", func(_ context.Context, order string) (charge, error) { return charge{"t-" + order}, nil })

func openShop(t *testing.T, store journal.Store, machines ...*registry.Machine) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), store, coordinator.Config{
		Operations: []coordinator.Operation{payer}, Machines: machines, ActivationTimeout: 50 * time.Millisecond,
	})
	require.NoError(t, err)
	return e
}

func buy(t *testing.T, run *coordinator.Run, id, what string) {
	_, err := run.SendMessage(t.Context(), cells.Message{Name: "Bought", Payload: bought{id, what}})
	require.NoError(t, err)
}

func await(t *testing.T, run *coordinator.Run, cell string, holds func(*cells.State) bool) cells.State {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	state, err := run.Await(ctx, cell, holds)
	if err != nil {
		is, _ := run.Cell(t.Context(), cell)
		require.NoError(t, err, "%+v", is)
	}
	return state
}

func failed(c *cells.State) bool { return c.Status == world.Failed }

// A cell of a machine in Go runs a step, emits an effect, and receives its receipt.
func TestAMachineInGoStepsItsCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openShop(t, memory.New(), baskets())
		defer e.Shutdown(t.Context())
		run, err := e.Start(t.Context(), basketWorld(t), nil, coordinator.WithID("shop"))
		require.NoError(t, err)
		buy(t, run, "a", "tea")
		buy(t, run, "a", "pay")
		c := await(t, run, "basket[a]", func(c *cells.State) bool { return c.Status == world.Completed })
		state, err := machine.StateOf[basket](c.State)
		require.NoError(t, err)
		require.Equal(t, []string{"tea", "pay"}, state.Items)
		require.Equal(t, "t-a", *state.Txn)
		buy(t, run, "a", "delete")
		_, err = run.Cell(t.Context(), "basket[a]")
		for err == nil {
			_, err = run.Cell(t.Context(), "basket[a]")
		}
		require.ErrorContains(t, err, `no cell "basket[a]"`)
	})
}

// A step that panics, exits, hangs, fails, emits an undeclared effect or returns an invalid state fails only its cell.
func TestAStepThatGivesWhatItMayNotFailsItsCell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hang = make(chan struct{})
		defer close(hang)
		e := openShop(t, memory.New(), baskets())
		run, err := e.Start(t.Context(), basketWorld(t), nil, coordinator.WithID("shop"))
		require.NoError(t, err)
		codes := map[string]string{"panic": "step_panicked", "exit": "step_panicked", "error": "step_failed", "fail": "sold_out",
			"hang": "activation_timeout", "undeclared": "effect_undeclared", "text": "output_invalid"}
		for what, code := range codes {
			buy(t, run, what, "tea")
			buy(t, run, what, what)
			buy(t, run, what, "milk")
			c := await(t, run, "basket["+what+"]", failed)
			require.Equal(t, code, c.Failure.Code, c.Failure.Message)
			require.Equal(t, map[string]any{"items": []any{"tea"}, "txn": nil}, c.State, "the state is as it was")
		}
		c, err := run.Cell(t.Context(), "basket[panic]")
		require.NoError(t, err)
		require.Equal(t, "panic: nothing left", c.Failure.Message)
		require.Contains(t, c.Failure.Details.(map[string]any)["stack"], "stepBasket")
		buy(t, run, "z", "tea")
		await(t, run, "basket[z]", func(c *cells.State) bool { return c.State != nil })
		require.NoError(t, e.Shutdown(t.Context()), "a step that was abandoned holds up nothing")
	})
}

// One activation of 1,024 runs twice.
func TestAnImpureStepIsFoundInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := openShop(t, memory.New(), baskets())
		defer e.Shutdown(t.Context())
		run, err := e.Start(t.Context(), basketWorld(t), nil, coordinator.WithID("shop"))
		require.NoError(t, err)
		for range 2 * 1024 {
			_, err := run.SendMessage(t.Context(), cells.Message{Name: "Bought", Payload: bought{"a", "impure"}})
			if errors.Is(err, coordinator.ErrMailboxFull) { // it was found early, and the cell has taken no messages since
				break
			}
			require.NoError(t, err)
		}
		c := await(t, run, "basket[a]", failed)
		require.Equal(t, "step_impure", c.Failure.Code)
	})
}

// Cells whose machine the program does not have queue their events, and go on in a program that has it, or when it is registered.
func TestCellsWaitForAMachine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &surviving{Store: memory.New()}
		e := openShop(t, store)
		run, err := e.Start(t.Context(), basketWorld(t), nil, coordinator.WithID("shop"))
		require.NoError(t, err)
		buy(t, run, "a", "tea")
		buy(t, run, "a", "milk")
		c, err := run.Cell(t.Context(), "basket[a]")
		require.NoError(t, err)
		require.Equal(t, world.Running, c.Status)
		require.Equal(t, 2, c.Mail)
		x, err := run.Explain(t.Context(), "basket[a]")
		require.NoError(t, err)
		require.Equal(t, `the program does not have machine "basket", version "1": 2 items are kept until it has it`, x.Reasons[0].Text)
		require.NoError(t, e.Shutdown(t.Context()))

		e = openShop(t, store, baskets())
		run, err = e.Run(t.Context(), "shop")
		require.NoError(t, err)
		two := func(c *cells.State) bool { return c.Mail == 0 && c.State != nil }
		c = await(t, run, "basket[a]", two)
		require.Equal(t, []any{"tea", "milk"}, c.State.(map[string]any)["items"])
		require.NoError(t, e.Shutdown(t.Context()))

		e = openShop(t, store)
		defer e.Shutdown(t.Context())
		run, err = e.Run(t.Context(), "shop")
		require.NoError(t, err)
		buy(t, run, "a", "bread")
		c, err = run.Cell(t.Context(), "basket[a]")
		require.NoError(t, err)
		require.Equal(t, 1, c.Mail)
		own := machine.World("other", baskets(), machine.Subscribe("Bought", baskets(), "id"), machine.Call(payBasket, payer))
		require.NoError(t, e.Register(own))
		c = await(t, run, "basket[a]", two)
		require.Equal(t, []any{"tea", "milk", "bread"}, c.State.(map[string]any)["items"])
	})
}

// surviving is a store that outlives its engines.
type surviving struct{ journal.Store }

func (*surviving) Close() error { return nil }

func TestAWorldThatDoesNotFitItsMachineIsRefused(t *testing.T) {
	e := openShop(t, memory.New(), baskets())
	defer e.Shutdown(t.Context())
	other := machine.Define("basket", "1", func(*machine.Activation[int], *basket, basketEvent) (*basket, error) { return nil, nil }, machine.Emits(payBasket))
	err := e.Register(machine.World("other", other, machine.Call(payBasket, payer)))
	require.ErrorContains(t, err, `two machines in Go are named "basket", version "1"`)
	checked, err := kinds.Load("shop.yaml", []byte(`
kind: World
name: shop
types: {Bought: {record: {id: text, what: text}}}
effects: {pay: {params: text, receipt: {record: {txn: text}}}}
machines:
  basket: {key: text, state: {record: {items: list<int>, txn: option<text>}}, event: [Bought], emits: [pay], go: {name: basket, version: "1"}}
`), template.Known{Lenient: true})
	require.NoError(t, err)
	require.ErrorContains(t, e.Register(checked.Workflow), "coordinator_test.basket.Items: string does not fit int")
}
