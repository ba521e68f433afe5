package value

import (
	"errors"
	"slices"
	"unicode/utf8"
)

// Preview returns the beginning of the JSON of v: at most size bytes, cut between characters. whole reports whether nothing
// was cut. The part after the cut is not written, so the cost does not grow with the value, unless v must be decoded first.
func Preview(v any, size int) (text []byte, whole bool, err error) {
	if l, ok := v.(Large); ok {
		return l.preview(size), false, nil
	}
	v, err = Of(v)
	if errors.Is(err, ErrLarge) {
		return cut([]byte(unknownBeginning), size), false, nil
	}
	if err != nil {
		return nil, false, err
	}
	text = appendUntil(nil, v, size)
	if len(text) <= size {
		return text, true, nil
	}
	return cut(text, size), false, nil
}

// cut returns the beginning of a text, at most size bytes, cut between characters.
func cut(text []byte, size int) []byte {
	for text = text[:min(size, len(text))]; !utf8.Valid(text); { // a character was cut
		text = text[:len(text)-1]
	}
	return text
}

// appendUntil is appendJSON, which may stop as soon as dst is longer than size.
func appendUntil(dst []byte, v Value, size int) []byte {
	switch v := v.(type) {
	case string:
		if beyond := size + utf8.UTFMax; len(v) > beyond { // still longer than size when a cut character is left out
			for v = v[:beyond]; !utf8.ValidString(v); {
				v = v[:len(v)-1]
			}
		}
		return appendString(dst, v)
	case []any:
		dst = append(dst, '[')
		for i, item := range v {
			if len(dst) > size {
				return dst
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendUntil(dst, item, size)
		}
		return append(dst, ']')
	case map[string]any:
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		dst = append(dst, '{')
		for i, key := range keys {
			if len(dst) > size {
				return dst
			}
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendString(dst, key), ':')
			dst = appendUntil(dst, v[key], size)
		}
		return append(dst, '}')
	}
	return appendJSON(dst, v)
}
