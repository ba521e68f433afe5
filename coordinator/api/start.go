package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/coordinator/versions"
	"github.com/sluiceflow/sluice/template/value"
)

// Attachment is the part of a request that may be large.
type Attachment struct {
	Parcel *parcel.Parcel  `json:"parcel,omitempty"` // the workflow; nil: the request names a published one
	Old    *parcel.Parcel  `json:"old,omitempty"`    // of a comparison: the other workflow; nil: the request names a published one
	Input  json.RawMessage `json:"input,omitempty"`  // of the run; empty: null
}

// Encode returns the attachment as bytes.
func (a *Attachment) Encode() ([]byte, error) {
	data, err := json.Marshal(a)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	return data, nil
}

// attached carries out a request with an attachment or the name of a workflow.
func attached(ctx context.Context, engine *coordinator.Engine, req *Request) (*Done, error) {
	done := &Done{}
	a, err := req.attached()
	switch {
	case err != nil:
	case a.Parcel == nil && (req.Verb == Publish || req.Name == ""):
		err = fmt.Errorf("%w: no workflow is named or attached", ErrBadRequest)
	case a.Parcel != nil && req.Name != "":
		err = fmt.Errorf("%w: a workflow is named, and one is attached", ErrBadRequest)
	case req.Verb == Publish:
		err = publish(ctx, engine, req, a.Parcel, done)
	default:
		err = start(ctx, engine, req, &a, done)
	}
	return done, err
}

// emitNames emits the names of published workflows.
func emitNames(ctx context.Context, engine *coordinator.Engine, req *Request, emit func(*Reply) error) error {
	n := 0
	for name, err := range engine.Published(ctx, req.Name) {
		if err == nil {
			err = emit(&Reply{Name: name})
		}
		if n++; err != nil || n == req.Limit {
			return err
		}
	}
	return nil
}

func publish(ctx context.Context, engine *coordinator.Engine, req *Request, p *parcel.Parcel, done *Done) error {
	now, was, err := parcel.Publish(ctx, engine, p, req.Actor)
	if err != nil {
		return err
	}
	done.Published, done.Unchanged, done.Warning = VersionOf(now), was == now, parcel.ForWorkers(ctx, engine, now.Hash, now.Children)
	if !done.Unchanged {
		done.Replaced = VersionOf(was)
	}
	if was != nil && !done.Unchanged {
		if done.Effect, err = versions.Replaced(ctx, engine, was, now, messageOf); err != nil { // the version is published
			done.Warning = "the consequences for open runs are not known: " + ErrorOf(err).Message
		}
	}
	return nil
}

func start(ctx context.Context, engine *coordinator.Engine, req *Request, of *Attachment, done *Done) (err error) {
	var input value.Value
	if len(of.Input) > 0 {
		if input, err = value.ParseInput(of.Input); err != nil {
			return fmt.Errorf("%w: %w", ErrBadInput, err)
		}
	}
	opts := []coordinator.Option{coordinator.WithActor(req.Actor), coordinator.WithDir(req.Dir), coordinator.WithLabels(req.Labels)}
	if req.ID != "" {
		opts = append(opts, coordinator.WithID(req.ID))
	}
	var run *coordinator.Run
	var document any
	if of.Parcel != nil {
		run, err = parcel.Start(ctx, engine, of.Parcel, input, opts...)
	} else {
		run, document, err = parcel.StartNamed(ctx, engine, req.Name, input, opts...)
	}
	if refused, ok := errors.AsType[*coordinator.InputError](err); ok {
		return fmt.Errorf("%w: %w", ErrBadInput, refused)
	}
	if err != nil {
		return err
	}
	done.Run, done.Driven = run.ID(), run.Driven()
	if of.Parcel != nil {
		done.Warning = parcel.ForWorkers(ctx, engine, of.Parcel.Workflow, of.Parcel.Children)
	} else if v, err := parcel.Newest(ctx, engine, req.Name); err == nil {
		done.Warning = parcel.ForWorkers(ctx, engine, v.Hash, v.Children)
	}
	if req.Document && document != nil {
		done.Document = encoded(document)
	}
	return nil
}

// VersionOf describes a version. It returns nil for nil.
func VersionOf(v *parcel.Version) *Version {
	if v == nil {
		return nil
	}
	return &Version{Name: v.Name, Number: v.Number, Hash: v.Hash, Version: v.Version, Actor: v.Actor, At: instant(v.At)}
}
