package registry

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Look returns the entry of a parcel's workflow and makes nothing durable: runs are compared with the entry, not started. It may lack
// operations and functions, like the entry of a stored definition. Its children come from the parcel.
func (l *Registry) Look(p *Parcel) (*Entry, error) {
	return (&parcelEntries{by: l, parcel: p, entries: map[string]*Entry{}}).entry(p.Workflow)
}

// parcelEntries holds the entries of a parcel for Look.
type parcelEntries struct {
	by      *Registry
	parcel  *Parcel
	mu      sync.Mutex
	entries map[string]*Entry // by hash
}

// entry returns the entry of a workflow of the parcel.
func (k *parcelEntries) entry(hash string) (*Entry, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if e := k.entries[hash]; e != nil {
		return e, nil
	}
	text := k.parcel.Definitions[hash]
	if text == nil {
		return nil, fmt.Errorf("%w: workflow %s is not among them", ErrParcel, hash)
	}
	content, err := checkDefinition(hash, text)
	if err != nil {
		return nil, err
	}
	restored, err := k.by.restore(content, hash, k.parcel.Children)
	if err != nil {
		return nil, err
	}
	e := *restored
	e.Performers = slices.Clone(e.Performers)
	for i, p := range e.Performers {
		if p == nil {
			continue
		}
		if _, ok := p.Caller.(*Child); ok { // which would look for its workflow in the store
			child := k.parcel.Children[hash+"/"+e.Plan.Operations[i].Name]
			e.Performers[i] = &Performer{Bound: true, Caller: &Child{by: k.by, find: func(context.Context) (*Entry, error) { return k.entry(child) }}}
		}
	}
	k.entries[hash] = &e
	return &e, nil
}

// Published returns the entry of a version of a name; 0 is the newest.
func (l *Registry) Published(ctx context.Context, name string, number uint64) (*Entry, *Version, error) {
	v, err := l.Newest(ctx, name)
	if err == nil && number > 0 && number != v.Number {
		v, err = l.versionNumbered(ctx, name, number, v.Number)
	}
	if err != nil {
		return nil, nil, err
	}
	e, err := l.Read(ctx, v.Hash, v.Children)
	return e, v, err
}

// versionNumbered returns the version of a name with a number; newest is the number of its newest version.
func (l *Registry) versionNumbered(ctx context.Context, name string, number, newest uint64) (*Version, error) {
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
