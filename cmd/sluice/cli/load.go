package cli

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

// Load reads the file of a workflow, at most document.BytesMax bytes, and compiles it. All errors of the document are returned
// at once, as document.Errors. Known says which names from outside the document are known.
func Load(file string, known template.Known) (*plan.Plan, error) {
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

// LoadToRun is Load for a workflow that this program is to run: it also refuses operations and bindings that the program does
// not have, and checks the documents of child workflows.
func LoadToRun(ctx context.Context, file string) (*plan.Plan, error) {
	p, err := Load(file, template.Known{})
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
