package document

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is one fault of a document: its place, its description, and a suggestion. It prints as one line:
//
//	orders.yaml:12:9: steps[1].operation: unknown operation "ordr.split" (did you mean "order.split"?)
type Error struct {
	Pos
	Text       string // the offending text; may be empty
	Msg        string // the fault, which may quote Text
	Suggestion string // the nearest known name; may be empty
	Err        error  // the cause, for errors.Is and errors.As; may be nil
}

// Maximum number of characters printed of an offending text, and of a message, which may contain several such texts.
const (
	textMax    = 200
	messageMax = 2_000
)

// Error returns place, path, message, text and suggestion, without those that are empty. The text is omitted if the message
// contains it, and cut as by Quote.
func (e *Error) Error() string {
	var b strings.Builder
	for _, part := range []string{e.Pos.String(), e.Path} {
		if part != "" {
			b.WriteString(part)
			b.WriteString(": ")
		}
	}
	b.WriteString(e.Message())
	if e.Text != "" && !e.shows(e.Text) {
		b.WriteString(": ")
		b.WriteString(Quote(e.Text))
	}
	if e.Suggestion != "" {
		b.WriteString(" (did you mean ")
		b.WriteString(strconv.Quote(e.Suggestion))
		b.WriteString("?)")
	}
	return b.String()
}

// Message returns Msg, cut to 2,000 characters: it may contain several texts of the document.
func (e *Error) Message() string { return clip(e.Msg, messageMax) }

// shows reports whether the message quotes a text. A short text may occur in the message by chance, so it must be in quotes.
func (e *Error) shows(text string) bool {
	return strings.Contains(e.Msg, Quote(text)) || len(text) > 3 && strings.Contains(e.Msg, text)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Quote returns text in double quotes, cut as by Clip.
func Quote(text string) string {
	short, of := cut(text, textMax)
	return strconv.Quote(short) + of
}

// Clip returns text, or its first 200 characters followed by its length.
func Clip(text string) string { return clip(text, textMax) }

func clip(text string, most int) string {
	short, of := cut(text, most)
	return short + of
}

// cut returns the first most characters of a longer text, with an ellipsis, and a note of its length. It returns a shorter text
// unchanged.
func cut(text string, most int) (short, of string) {
	if len(text) <= most {
		return text, ""
	}
	n := utf8.RuneCountInString(text)
	if n <= most {
		return text, ""
	}
	return string([]rune(text[:min(len(text), utf8.UTFMax*most)])[:most]) + "…", " (of " + strconv.Itoa(n) + " characters)"
}

// Errors are the faults of one or several documents. The zero value is ready to use.
type Errors []*Error

// ErrorsMax is the maximum number of faults that are printed; any number is recorded.
const ErrorsMax = 100

// Add appends a fault.
func (e *Errors) Add(fault *Error) { *e = append(*e, fault) }

// Err returns the faults in the order of their places, or nil if there are none. It returns equal faults at one place only
// once.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	sorted := slices.Clone(e)
	slices.SortStableFunc(sorted, func(a, b *Error) int {
		return cmp.Or(a.Pos.compare(b.Pos), cmp.Compare(a.Msg, b.Msg))
	})
	return slices.CompactFunc(sorted, func(a, b *Error) bool { return a.Pos == b.Pos && a.Msg == b.Msg })
}

// Error returns one line for each of the first 100 faults, and a line with the number of the others.
func (e Errors) Error() string {
	var b strings.Builder
	for i, fault := range e {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == ErrorsMax {
			b.WriteString("and " + strconv.Itoa(len(e)-i) + " more")
			break
		}
		b.WriteString(fault.Error())
	}
	return b.String()
}

// Unwrap returns the faults, for errors.Is and errors.As.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, fault := range e {
		all[i] = fault
	}
	return all
}

// Join returns the faults of several errors as one list in the order of their places, or nil if all are nil. It converts an
// error that is not a fault of a document to a fault without a place.
func Join(errs ...error) error {
	var all Errors
	for _, err := range errs {
		if err == nil {
			continue
		}
		if list, ok := errors.AsType[Errors](err); ok {
			all = append(all, list...)
		} else if fault, ok := errors.AsType[*Error](err); ok {
			all.Add(fault)
		} else {
			all.Add(&Error{Msg: err.Error(), Err: err})
		}
	}
	return all.Err()
}
