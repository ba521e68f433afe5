package registry

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/difference"
)

// The hash of a workflow covers the names of its child workflows, not their contents. Two versions that differ only in a child have the
// same hash; their families, the workflows below them, distinguish them.

// Family returns the hashes of the workflows below an entry, in the form of journal.Start. Unlike Bundle it makes nothing durable.
func Family(ctx context.Context, top *Entry) (map[string]string, error) {
	children, _, err := below(ctx, top)
	return children, err
}

// WithChildren returns an entry and the entries of the workflows below it, each once. Unlike Bundle it makes nothing durable.
func WithChildren(ctx context.Context, top *Entry) ([]*Entry, error) {
	_, all, err := below(ctx, top)
	return all, err
}

// SameFamily reports whether two workflows, and all below them, are the same.
func SameFamily(old string, oldChildren map[string]string, now string, nowChildren map[string]string) bool {
	return old == now && Key(old, familyOf(old, oldChildren)) == Key(now, familyOf(now, nowChildren))
}

// familyOf returns those of the children that are below a workflow.
func familyOf(hash string, children map[string]string) map[string]string {
	family, reached := map[string]string{}, map[string]bool{hash: true}
	for more := true; more; {
		more = false
		for name, child := range children {
			parent, _, _ := strings.Cut(name, "/")
			if _, known := family[name]; known || !reached[parent] {
				continue
			}
			family[name], reached[child], more = child, true, true
		}
	}
	return family
}

// ChildOf returns the entry of the workflow that the i-th operation starts; nil if it starts none.
func (e *Entry) ChildOf(ctx context.Context, i int32) (*Entry, error) {
	if i < 0 || int(i) >= len(e.Performers) || e.Performers[i] == nil {
		return nil, nil
	}
	c, ok := e.Performers[i].Caller.(*Child)
	if !ok {
		return nil, nil
	}
	return c.find(ctx)
}

// HasChildren reports whether the workflow starts others.
func (e *Entry) HasChildren() bool {
	return slices.ContainsFunc(e.Performers, func(p *Performer) bool {
		if p == nil {
			return false
		}
		_, ok := p.Caller.(*Child)
		return ok
	})
}

// Compare compares two workflows, and the child workflows below them that operations of the same name start in both.
func Compare(ctx context.Context, old, now *Entry) (*difference.Difference, error) {
	d := difference.Between(old.Plan, now.Plan)
	seen := map[[2]string]bool{{old.Plan.Hash, now.Plan.Hash}: true}
	for pairs := []pair{{old: old, now: now}}; len(pairs) > 0; pairs = pairs[1:] {
		below, err := pairs[0].below(ctx)
		if err != nil {
			return nil, err
		}
		for _, p := range below {
			hashes := [2]string{p.old.Plan.Hash, p.now.Plan.Hash}
			if seen[hashes] {
				continue
			}
			if seen[hashes] = true; hashes[0] != hashes[1] {
				d.Children = append(d.Children, difference.Child{Path: p.path, Document: p.document,
					Old: hashes[0], New: hashes[1], Difference: difference.Between(p.old.Plan, p.now.Plan)})
			}
			pairs = append(pairs, p)
		}
	}
	return d, nil
}

// pair is a workflow in two versions of its parent.
type pair struct {
	old, now       *Entry
	path, document string // see difference.Child; "": the compared document itself
}

// below returns the child workflows that operations of the same name start in both versions. If only one of them starts a workflow, the
// operation itself differs.
func (p *pair) below(ctx context.Context) (list []pair, err error) {
	ops := map[string]int32{}
	for i := range p.old.Plan.Operations {
		ops[p.old.Plan.Operations[i].Name] = int32(i)
	}
	for i := range p.now.Plan.Operations {
		op := &p.now.Plan.Operations[i]
		before, both := ops[op.Name]
		if !both {
			continue
		}
		was, err := p.old.ChildOf(ctx, before)
		if err != nil {
			return nil, err
		}
		is, err := p.now.ChildOf(ctx, int32(i))
		if err != nil {
			return nil, err
		}
		if was != nil && is != nil {
			named := op.Bound.Binding.Workflow
			list = append(list, pair{was, is, strings.TrimPrefix(p.path+"/"+op.Name, "/"), cmp.Or(named.Path, named.Name)})
		}
	}
	return list, nil
}
