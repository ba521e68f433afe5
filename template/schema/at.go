package schema

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
)

// PathError is the error of a path to a field that does not exist.
type PathError struct {
	Text       string // such as: has no field "who.idd"
	Suggestion string // the nearest field; may be empty
}

// Error returns the text and the suggestion.
func (e *PathError) Error() string {
	if e.Suggestion == "" {
		return e.Text
	}
	return e.Text + " (did you mean " + document.Quote(e.Suggestion) + "?)"
}

// At returns the type at a path of fields of records. It looks through options on the way, and at the end. After a variant,
// the segment $value means the value of any arm, except for the types that every document has; the rest of the path must
// lead to equal types in all of them. The error is a *PathError.
func (t *Type) At(path []string) (*Type, error) {
	reached := []*Type{through(t)}
	for i, segment := range path {
		var next []*Type
		for _, t := range reached {
			step := t.step(segment)
			if step == nil {
				return nil, t.noField(path[:i+1])
			}
			next = append(next, step...)
		}
		reached = distinct(next)
	}
	if len(reached) != 1 {
		return nil, &PathError{Text: "has arms without a common type at " + document.Quote(strings.Join(path, "."))}
	}
	return reached[0], nil
}

// through returns a type without the options around it.
func through(t *Type) *Type {
	for t.Kind == Option {
		t = t.Elem
	}
	return t
}

// step returns the types one segment further, or nil.
func (t *Type) step(segment string) []*Type {
	switch {
	case t.Kind == Variant && segment == valueKey:
		arms := []*Type{}
		for _, arm := range t.Fields {
			if arm.Type.Kind != System {
				arms = append(arms, through(arm.Type))
			}
		}
		return arms
	case t.Kind == Record:
		if field := t.Field(segment); field != nil {
			return []*Type{through(field)}
		}
	}
	return nil
}

// distinct returns the types of a list without those that are equal to another, so that a path through variants within
// variants leads to few types.
func distinct(list []*Type) []*Type {
	known := make(map[[32]byte]bool, len(list))
	return slices.DeleteFunc(list, func(t *Type) bool {
		isKnown := known[t.sum]
		known[t.sum] = true
		return isKnown
	})
}

// noField refuses the last segment of a path.
func (t *Type) noField(path []string) *PathError {
	e := &PathError{Text: "has no field " + document.Quote(strings.Join(path, "."))}
	last := path[len(path)-1]
	if t.Kind == Record {
		e.Suggestion = nearest(last, t.Fields)
	}
	if t.Kind == Variant {
		e.Suggestion = valueKey + "." + last
	}
	return e
}
