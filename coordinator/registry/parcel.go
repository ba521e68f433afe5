package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Parcel is a workflow with all child workflows below it, in the form that one process passes to another. It needs no files there.
type Parcel struct {
	Workflow    string                     `json:"workflow"`           // hash of the workflow that is passed
	Children    map[string]string          `json:"children,omitempty"` // as journal.Start has them
	Definitions map[string]json.RawMessage `json:"definitions"`        // canonical documents by hash
}

// ErrParcel is wrapped by errors about parcels that are incomplete, or hold documents that do not match their hashes.
var ErrParcel = errors.New("registry: the documents that came along are refused")

// Pack returns the parcel of an entry.
func (l *Registry) Pack(ctx context.Context, top *Entry) (*Parcel, error) {
	children, all, err := below(ctx, top)
	if err != nil {
		return nil, err
	}
	p := &Parcel{Workflow: top.Plan.Hash, Children: children, Definitions: map[string]json.RawMessage{}}
	for _, e := range all {
		if p.Definitions[e.Plan.Hash], err = value.JSON(e.Plan.Workflow.Document()); err != nil {
			return nil, fmt.Errorf("workflow %s: %w", e.Plan.Workflow.Name, err)
		}
	}
	return p, nil
}

// Unpack checks a parcel, makes its definitions durable, and returns the entry of its workflow. The error wraps ErrParcel if the parcel
// is invalid, and ErrMissing if this program lacks an operation or a function of one of its workflows: such a workflow could be kept, but
// not run.
func (l *Registry) Unpack(ctx context.Context, p *Parcel) (*Entry, error) {
	for hash, text := range p.Definitions {
		content, err := checkDefinition(hash, text)
		if err != nil {
			return nil, err
		}
		if err := l.StoreDefinition(ctx, hash, func() value.Value { return content }); err != nil {
			return nil, err
		}
	}
	for _, hash := range p.Children {
		if p.Definitions[hash] == nil {
			return nil, fmt.Errorf("%w: child workflow %s is not among them", ErrParcel, hash)
		}
		if _, err := l.Find(ctx, hash, p.Children); err != nil {
			return nil, err
		}
	}
	if p.Definitions[p.Workflow] == nil {
		return nil, fmt.Errorf("%w: workflow %s is not among them", ErrParcel, p.Workflow)
	}
	return l.Find(ctx, p.Workflow, p.Children)
}

// checkDefinition returns the content of a definition that came from elsewhere.
func checkDefinition(hash string, text json.RawMessage) (value.Value, error) {
	w, err := kinds.ParseStored(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParcel, err)
	}
	checked, err := template.Check(w, template.Known{Lenient: true})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParcel, err)
	}
	compiled, err := plan.Compile(checked)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrParcel, err)
	}
	if compiled.Hash != hash {
		return nil, fmt.Errorf("%w: workflow %s has the hash %s here, not %s: is the other process of another version?",
			ErrParcel, w.Name, compiled.Hash, hash)
	}
	return w.Document(), nil
}

// StoreDefinition makes the definition with a hash durable, unless it is known to be durable: then it does not call content, whose result
// may be large. See Use.
func (l *Registry) StoreDefinition(ctx context.Context, hash string, content func() value.Value) error {
	if l.uses.note(hash) {
		return nil
	}
	event := []journal.Event{{Type: journal.ContentStored, Value: content()}}
	_, err := l.store.Append(ctx, journal.DefinitionStream(hash), 0, event, journal.Head{})
	if err != nil && !errors.Is(err, journal.ErrConflict) {
		return fmt.Errorf("store definition %s: %w", hash, err)
	}
	l.uses.keep(hash)
	return nil
}

// below returns an entry with all below it, and the hashes of the children by the hash of the parent and the operation.
func below(ctx context.Context, top *Entry) (children map[string]string, all []*Entry, err error) {
	children, all = map[string]string{}, []*Entry{top}
	known := map[*Entry]bool{top: true}
	for i := 0; i < len(all); i++ {
		for k, performer := range all[i].Performers {
			if performer == nil {
				continue
			}
			c, ok := performer.Caller.(*Child)
			if !ok {
				continue
			}
			child, err := c.find(ctx)
			if err != nil {
				return nil, nil, err
			}
			children[all[i].Plan.Hash+"/"+all[i].Plan.Operations[k].Name] = child.Plan.Hash
			if !known[child] {
				known[child] = true
				all = append(all, child)
			}
		}
	}
	return children, all, nil
}
