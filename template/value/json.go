package value

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ParseJSON reads one JSON text (RFC 8259). Whole numbers become int64; an integer beyond int64 is refused, because a float
// would silently change its digits. Of a duplicate key the last value counts, and a byte or escape that is no character is replaced, as in
// encoding/json; ParseInput refuses both. A text with more than NodesMax nodes is refused before it is decoded.
func ParseJSON(text []byte) (Value, error) {
	if v, ok := quick(text); ok {
		return v, nil
	}
	return parseJSON(text)
}

// parseJSON is ParseJSON for any text.
func parseJSON(text []byte) (Value, error) {
	v, err := decodeJSON(text)
	if err != nil {
		return nil, fmt.Errorf("parse JSON: %w", err)
	}
	w := walk{from: jsonText, left: MaxSizeBytes}
	v, _, err = w.visit(v, 0)
	if err != nil {
		return nil, fmt.Errorf("parse JSON: the text %w", err)
	}
	return v, nil
}

// decodeJSON leaves numbers as json.Number.
func decodeJSON(text []byte) (any, error) {
	if len(text) > MaxSizeBytes {
		return nil, fmt.Errorf("%w: text of %d bytes, at most %d are allowed", ErrTooLarge, len(text), MaxSizeBytes)
	}
	if err := fewNodes(text); err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		if err == io.EOF {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, err
	}
	end := decoder.InputOffset()
	if _, err := decoder.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the value, which ends at offset %d", end)
	}
	return v, nil
}

// JSON returns v as compact JSON: keys sorted bytewise, no white space, minimal escapes. It refuses values that Of refuses.
// ParseJSON of the result is Of(v).
func JSON(v any) ([]byte, error) { return AppendJSON(nil, v) }

// AppendJSON appends the result of JSON to dst.
func AppendJSON(dst []byte, v any) ([]byte, error) {
	v, err := Of(v)
	if err != nil {
		return dst, err
	}
	return appendJSON(dst, v), nil
}

// JSONSize returns the length of the result of JSON, without making it. It refuses values that Of refuses.
func JSONSize(v any) (int, error) {
	v, err := Of(v)
	if err != nil {
		return 0, err
	}
	return jsonSize(v), nil
}

func jsonSize(v Value) int {
	switch v := v.(type) {
	case string:
		return stringSize(v)
	case []any:
		size := 1 + max(1, len(v)) // brackets, and commas between
		for _, item := range v {
			size += jsonSize(item)
		}
		return size
	case map[string]any:
		size := 1 + max(1, len(v))
		for key, member := range v {
			size += stringSize(key) + 1 + jsonSize(member)
		}
		return size
	}
	var number [32]byte // the longest of the remaining values
	return len(appendJSON(number[:0], v))
}

// appendJSON writes a Value; it cannot fail, because of the invariants.
func appendJSON(dst []byte, v Value) []byte {
	switch v := v.(type) {
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case float64:
		return appendFloat(dst, v)
	case string:
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, item)
		}
		return append(dst, ']')
	case map[string]any:
		return appendObject(dst, v)
	}
	return append(dst, "null"...)
}

// appendObject sorts the keys bytewise, which for UTF-8 is by code point.
func appendObject(dst []byte, object map[string]any) []byte {
	var few [16]string // keeps the keys of most objects off the heap
	keys := few[:0]
	for key := range object {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	dst = append(dst, '{')
	for i, key := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendString(dst, key), ':')
		dst = appendJSON(dst, object[key])
	}
	return append(dst, '}')
}

// appendFloat writes the shortest digits that read back as f, with an exponent if the plain form would be long, or would
// look like an integer beyond int64, which ParseJSON refuses.
func appendFloat(dst []byte, f float64) []byte {
	if size := math.Abs(f); size >= 1e-6 && size < twoTo63 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}

// appendString quotes a valid string, escaping only the quote, the backslash and control characters.
func appendString(dst []byte, s string) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf || c >= utf8.RuneSelf {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(append(dst, s[from:]...), '"')
}

// stringSize returns the number of bytes that appendString appends.
func stringSize(s string) int {
	size := len(s) + 2
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
			size++
		case c < ' ':
			size += len(`\u0000`) - 1
		}
	}
	return size
}

// Text returns v as part of a text: a string unchanged, everything else as JSON. For a Go value that Of refuses it returns
// fmt's text or, if that might not end, the type and the reason.
func Text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	n, err := Of(v)
	if err != nil {
		return refusedText(v, err)
	}
	if s, ok := n.(string); ok {
		return s
	}
	return string(appendJSON(nil, n))
}

// refusedText is Text of a value outside the model. fmt does not detect a value that contains itself.
func refusedText(v any, err error) string {
	switch reflect.TypeOf(v).Kind() {
	case reflect.Map, reflect.Slice, reflect.Array, reflect.Struct, reflect.Pointer, reflect.Interface:
		return fmt.Sprintf("%T (%v)", v, err)
	}
	return fmt.Sprint(v)
}

// Kind returns the kind of v, for messages: null, boolean, integer, number (that is not whole), string, list or object; for
// other types, the Go type.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	case map[string]any:
		return "object"
	}
	return fmt.Sprintf("%T", v)
}

// Describe is Kind with its article, as in "an integer"; null has none.
func Describe(v any) string {
	switch kind := Kind(v); kind {
	case "null":
		return kind
	case "integer", "object":
		return "an " + kind
	default:
		return "a " + kind
	}
}
