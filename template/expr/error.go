package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Limits of one expression and of one evaluation.
const (
	MaxLength = 8 << 10   // bytes of one expression, without the braces
	MaxNodes  = 1000      // nodes of its syntax tree
	MaxSteps  = 2_000_000 // of one evaluation of a template
	MaxBytes  = 32 << 20  // of the values that one evaluation makes, roughly
)

var (
	// ErrNoOutput is the error of Env.Step, bare or wrapped, for a missing output that a default may replace: of a step that
	// was skipped, or whose failure was caught. An evaluation that fails for that reason wraps it.
	ErrNoOutput = errors.New("expr: step has no output")

	// ErrSkipped wraps ErrNoOutput: it is the error of Env.Step for a step that was skipped. A from pointer is null then.
	ErrSkipped = fmt.Errorf("%w: it was skipped", ErrNoOutput)

	// ErrLimit is wrapped by the error of an evaluation that exceeds MaxSteps or MaxBytes.
	ErrLimit = errors.New("expr: limit exceeded")
)

// Error is a fault of a template with its place, found when it is compiled or evaluated.
type Error struct {
	Pointer    string // JSON pointer to the string within the value that was compiled; "" for the value itself
	Offset     int    // in bytes, from the beginning of that string
	Text       string // the offending text as written
	Msg        string // the fault, which may quote Text
	Suggestion string // a known name that may have been meant; "" if none is near

	Err error // cause of a failed evaluation; nil for an error of compiling
}

// Error shows the place, if it is not the whole value, the message and the suggestion.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Pointer != "" {
		b.WriteString(e.Pointer)
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Suggestion != "" {
		fmt.Fprintf(&b, " (did you mean %q?)", e.Suggestion)
	}
	return b.String()
}

// Unwrap returns the cause of a failed evaluation, nil for an error of compiling.
func (e *Error) Unwrap() error { return e.Err }

// Clip shortens a text to one line that is readable in a message.
func Clip(text string) string { return shorten(strings.Join(strings.Fields(text), " ")) }

// Quote quotes a text, with its white space, cut if it is too long for a message.
func Quote(text string) string { return strconv.Quote(shorten(text)) }

func shorten(text string) string {
	const limit = 100
	if runes := []rune(text); len(runes) > limit {
		return string(runes[:limit-1]) + "…"
	}
	return text
}
