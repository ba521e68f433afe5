package registry

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
)

// Version is a published version of a workflow.
type Version struct {
	Name     string            // of the workflow
	Version  string            // as its document says
	Hash     string            // of its definition
	Children map[string]string // as journal.Start has them
	Actor    string            // who published it
	At       int64             // when, Unix nanoseconds
	Number   uint64            // 1 is the first version of the name
}

// ErrNotPublished is wrapped by errors about a name for which no workflow was published, or that lacks a version.
var ErrNotPublished = errors.New("registry: no such workflow is published")

// Unpublished is the error about a name for which no workflow was published. It wraps ErrNotPublished.
type Unpublished struct {
	Name    string // as it was asked for
	Nearest string // the name that was probably meant; "" if none is near
}

func (u *Unpublished) Error() string { return ErrNotPublished.Error() + ": " + u.Name }

// Unwrap returns ErrNotPublished.
func (u *Unpublished) Unwrap() error { return ErrNotPublished }

// comparedMax bounds the names that an unpublished one is compared with.
const comparedMax = 10_000

// unpublished returns the error about a name, with the published name that was probably meant.
func (l *Registry) unpublished(ctx context.Context, name string) error {
	var all []string
	for one, err := range l.store.Published(ctx, "") {
		if err != nil || len(all) == comparedMax {
			break
		}
		all = append(all, one)
	}
	nearest, _ := expr.Nearest(name, all)
	return &Unpublished{name, nearest}
}

// There returns a clause about the versions of its name, if this is the newest.
func (v *Version) There() string {
	if v.Number == 1 {
		return v.Name + " has only version 1"
	}
	return fmt.Sprintf("%s has the versions 1 to %d", v.Name, v.Number)
}

// Publish makes an entry the newest version of its workflow's name. was is the version before, nil if there is none. If the entry equals
// it, now is was, and nothing is journaled.
func (l *Registry) Publish(ctx context.Context, e *Entry, actor string, at int64) (now, was *Version, err error) {
	defer l.Use()()
	children, err := l.Bundle(ctx, e)
	if err != nil {
		return nil, nil, err
	}
	w := e.Plan.Workflow
	next := journal.Start{Name: w.Name, Version: w.Version, Workflow: e.Plan.Hash, Children: children, Actor: actor}
	for {
		was, err := l.newest(ctx, w.Name)
		if err != nil {
			return nil, nil, err
		}
		after := uint64(0)
		if was != nil {
			if Key(was.Hash, was.Children) == Key(next.Workflow, children) {
				return was, was, nil
			}
			after, at = was.Number, max(at, was.At)
		}
		start := next
		event := journal.Event{Type: journal.WorkflowPublished, At: at, Detail: &journal.Detail{Start: &start}}
		event.Seq, err = l.store.Append(ctx, journal.NameStream(w.Name), after, []journal.Event{event}, journal.Head{})
		switch {
		case errors.Is(err, journal.ErrConflict): // another caller has just published
			continue
		case err != nil:
			return nil, nil, fmt.Errorf("publish %s: %w", w.Name, err)
		}
		return versionOf(&event), was, nil
	}
}

// Newest returns the newest version of a name.
func (l *Registry) Newest(ctx context.Context, name string) (*Version, error) {
	v, err := l.newest(ctx, name)
	if err == nil && v == nil {
		err = l.unpublished(ctx, name)
	}
	return v, err
}

// newest is Newest, but returns nil if there is none.
func (l *Registry) newest(ctx context.Context, name string) (v *Version, err error) {
	for e, err := range l.store.Read(ctx, journal.NameStream(name), 1) {
		if err != nil {
			return nil, fmt.Errorf("read the versions of %s: %w", name, err)
		}
		if v = versionOf(&e); v == nil {
			return nil, fmt.Errorf("%w: version %d of %s describes no workflow", journal.ErrDamaged, e.Seq, name)
		}
	}
	return v, nil
}

// versionOf returns the version that an event has published; nil if it describes none.
func versionOf(e *journal.Event) *Version {
	if e.Detail == nil || e.Detail.Start == nil {
		return nil
	}
	s := e.Detail.Start
	return &Version{Name: s.Name, Version: s.Version, Hash: s.Workflow, Children: s.Children, Actor: s.Actor, At: e.At, Number: e.Seq}
}
