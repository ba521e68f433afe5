package main

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
)

// load reads a workflow's file and compiles it. Faults of the document are reported all at once, as document.Errors.
func load(file string, known template.Known) (*plan.Plan, error) {
	data, err := readfile.Regular(file, document.BytesMax)
	if err != nil {
		return nil, err
	}
	checked, err := kinds.Load(file, data, known)
	if err != nil {
		return nil, err
	}
	return plan.Compile(checked)
}

// loadToRun is load, and finds whatever else would keep the workflow from being run by this program.
func loadToRun(ctx context.Context, file string) (*plan.Plan, error) {
	p, err := load(file, template.Known{})
	if err != nil {
		return nil, err
	}
	engine, err := coordinator.New(ctx, memory.New(), coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer engine.Shutdown(ctx)
	if err := engine.Register(p.Workflow); err != nil {
		if isDocumentError(err) {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, nil
}
