package value

import (
	"fmt"
	"strconv"
	"strings"
)

// Pointer is a JSON pointer (RFC 6901): the keys and indexes that lead from a value to a place in it, unescaped. The empty
// pointer is the whole value.
type Pointer []string

// ParsePointer reads the text form: "" or segments, each after a slash, with ~1 for a slash and ~0 for a tilde.
func ParsePointer(text string) (Pointer, error) {
	if text == "" {
		return Pointer{}, nil
	}
	if text[0] != '/' {
		return nil, fmt.Errorf("invalid pointer %q: it must be empty or begin with a slash", text)
	}
	segments := strings.Split(text[1:], "/")
	for i, segment := range segments {
		plain, err := unescape(segment)
		if err != nil {
			return nil, fmt.Errorf("invalid pointer %q: %w", text, err)
		}
		segments[i] = plain
	}
	return segments, nil
}

// unescape is strict: an invalid escape is a mistake, and guessing would hide it.
func unescape(segment string) (string, error) {
	if !strings.Contains(segment, "~") {
		return segment, nil
	}
	for i := range len(segment) {
		if segment[i] == '~' && (i+1 == len(segment) || segment[i+1] != '0' && segment[i+1] != '1') {
			return "", fmt.Errorf("a tilde is written ~0, in %q", segment)
		}
	}
	return unescaper.Replace(segment), nil
}

// Replacers go from left to right and never replace their output, so ~01 is a tilde and a 1.
var (
	unescaper = strings.NewReplacer("~1", "/", "~0", "~")
	escaper   = strings.NewReplacer("~", "~0", "/", "~1")
)

// String returns the text form, which ParsePointer reads.
func (p Pointer) String() string {
	var text strings.Builder
	for _, segment := range p {
		text.WriteByte('/')
		text.WriteString(escaper.Replace(segment))
	}
	return text.String()
}

// MissingError is the error of a pointer to a place that does not exist.
type MissingError struct {
	Pointer Pointer // that was looked up
	Segment int     // index in Pointer of the first missing segment
	Parent  Value   // the value in which the segment was looked up
}

// Error names the missing segment and the value in which it was looked up.
func (e *MissingError) Error() string {
	segment, parent := e.Pointer[e.Segment], e.Pointer[:e.Segment].String()
	if parent == "" {
		parent = "the root"
	}
	switch list, isList := e.Parent.([]any); {
	case isList && isIndex(segment):
		return fmt.Sprintf("%s: the list at %s has %d items, so there is no index %s", e.Pointer, parent, len(list), segment)
	case isList:
		return fmt.Sprintf("%s: %q is not an index of the list at %s", e.Pointer, segment, parent)
	case Kind(e.Parent) == "object":
		return fmt.Sprintf("%s: the object at %s has no key %q", e.Pointer, parent, segment)
	}
	return fmt.Sprintf("%s: at %s there is %s, which has no %q", e.Pointer, parent, Describe(e.Parent), segment)
}

// Lookup returns the value at p in v, which it shares. The error is a *MissingError if there is none. It costs one step for
// each segment, plus the decoding if v is a Raw.
func (p Pointer) Lookup(v Value) (Value, error) {
	if raw, ok := v.(Raw); ok {
		decoded, err := Decode(raw)
		if err != nil {
			return nil, err
		}
		v = decoded
	}
	for i, segment := range p {
		next, ok := child(v, segment)
		if !ok {
			return nil, &MissingError{Pointer: p, Segment: i, Parent: v}
		}
		v = next
	}
	return v, nil
}

// child returns the element of v at a segment. It reports false if there is none; null is an element.
func child(v Value, segment string) (Value, bool) {
	switch v := v.(type) {
	case map[string]any:
		item, ok := v[segment]
		return item, ok
	case []any:
		if !isIndex(segment) {
			return nil, false
		}
		i, err := strconv.Atoi(segment)
		if err != nil || i >= len(v) {
			return nil, false
		}
		return v[i], true
	}
	return nil, false
}

// isIndex reports whether segment is an array index of RFC 6901: digits without a leading zero. The "-" for the place after
// the last element is not an index here, because it has no value.
func isIndex(segment string) bool {
	if segment == "" || len(segment) > 1 && segment[0] == '0' {
		return false
	}
	return strings.Trim(segment, "0123456789") == ""
}
