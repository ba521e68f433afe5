package value

import (
	"encoding/json"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/internal/jsontext"
)

// quickBytes bounds the texts that are read in one pass: a text has no more nodes than bytes.
const quickBytes = NodesMax

// quick reads a JSON text in one pass, to the same value as the slower passes. It reports false for every text that ParseInput refuses:
// the slower passes then read the text again, and name the fault and its place.
func quick(text []byte) (v Value, ok bool) {
	if len(text) > quickBytes {
		return nil, false
	}
	r := quickReader{text: text}
	v, ok = r.value(0)
	return v, ok && r.next() == 0 && r.at == len(text)
}

type quickReader struct {
	text []byte
	at   int // all bytes before it are read
}

// next skips white space and returns the byte after it; 0: there is none.
func (r *quickReader) next() byte {
	for ; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

// skip skips white space and a byte, if it is that one.
func (r *quickReader) skip(c byte) bool {
	if r.next() != c {
		return false
	}
	r.at++
	return true
}

func (r *quickReader) value(depth int) (Value, bool) {
	switch c := r.next(); c {
	case '"':
		return r.string()
	case '{':
		return r.object(depth)
	case '[':
		return r.list(depth)
	case 'n':
		return nil, r.word("null")
	case 't':
		return true, r.word("true")
	case 'f':
		return false, r.word("false")
	}
	return r.number()
}

func (r *quickReader) word(w string) bool {
	end := r.at + len(w)
	if end > len(r.text) || string(r.text[r.at:end]) != w {
		return false
	}
	r.at = end
	return true
}

func (r *quickReader) list(depth int) (Value, bool) {
	r.at++
	list := []any{}
	if depth >= MaxDepth || r.skip(']') {
		return list, depth < MaxDepth
	}
	for {
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		list = append(list, v)
		if !r.skip(',') {
			return list, r.skip(']')
		}
	}
}

func (r *quickReader) object(depth int) (Value, bool) {
	r.at++
	object := map[string]any{}
	if depth >= MaxDepth || r.skip('}') {
		return object, depth < MaxDepth
	}
	for {
		if r.next() != '"' {
			return nil, false
		}
		key, ok := r.string()
		if !ok || !r.skip(':') {
			return nil, false
		}
		v, ok := r.value(depth + 1)
		if !ok {
			return nil, false
		}
		n := len(object)
		if object[key] = v; len(object) == n { // a duplicate key
			return nil, false
		}
		if !r.skip(',') {
			return object, r.skip('}')
		}
	}
}

// string reads the string that begins here.
func (r *quickReader) string() (s string, ok bool) {
	begin, escapes := r.at, false
	for i := begin + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			quoted := r.text[begin : i+1]
			if r.at = i + 1; escapes {
				return s, jsontext.Half(quoted) < 0 && json.Unmarshal(quoted, &s) == nil && utf8.Valid(quoted)
			}
			return string(quoted[1 : len(quoted)-1]), utf8.Valid(quoted)
		case c < ' ':
			return "", false
		case c == '\\':
			escapes = true
			i++
		}
	}
	return "", false
}

// number reads a number.
func (r *quickReader) number() (Value, bool) {
	begin := r.at
	for r.at < len(r.text) && isOfNumber(r.text[r.at]) {
		r.at++
	}
	text := r.text[begin:r.at]
	if !json.Valid(text) {
		return nil, false
	}
	v, err := ofNumber(string(text))
	return v, err == nil
}

func isOfNumber(c byte) bool {
	return c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'
}
