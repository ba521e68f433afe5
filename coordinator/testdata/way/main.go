// Command way runs a workflow. Built with -cover, it writes the coverage of a way to the folder of its second argument. Its first
// argument names the way: of a result, from the return of a call to the next call, or of a message, from Send to the call that follows.
// Its third argument is the folder of the store.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/coverage"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// documents holds the workflow of each way. Its last call has input 3.
var documents = map[string]string{
	"result": `
kind: Workflow
name: way
steps:
  - {id: a, operation: next, input: 1}
  - {id: b, operation: next, input: "{{ steps.a.output }}"}
  - {id: c, operation: next, input: "{{ steps.b.output }}"}
`,
	"message": `
kind: Workflow
name: way
operations: {told: {wait: {message: go}}}
steps:
  - {id: a, operation: told}
  - {id: b, operation: next, input: "{{ steps.a.output }}"}
`}

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, way, counters, folder string) error {
	store, err := disk.Open(folder, disk.Config{})
	if err != nil {
		return err
	}
	begun, counted := make(chan struct{}), make(chan error, 1) // nothing else is executed in between
	next := operation.Define("next", func(_ context.Context, call int) (int, error) {
		switch call {
		case 2:
			<-begun
			if err := coverage.ClearCounters(); err != nil {
				counted <- err
			}
		case 3:
			counted <- errors.Join(coverage.WriteMetaDir(counters), coverage.WriteCountersDir(counters))
		}
		return call + 1, nil
	})
	engine, err := coordinator.New(ctx, store, coordinator.Config{Operations: []coordinator.Operation{next}})
	if err != nil {
		return err
	}
	checked, err := kinds.Load("way.yaml", []byte(documents[way]), template.Known{Lenient: true})
	if err != nil {
		return err
	}
	handle, err := engine.Start(ctx, checked.Workflow, nil)
	if err != nil {
		return err
	}
	close(begun)
	if way == "message" {
		if err := send(ctx, handle); err != nil {
			return err
		}
	}
	if err := <-counted; err != nil {
		return err
	}
	return engine.Shutdown(ctx)
}

// send sends the run its message once it waits for it.
func send(ctx context.Context, handle *coordinator.Run) error {
	for u, err := range handle.Watch(ctx, 0) {
		if err != nil {
			return err
		}
		if u.Event.Type == journal.CallRequested {
			break
		}
	}
	if err := coverage.ClearCounters(); err != nil {
		return err
	}
	return handle.Send(ctx, "go", 3)
}
