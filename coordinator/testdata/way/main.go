// Command way runs a workflow of three calls. Built with -cover, it writes to the folder of its first argument what was executed
// from the return of the second call to the third. Its second argument is the folder of the store.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/coverage"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

const document = `
kind: Workflow
name: way
steps:
  - {id: a, operation: next, input: 1}
  - {id: b, operation: next, input: "{{ steps.a.output }}"}
  - {id: c, operation: next, input: "{{ steps.b.output }}"}
`

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, counters, folder string) error {
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
	checked, err := kinds.Load("way.yaml", []byte(document), template.Known{Lenient: true})
	if err != nil {
		return err
	}
	if _, err := engine.Start(ctx, checked.Workflow, nil); err != nil {
		return err
	}
	close(begun)
	if err := <-counted; err != nil {
		return err
	}
	return engine.Shutdown(ctx)
}
