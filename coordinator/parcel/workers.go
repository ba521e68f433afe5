package parcel

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
)

// Newest returns the version that a name stands for.
func Newest(ctx context.Context, engine *coordinator.Engine, name string) (*Version, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	return l.Newest(ctx, name)
}

// ForWorkers says for people which operations of a definition, and of its children, are those of workers, and which of them no worker
// serves; "" if there are none.
func ForWorkers(ctx context.Context, engine *coordinator.Engine, hash string, children map[string]string) string {
	l, err := engine.Registry()
	if err != nil || engine.Workers() == nil {
		return ""
	}
	all := map[string]bool{}
	for _, hash := range append(slices.Collect(maps.Values(children)), hash) {
		e, err := l.Read(ctx, hash, children)
		if err != nil {
			return ""
		}
		for _, name := range e.OfWorkers() {
			all[name] = true
		}
	}
	if len(all) == 0 {
		return ""
	}
	names := slices.Sorted(maps.Keys(all))
	unserved := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return engine.Workers().Unserved(name).IsZero() })
	text := "no document binds " + strings.Join(names, ", ") + ": workers carry that out"
	if len(unserved) > 0 {
		text += ", and no worker serves " + strings.Join(unserved, ", ") + " now"
	}
	return text
}
