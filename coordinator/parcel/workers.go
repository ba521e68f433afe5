package parcel

import (
	"context"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/registry"
)

// Newest returns the newest version of a name.
func Newest(ctx context.Context, engine *coordinator.Engine, name string) (*Version, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	return l.Newest(ctx, name)
}

// ForWorkers returns a text for people: the operations of a definition, and of its children, that workers carry out, and those that no
// worker serves; "" if there are none.
func ForWorkers(ctx context.Context, engine *coordinator.Engine, hash string, children map[string]string) string {
	l, err := engine.Registry()
	if err != nil || engine.Workers() == nil {
		return ""
	}
	e, err := l.Read(ctx, hash, children)
	return forWorkers(ctx, engine, e, err)
}

// WouldBeForWorkers is ForWorkers for a parcel, and keeps no part of it.
func WouldBeForWorkers(ctx context.Context, engine *coordinator.Engine, p *Parcel) string {
	l, err := engine.Registry()
	if err != nil || engine.Workers() == nil {
		return ""
	}
	e, err := l.Look(p)
	return forWorkers(ctx, engine, e, err)
}

func forWorkers(ctx context.Context, engine *coordinator.Engine, top *registry.Entry, err error) string {
	if err != nil {
		return ""
	}
	all, err := registry.WithChildren(ctx, top)
	if err != nil {
		return ""
	}
	var names []string
	for _, e := range all {
		names = append(names, e.OfWorkers()...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) == 0 {
		return ""
	}
	unserved := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return engine.Workers().Unserved(name).IsZero() })
	text := "no document binds " + strings.Join(names, ", ") + ": workers carry that out"
	if len(unserved) > 0 {
		text += ", and no worker serves " + strings.Join(unserved, ", ") + " now"
	}
	return text
}
