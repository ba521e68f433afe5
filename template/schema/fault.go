package schema

import (
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Fault is why a value is not of a type.
type Fault struct {
	Pointer value.Pointer // to the part of the value that is not of its type, or that is missing
	Text    string        // what is wrong with it, such as "must be a text, not an integer"
}

// Error returns the fault as /at/page: must be at least 0, without a pointer if it is that of the whole value.
func (f *Fault) Error() string {
	if len(f.Pointer) == 0 {
		return f.Text
	}
	return document.Clip(f.Pointer.String()) + ": " + f.Text
}

func fault(format string, args ...any) *Fault { return &Fault{Text: fmt.Sprintf(format, args...)} }

// within records that the fault is in the part of a value called segment.
func (f *Fault) within(segment string) *Fault {
	f.Pointer = slices.Insert(f.Pointer, 0, segment)
	return f
}

// nearest returns the field that a misspelt name may mean, or "".
func nearest(word string, fields []Field) string {
	var s expr.Speller
	return s.Nearest(word, func(yield func(string) bool) {
		for _, f := range fields {
			if !yield(f.Name) {
				return
			}
		}
	})
}

// meant returns the suggestion for a misspelt name, to be appended to a message.
func meant(word string, fields []Field) string {
	if near := nearest(word, fields); near != "" {
		return fmt.Sprintf(" (did you mean %q?)", near)
	}
	return ""
}

// describe names the kind of a value as types do.
func describe(v value.Value) string {
	switch v.(type) {
	case string:
		return "a text"
	case float64:
		return "a fraction"
	}
	return value.Describe(v)
}
