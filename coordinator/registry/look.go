package registry

import (
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Look returns the entry of a parcel's workflow and makes nothing durable: runs are compared with it, and none is started. Like that
// of a stored definition, the entry may lack operations and functions.
func (l *Registry) Look(p *Parcel) (*Entry, error) {
	text := p.Definitions[p.Workflow]
	if text == nil {
		return nil, fmt.Errorf("%w: workflow %s is not among them", ErrParcel, p.Workflow)
	}
	content, err := checkDefinition(p.Workflow, text)
	if err != nil {
		return nil, err
	}
	return l.restore(content, p.Workflow, p.Children)
}

// Published returns the entry of a version that a name has stood for; 0 is the newest.
func (l *Registry) Published(ctx context.Context, name string, number uint64) (*Entry, *Version, error) {
	v, err := l.Newest(ctx, name)
	if err == nil && number > 0 && number != v.Number {
		v, err = l.numbered(ctx, name, number, v.Number)
	}
	if err != nil {
		return nil, nil, err
	}
	e, err := l.Read(ctx, v.Hash, v.Children)
	return e, v, err
}

// numbered returns an earlier version of a name, of which the newest has that number.
func (l *Registry) numbered(ctx context.Context, name string, number, newest uint64) (*Version, error) {
	for e, err := range l.store.Read(ctx, journal.NameStream(name), number) {
		if err != nil {
			return nil, fmt.Errorf("read the versions of %s: %w", name, err)
		}
		if v := versionOf(&e); v != nil {
			return v, nil
		}
		return nil, fmt.Errorf("%w: version %d of %s describes no workflow", journal.ErrDamaged, number, name)
	}
	return nil, fmt.Errorf("%w: %s@%d: %s", ErrNotPublished, name, number, (&Version{Name: name, Number: newest}).There())
}
