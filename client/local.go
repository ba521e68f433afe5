package client

import (
	"context"
	"iter"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Of returns an engine of this process under the interface that a Client has, too.
func Of(engine *coordinator.Engine) Engine { return local{engine} }

type local struct{ engine *coordinator.Engine }

// options returns the options of a start in the form of package coordinator.
func (o Options) options() []coordinator.Option {
	list := []coordinator.Option{coordinator.WithLabels(o.Labels)}
	if o.ID != "" {
		list = append(list, coordinator.WithID(o.ID))
	}
	return list
}

// Start implements Engine.
func (l local) Start(ctx context.Context, w *template.Workflow, input any, o Options) (Run, error) {
	return handle(l.engine.Start(ctx, w, input, o.options()...))
}

// StartNamed implements Engine.
func (l local) StartNamed(ctx context.Context, name string, input any, o Options) (Run, error) {
	run, _, err := parcel.StartNamed(ctx, l.engine, name, input, o.options()...)
	return handle(run, err)
}

// handle returns a run as an interface, which is nil if there is an error.
func handle(run *coordinator.Run, err error) (Run, error) {
	if err != nil {
		return nil, err
	}
	return localRun{run}, nil
}

// localRun is a run of an engine of this process.
type localRun struct{ *coordinator.Run }

// Dry implements Run.
func (r localRun) Dry(would func(journal.Event)) Run { return localRun{r.Run.Dry(would)} }

// Publish implements Engine.
func (l local) Publish(ctx context.Context, w *template.Workflow) (*api.Version, error) {
	p, err := parcel.Of(ctx, l.engine, w)
	if err != nil {
		return nil, err
	}
	now, _, err := parcel.Publish(ctx, l.engine, p, "")
	if err != nil {
		return nil, err
	}
	return api.VersionOf(now), nil
}

// Run implements Engine.
func (l local) Run(ctx context.Context, id string) (Run, error) { return handle(l.engine.Run(ctx, id)) }

// Find implements Engine.
func (l local) Find(ctx context.Context, query string) iter.Seq2[*api.Run, error] {
	return func(yield func(*api.Run, error) bool) {
		err := api.Handle(ctx, l.engine, &api.Request{Verb: api.List, Query: query}, func(r *api.Reply) error {
			if r.Run != nil && !yield(r.Run, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && err != errStopped {
			yield(nil, err)
		}
	}
}

// PreviewDelete implements Engine.
func (l local) PreviewDelete(ctx context.Context, id string) ([]string, error) {
	return l.engine.PreviewDelete(ctx, id)
}

// Delete implements Engine.
func (l local) Delete(ctx context.Context, id string) error { return l.engine.Delete(ctx, id) }
