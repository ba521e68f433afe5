package net

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// writes is what the iterations of a parallel loop have written to the context, as a tree along the paths.
//
//	ctx ─┬─ stats ─┬─ one   by iteration 0
//	     │         └─ two   by iteration 1
//	     └─ state           by iteration 1
//
// What an iteration writes inside its own write is kept with that, and what was written there before is forgotten.
type writes struct {
	by    int32       // the iteration that wrote here first, of several that wrote the same
	v     value.Value // what is there by its writes; of a loop that appends, the list
	wrote bool        // somebody wrote here
	below map[string]*writes
}

// errConflict is a write that another iteration's forbids.
type errConflict struct{ path []string }

func (e errConflict) Error() string {
	return fmt.Sprintf("another iteration has written another value to ctx.%s", strings.Join(e.path, "."))
}

// at finds the place of a path, and makes it if need be.
func (w *writes) at(path []string) *writes {
	for _, key := range path {
		if w.below == nil {
			w.below = map[string]*writes{}
		}
		if w.below[key] == nil {
			w.below[key] = &writes{}
		}
		w = w.below[key]
	}
	return w
}

// note keeps what an iteration has written without a conflict. What another has written the same stays that one's.
func (w *writes) note(by int32, path []string, v value.Value) {
	for i := range path {
		if w.wrote {
			if w.by == by {
				w.v = within(w.v, path[i:], v)
			}
			return
		}
		w = w.at(path[i : i+1])
	}
	if !w.wrote || w.by == by {
		w.by, w.v, w.wrote = by, v, true
		w.forget(by)
	}
}

// forget drops what an iteration has written inside what it writes now.
func (w *writes) forget(by int32) {
	for _, x := range w.below {
		x.wrote = x.wrote && x.by != by
		x.forget(by)
	}
}

// conflict reports why an iteration cannot write: another has written something else, at the path, around it or inside it.
func (w *writes) conflict(by int32, path []string, v value.Value) error {
	for i := 0; w != nil; i++ {
		if w.wrote && w.by != by && !same(w.v, path[i:], v) {
			return errConflict{path}
		}
		if i == len(path) {
			if w.differs(by, nil, v) {
				return errConflict{path}
			}
			return nil
		}
		w = w.below[path[i]]
	}
	return nil
}

// differs reports whether another iteration has written something else inside what v is written to.
func (w *writes) differs(by int32, path []string, v value.Value) bool {
	for key, x := range w.below { // the order is of no matter: the answer is yes or no
		inside := append(slices.Clip(path), key)
		if x.wrote && x.by != by && !same(v, inside, x.v) || x.differs(by, inside, v) {
			return true
		}
	}
	return false
}

// same reports whether what a path leads to in a value is there, and equal to another value.
func same(outer value.Value, path []string, inner value.Value) bool {
	for _, key := range path {
		object, _ := outer.(map[string]any)
		next, ok := object[key]
		if !ok {
			return false
		}
		outer = next
	}
	return value.Equal(outer, inner)
}

// appended adds a value to the list that the iterations of the loop make at a path, and gives the list. The spare room of
// what it keeps is nobody else's: lists that were handed out before stay as they are.
func (w *writes) appended(path []string, v value.Value) []any {
	w = w.at(path)
	list, _ := w.v.([]any)
	list = append(list, v)
	w.v, w.wrote = list, true
	return slices.Clip(list)
}
