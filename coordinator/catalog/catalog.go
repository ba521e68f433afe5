// Package catalog reads published workflows by their names, and accepts documents from elsewhere.
//
//	p, err := catalog.Read(ctx, engine, "order.yaml", text, allow)   a text becomes a parcel
//	err := catalog.Allow{}.Check(p)                                  it names nothing of this machine
//	now, was, err := parcel.Publish(ctx, engine, p, "ann")
//	versions, err := catalog.Versions(ctx, engine, "order")
package catalog

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/parcel"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Versions returns up to most versions of a name with numbers less than before, the newest first; before 0 means all. It returns
// parcel.ErrNotPublished if there is none.
func Versions(ctx context.Context, engine *coordinator.Engine, name string, before uint64, most int) (list []*parcel.Version, err error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	newest, err := l.Newest(ctx, name)
	if err != nil {
		return nil, err
	}
	number := newest.Number
	if before > 0 {
		number = min(number, before-1)
	}
	for ; number > 0 && len(list) < most; number-- {
		_, v, err := l.Published(ctx, name, number)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// Definition is a version with its document.
type Definition struct {
	Version  *parcel.Version // without its document
	Document json.RawMessage // in canonical form
	Input    json.RawMessage // JSON Schema of the input of a run; nil accepts anything
	Steps    []Step          // the calls of the workflow, in its order
}

// Step is a step of a workflow, before any run.
type Step struct {
	Step      string   `json:"step"`                // key
	Kind      string   `json:"kind"`                // step, map, conditional or join
	Depth     int      `json:"depth,omitempty"`     // maps around it
	Operation string   `json:"operation,omitempty"` // that it calls
	After     []string `json:"after,omitempty"`     // keys of those that it waits for
}

// Of returns the version of a name with a hash, or with "" the newest one.
func Of(ctx context.Context, engine *coordinator.Engine, name, hash string) (*Definition, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	v, err := l.Newest(ctx, name)
	if err != nil {
		return nil, err
	}
	for number := v.Number - 1; hash != "" && v.Hash != hash; number-- {
		if number == 0 {
			return nil, fmt.Errorf("%w: %s has no version with that hash", parcel.ErrNotPublished, name)
		}
		if _, v, err = l.Published(ctx, name, number); err != nil {
			return nil, err
		}
	}
	e, err := l.Read(ctx, v.Hash, v.Children)
	if err != nil {
		return nil, err
	}
	out := &Definition{Version: v, Steps: stepsOf(e.Plan)}
	if out.Document, err = value.JSON(e.Plan.Workflow.Document()); err == nil && e.Plan.Workflow.Input != nil {
		out.Input, err = value.JSON(e.Plan.Workflow.Input)
	}
	return out, err
}

func stepsOf(p *plan.Plan) []Step {
	list := make([]Step, len(p.Nodes))
	for row := range p.Nodes {
		n, s := &p.Nodes[row], Step{Step: p.Keys[row], Depth: p.Depth(int32(row))}
		s.Kind = [...]string{plan.Step: "step", plan.Gate: "conditional", plan.Map: "map", plan.Join: "join"}[n.Kind]
		if n.Kind == plan.Step {
			s.Operation = p.Operations[n.Op].Name
		}
		for _, before := range p.Predecessors(int32(row)) {
			s.After = append(s.After, p.Keys[before])
		}
		list[row] = s
	}
	return list
}

// Read turns the text of a document into a parcel. Faults of the text are document.Errors, with places in file. The document may use
// only the Kinds that are allowed, and no other document of this machine.
func Read(ctx context.Context, engine *coordinator.Engine, file string, text []byte, allow Allow) (*parcel.Parcel, error) {
	checked, err := kinds.Load(file, text, template.Known{Lenient: true})
	if err != nil {
		return nil, err
	}
	if err := allow.workflow(checked.Workflow, nil); err != nil {
		return nil, err
	}
	return parcel.Of(ctx, engine, checked.Workflow)
}
