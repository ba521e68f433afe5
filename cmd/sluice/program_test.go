package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/template"
)

const officeText = `
kind: Workflow
name: office
operations: {letter: {wait: {message: letter}}}
steps:
  - {operation: letter}
  - {operation: contract, input: "{{ steps.letter.output }}", fulfillment: {policy: never}}
output: "{{ steps.contract.output }}"`

// programMain is a program of a user that opens a folder with sluice.Open: `program DIR RUN`. It ends when the run ends; an interrupt
// suspends the run.
func programMain() {
	if err := work(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func work(dir, id string) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	contract := operation.Define("contract", func(_ context.Context, in any) (any, error) { return in, nil })
	engine, err := sluice.Open(ctx, dir, coordinator.Config{Operations: []coordinator.Operation{contract}})
	if err != nil {
		return err
	}
	defer func() {
		if closed := engine.Shutdown(context.Background()); err == nil {
			err = closed
		}
	}()
	w, err := template.Parse("office.yaml", []byte(officeText))
	if err != nil {
		return err
	}
	run, err := engine.Start(ctx, w, nil, coordinator.WithID(id))
	if err != nil {
		return err
	}
	result, err := run.Wait(ctx)
	if err != nil {
		return err
	}
	fmt.Println(result.Status, result.Output)
	return nil
}
