package rerun

import (
	"cmp"
	"context"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/coordinator/starting"
)

// Engine is the part of an engine that a Rerunner needs.
type Engine interface {
	// CheckOpen returns an error once the engine has shut down.
	CheckOpen() error

	// ReadError completes the error of a reader.
	ReadError(ctx context.Context, err error) error
}

// Rerunner makes the reruns of an engine's runs.
type Rerunner struct {
	Maker  Maker            // computes the results that a rerun keeps
	Engine Engine           // starts the new runs
	Holds  *holds.Holds     // has the incomplete runs
	Starts *starting.Starts // previews starts
}

// Make determines the results that a rerun of a run keeps, or refuses the rerun.
func (r *Rerunner) Make(ctx context.Context, run string, what *Options) (*Made, error) {
	if err := cmp.Or(r.Engine.CheckOpen(), r.Holds.Check(run)); err != nil {
		return nil, err
	}
	made, err := r.Maker.Make(ctx, run, what)
	return made, r.Engine.ReadError(ctx, err)
}

// Preview previews a rerun by the computation that then carries it out, with the same refusals.
func (r *Rerunner) Preview(ctx context.Context, run, actor string, what *Options, opts []starting.Option) (*Preview, error) {
	made, err := r.Make(ctx, run, what)
	if err != nil {
		return nil, err
	}
	o, err := made.Options(actor, "", opts)
	if err == nil {
		err = r.Starts.Refused(ctx, made.Entry, made.Input, o)
	}
	if err != nil {
		return nil, err
	}
	return made.Preview(ctx)
}
