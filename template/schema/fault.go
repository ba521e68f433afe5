package schema

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// Fault describes why a value is not of a type.
type Fault struct {
	Pointer value.Pointer // to the part of the value that is not of its type, or that is missing
	Text    string        // the fault, such as "must be a text, not an integer"

	misspelt string  // an unknown name; "" if the fault is another
	known    []Field // the names that it may misspell
}

// Error returns the fault, such as /at/page: must be at least 0. A fault of the whole value has no pointer.
func (f *Fault) Error() string {
	if len(f.Pointer) == 0 {
		return f.Text
	}
	return document.Clip(f.Pointer.String()) + ": " + f.Text
}

func fault(format string, args ...any) *Fault { return &Fault{Text: fmt.Sprintf(format, args...)} }

// notText refuses a text of another form.
func notText(must, text string) *Fault {
	return fault("must be %s, not %s", must, document.Quote(text))
}

// within records that the fault is in the part of a value called segment.
func (f *Fault) within(segment string) *Fault {
	f.Pointer = slices.Insert(f.Pointer, 0, segment)
	return f
}

// suggest appends the nearest known name. It costs more than the fault itself, so only the fault that is shown gets one.
func (f *Fault) suggest() *Fault {
	if near := nearest(f.misspelt, f.known); near != "" {
		f.Text += fmt.Sprintf(" (did you mean %q?)", near)
	}
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

// describe names the kind of a value as types do.
func describe(v value.Value) string {
	switch v := v.(type) {
	case string:
		return "a text"
	case float64:
		if v == math.Trunc(v) {
			return "a number beyond 64 bits"
		}
		return "a fraction"
	}
	return value.Describe(v)
}
