package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

const patientText = `
kind: Workflow
name: patient
operations: {letter: {wait: {message: letter}}}
steps: [{operation: letter, timing: {timeout: PT1H}}]`

// suspendedMain makes a folder with a run that has waited since yesterday for a message with a timeout of an hour, without a process since
// then: `suspended DIR RUN`.
func suspendedMain() {
	if err := suspend(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func suspend(ctx context.Context, dir, id string) error {
	checked, err := kinds.Load("patient.yaml", []byte(patientText), template.Known{})
	if err != nil {
		return err
	}
	engine, err := sluice.Open(ctx, dir, coordinator.Config{})
	if err != nil {
		return err
	}
	other, err := engine.Start(ctx, checked.Workflow, nil) // stores the definition
	if err != nil {
		return err
	}
	if err := other.Cancel(ctx, ""); err != nil {
		return err
	}
	if err := engine.Shutdown(ctx); err != nil {
		return err
	}
	p, err := plan.Compile(checked)
	if err != nil {
		return err
	}
	store, err := disk.Open(dir, disk.Config{})
	if err != nil {
		return err
	}
	root, at := decide.NewRoot(p), time.Now().Add(-24*time.Hour).UnixNano()
	out := decide.NewStepper(root, noHost{}).Step(at, []decide.Item{{Event: decide.Started(id, p, nil, decide.Limits{})}})
	if _, err := store.Append(ctx, id, 0, out.Batch, headOf(id, root)); err != nil {
		return err
	}
	return store.Close()
}

// headOf returns the head with which the engine would list the run.
func headOf(id string, root *reactive.Root) journal.Head {
	return journal.Head{
		Run: id, Workflow: root.Start().Workflow, Name: root.Start().Name, Status: string(root.RunStatus()), Open: true,
		Started: root.MadeAt(), Updated: root.At(), Due: root.NextDue(),
	}
}

// noHost is the decide.Host of a run that only waits.
type noHost struct{}

func (noHost) Function(string, []any) (value.Value, *journal.Failure) {
	return nil, call.NewFailure("", "there are no functions")
}
func (noHost) Pure(int32, any) (call.Result, bool) { return call.Result{}, false }
func (noHost) Reserve(reactive.Room) bool          { return true }
