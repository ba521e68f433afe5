package difference

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Difference holds the changes between two versions of a workflow.
type Difference struct {
	Added   []string // ids of steps, maps and named conditionals that only the new one has, in its order
	Removed []string // ids that only the old one has, in its order
	Changed []Step   // steps in both, in the order of the new one
	Whole   []Part   // of the workflow as a whole

	Children []Child // changed child workflows, at any depth; not set by Between, because plans contain only their names
}

// Child holds the changes of a child workflow that both versions start.
type Child struct {
	Path     string // the operations that lead to it, the outermost first: `pay/refund`
	Document string // the file or the name in the binding of the last of them
	Old, New string // hashes
	*Difference
}

// Step is a step that has changed.
type Step struct {
	ID    string // as in the document
	Parts []Part // its changes
}

// Part is a changed part of a step, or of the workflow.
type Part struct {
	What     string      // its name, such as "input"
	Old, New value.Value // its values in the two versions; nil: none
}

// None reports whether the two versions are the same.
func (d *Difference) None() bool {
	return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.Whole)+len(d.Children) == 0
}

// Between returns the changes from one version of a workflow to another.
func Between(old, now *plan.Plan) *Difference {
	was, is := partsOf(old), partsOf(now)
	d := &Difference{Whole: between(was.whole, is.whole)}
	for _, id := range is.order {
		before, both := was.steps[id]
		if !both {
			d.Added = append(d.Added, id)
			continue
		}
		if parts := between(before, is.steps[id]); len(parts) > 0 {
			d.Changed = append(d.Changed, Step{id, parts})
		}
	}
	for _, id := range was.order {
		if _, both := is.steps[id]; !both {
			d.Removed = append(d.Removed, id)
		}
	}
	return d
}

// between returns the changed parts of a step or of a workflow, sorted by name.
func between(old, now parts) (changed []Part) {
	words := maps.Clone(now)
	maps.Copy(words, old)
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if !value.Equal(old[word], now[word]) {
			changed = append(changed, Part{word, old[word], now[word]})
		}
	}
	return changed
}
