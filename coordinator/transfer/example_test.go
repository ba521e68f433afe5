package transfer_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/sluiceflow/sluice"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/template"
)

const letters = `
kind: Workflow
name: letters
operations: {letter: {wait: {message: letter}}}
steps: [{operation: letter}]
output: "{{ steps.letter.output }}"`

// A run goes from one store to another. There it is held, until it is resumed.
func ExampleTransfer_Import() {
	ctx := context.Background()
	w, err := template.Parse("letters.yaml", []byte(letters))
	if err != nil {
		log.Panic(err)
	}
	here, err := sluice.Open(ctx, "", coordinator.Config{})
	if err != nil {
		log.Panic(err)
	}
	if _, err = here.Start(ctx, w, nil, coordinator.WithID("monday")); err != nil {
		log.Panic(err)
	}
	var file bytes.Buffer
	if err = here.Export(ctx, &file, "monday"); err != nil {
		log.Panic(err)
	}
	if err = here.Shutdown(ctx); err != nil {
		log.Panic(err)
	}

	there, err := sluice.Open(ctx, "", coordinator.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer there.Shutdown(ctx)
	runs, err := there.Import(ctx, bytes.NewReader(file.Bytes()), "ann")
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(runs[0].Run, "held:", runs[0].Held)
	run, err := there.Run(ctx, "monday")
	if err != nil {
		log.Panic(err)
	}
	if err = run.Resume(ctx); err != nil {
		log.Panic(err)
	}
	if err = run.Send(ctx, "letter", "hello"); err != nil {
		log.Panic(err)
	}
	result, err := run.Wait(ctx)
	fmt.Println(result.Output, err)
	// Output:
	// monday held: true
	// hello <nil>
}

// A copy of a folder is made while its runs go on, and opens.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "sluice")
	if err != nil {
		log.Panic(err)
	}
	defer os.RemoveAll(dir)
	engine, err := sluice.Open(ctx, filepath.Join(dir, "data"), coordinator.Config{})
	if err != nil {
		log.Panic(err)
	}
	w, err := template.Parse("one.yaml", []byte(`{kind: Workflow, name: one, operations: {one: {value: 1}}, steps: [{operation: one}], output: "{{ steps.one.output }}"}`))
	if err != nil {
		log.Panic(err)
	}
	run, err := engine.Start(ctx, w, nil, coordinator.WithID("r"))
	if err == nil {
		_, err = run.Wait(ctx)
	}
	if err == nil {
		err = engine.Backup(ctx, filepath.Join(dir, "copy"))
	}
	if err == nil {
		err = engine.Shutdown(ctx)
	}
	if err != nil {
		log.Panic(err)
	}
	again, err := sluice.Open(ctx, filepath.Join(dir, "copy"), coordinator.Config{})
	if err != nil {
		log.Panic(err)
	}
	defer again.Shutdown(ctx)
	for head, err := range again.Find(ctx, "status:completed") {
		fmt.Println(head.Run, head.Status, err)
	}
	// Output: r completed <nil>
}
