package value

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// placeError is a fault of a value with its place in it. The path is kept innermost segment first, because errors
// travel from the inside out.
type placeError struct {
	path []string
	msg  string
	err  error // wrapped; nil if msg says it all
}

// Error begins with the place or with the verb, to follow "value" or "the text" in a sentence.
func (e *placeError) Error() string {
	if len(e.path) == 0 {
		return e.msg
	}
	return fmt.Sprintf("at %s %s", e.pointer(), e.msg)
}

func (e *placeError) pointer() Pointer {
	p := make(Pointer, len(e.path))
	for i, segment := range e.path {
		p[len(p)-1-i] = segment
	}
	return p
}

// PlaceOf returns the place of an error in a value, and the error there; it reports false for an error of the value as a whole.
func PlaceOf(err error) (at Pointer, what string, ok bool) {
	place, ok := errors.AsType[*placeError](err)
	if !ok || len(place.path) == 0 {
		return nil, "", false
	}
	return place.pointer(), place.msg, true
}

// Unwrap returns the error inside, such as that of a Raw.
func (e *placeError) Unwrap() error { return e.err }

// within records that err occurred inside the element called segment.
func within(segment string, err error) error {
	if place, ok := errors.AsType[*placeError](err); ok {
		place.path = append(place.path, segment)
	}
	return err
}

// These two omit the place: it would be 128 segments long, or the place where the count happened to stop.
func errTooDeep() error {
	return fmt.Errorf("nests deeper than %d levels: %w", MaxDepth, ErrTooLarge)
}

func errTooLarge() error {
	return fmt.Errorf("takes more than %d bytes: %w", MaxSizeBytes, ErrTooLarge)
}

// errBeyondInt64 suggests a remedy: most such integers are 64-bit ids, which need no arithmetic. It does not show the integer, which may
// be a secret.
func errBeyondInt64() error {
	return &placeError{msg: "has an integer that is beyond the range of int64; write it as a string"}
}

// clip shortens an offending text for a message. It cuts no character in half.
func clip(text string) string {
	end := 40
	if len(text) <= end {
		return text
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
