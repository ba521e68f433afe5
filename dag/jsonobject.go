package dag

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// encoding/json decodes into structs leniently: it accepts "EDGETYPE" for "edgeType", keeps the last of two equal fields and
// repairs broken UTF-8. Here it only validates and compacts the bytes; counting brackets then splits them into fields as
// written.

// fieldsMax exceeds the fields of any object of the form and bounds the search for equal names.
const fieldsMax = 16

// object is the fields of a JSON object as written; values are compact JSON.
type object []field

type field struct {
	name  string
	value []byte
}

// compact validates JSON and removes white space.
func compact(data []byte) ([]byte, error) {
	if !utf8.Valid(data) {
		return nil, fmt.Errorf("%w: not valid UTF-8", ErrFormat)
	}
	var buf bytes.Buffer
	if err := json.Compact(&buf, data); err != nil {
		// The error of Compact has no offset; the error of decoding has one.
		var unread json.RawMessage
		if syntax, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(data, &unread)); ok {
			return nil, fmt.Errorf("at byte %d: %w", syntax.Offset, err)
		}
		return nil, err
	}
	return buf.Bytes(), nil
}

// readObject splits compact, valid JSON into the fields of an object. Names are unique.
func readObject(data []byte) (object, error) {
	if data[0] != '{' {
		return nil, fmt.Errorf("%w: not an object", ErrFormat)
	}
	o := make(object, 0, 4) // as many as an edge has
	for rest := data[1:]; rest[0] != '}'; {
		end := valueEnd(rest)
		name, err := fieldName(rest[:end])
		if err != nil {
			return nil, err
		}
		rest = rest[end+1:] // the colon
		end = valueEnd(rest)
		if o.has(name) {
			return nil, within(name, fmt.Errorf("%w: given twice", ErrFormat))
		}
		if len(o) == fieldsMax {
			return nil, fmt.Errorf("%w: more than %d fields", ErrFormat, fieldsMax)
		}
		o = append(o, field{name, rest[:end]})
		if rest = rest[end:]; rest[0] == ',' {
			rest = rest[1:]
		}
	}
	return o, nil
}

// fieldNames saves copies of the names of the form, which every node and edge repeats.
var fieldNames = func() map[string]string {
	names := map[string]string{}
	for _, name := range []string{
		"kind", "nodes", "edges", "key", "attributes", "source", "target",
		"edgeType", "dataFlow", "guards", "condition", "negated",
	} {
		names[`"`+name+`"`] = name
	}
	return names
}()

func fieldName(quoted []byte) (string, error) {
	if name, ok := fieldNames[string(quoted)]; ok {
		return name, nil
	}
	return unquote(quoted)
}

// only refuses fields that are not among names.
func (o object) only(names ...string) error {
	for _, f := range o {
		if !slices.Contains(names, f.name) {
			return within(f.name, fmt.Errorf("%w: unknown field", ErrFormat))
		}
	}
	return nil
}

func (o object) value(name string) ([]byte, bool) {
	for _, f := range o {
		if f.name == name {
			return f.value, true
		}
	}
	return nil, false
}

func (o object) has(name string) bool {
	_, ok := o.value(name)
	return ok
}

// text reads a required string.
func (o object) text(name string) (string, error) {
	value, err := o.required(name)
	if err != nil {
		return "", err
	}
	if value[0] != '"' {
		return "", within(name, fmt.Errorf("%w: not a string", ErrFormat))
	}
	return unquote(value)
}

// flag reads a required boolean.
func (o object) flag(name string) (bool, error) {
	value, err := o.required(name)
	if err != nil {
		return false, err
	}
	switch string(value) {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, within(name, fmt.Errorf("%w: neither true nor false", ErrFormat))
}

// array reads a required array.
func (o object) array(name string) ([][]byte, error) {
	value, err := o.required(name)
	if err != nil {
		return nil, err
	}
	if value[0] != '[' {
		return nil, within(name, fmt.Errorf("%w: not an array", ErrFormat))
	}
	var elements [][]byte
	for rest := value[1:]; rest[0] != ']'; {
		end := valueEnd(rest)
		elements = append(elements, rest[:end])
		if rest = rest[end:]; rest[0] == ',' {
			rest = rest[1:]
		}
	}
	return elements, nil
}

func (o object) required(name string) ([]byte, error) {
	value, ok := o.value(name)
	if !ok {
		return nil, within(name, fmt.Errorf("%w: missing", ErrFormat))
	}
	return value, nil
}

// Brackets nest properly in valid JSON and strings are skipped whole, so a value ends at depth 0, at a separator or a closing
// bracket of the enclosing value.

// valueEnd returns the length of the value at the beginning of compact, valid JSON.
func valueEnd(data []byte) int {
	depth := 0
	for i := 0; i < len(data); {
		switch data[i] {
		case '"':
			i = stringEnd(data, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		default:
			i++
		}
		if depth == 0 && i < len(data) && bytes.IndexByte([]byte(",:}]"), data[i]) >= 0 {
			return i
		}
	}
	return len(data)
}

// stringEnd returns the index after the end of the string at i.
func stringEnd(data []byte, i int) int {
	for i++; data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// unquote decodes a valid JSON string.
func unquote(quoted []byte) (text string, err error) {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1]), nil
	}
	err = json.Unmarshal(quoted, &text)
	return text, err
}

// within adds a path to an error, in front of the path of a *FieldError.
func within(path string, err error) error {
	if inner, ok := err.(*FieldError); ok {
		return &FieldError{path + "." + inner.Path, inner.Err}
	}
	return &FieldError{path, err}
}
