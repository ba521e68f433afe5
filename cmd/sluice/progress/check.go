package progress

import (
	"errors"
	"fmt"
)

// check returns an error for every invariant that does not hold. It is for tests, because it visits the whole tree.
func (t *Tree) check() error {
	var errs []error
	for i := range t.nodes {
		n := &t.nodes[i]
		var inside counts
		for j := int32(i) + 1; j < n.end; j = t.nodes[j].end {
			inside.add(&t.nodes[j].counts)
			if t.nodes[j].parent != int32(i) {
				errs = append(errs, fmt.Errorf("invariant 3: node %d is inside %d and has parent %d", j, i, t.nodes[j].parent))
			}
		}
		if n.kind != step && n.counts != inside {
			errs = append(errs, fmt.Errorf("invariant 1: node %d counts %v, its children %v", i, n.counts, inside))
		}
		if t.busy.has(int32(i)) != t.isBusy(int32(i)) || t.bad.has(int32(i)) != t.isBad(int32(i)) {
			errs = append(errs, fmt.Errorf("invariant 2: node %d (%s) is in the wrong set", i, n.label))
		}
	}
	return errors.Join(errs...)
}
