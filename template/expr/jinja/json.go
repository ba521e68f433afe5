package jinja

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

// toJSON returns a value as JSON that is safe in HTML: only ASCII, and no <, >, & or '.
func toJSON(r *run, v any, a args) (any, error) {
	if _, err := r.weigh(v); err != nil {
		return nil, err
	}
	w := &jsonWriter{writer: writer{run: r}}
	if by, ok := a.given(0, "indent"); ok {
		w.lines = true
		if w.by, ok = by.(string); !ok {
			width, err := a.size(0, "indent", 0)
			if err != nil {
				return nil, err
			}
			if w.by, err = r.pad("", " ", 0, width); err != nil {
				return nil, err
			}
		}
	}
	w.json(v, 0)
	return w.String(), w.err
}

// jsonWriter writes JSON as Python's json.dumps does: on one line, or with a line for each element.
type jsonWriter struct {
	writer
	lines bool
	by    string // the indentation of one level
}

// json writes a value that has been weighed.
func (w *jsonWriter) json(v any, depth int) {
	if w.err != nil {
		return
	}
	if list, ok := sequence(v); ok {
		w.put("[")
		for i, x := range list {
			w.next(i, depth+1)
			w.json(x, depth+1)
		}
		w.end(len(list), depth, "]")
		return
	}
	if m, ok := mappingOf(v); ok {
		w.put("{")
		for i, e := range m.entries() {
			key, err := keyText(e.key)
			if err != nil && w.err == nil {
				w.err = err
			}
			w.next(i, depth+1)
			w.quote(key)
			w.put(": ")
			w.json(e.value, depth+1)
		}
		w.end(m.size(), depth, "}")
		return
	}
	switch v := v.(type) {
	case string:
		w.quote(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			w.err = errOverflow
		}
		w.put(floatText(v))
	case undefined:
		w.err = fmt.Errorf("%s is undefined", v.what)
	case nil:
		w.put("null")
	default: // true, false or an integer
		w.put(strings.ToLower(shown(v)))
	}
}

// next begins the i-th element.
func (w *jsonWriter) next(i, depth int) {
	switch {
	case i > 0 && !w.lines:
		w.put(", ")
	case i > 0:
		w.put(",")
	}
	w.line(depth)
}

func (w *jsonWriter) end(n, depth int, bracket string) {
	if n > 0 {
		w.line(depth)
	}
	w.put(bracket)
}

func (w *jsonWriter) line(depth int) {
	if !w.lines {
		return
	}
	w.put("\n")
	for range depth {
		w.put(w.by)
	}
}

// quote writes a string.
func (w *jsonWriter) quote(s string) {
	w.put(`"`)
	for len(s) > 0 {
		plain := strings.IndexFunc(s, func(c rune) bool {
			return c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || c == '\''
		})
		if plain < 0 {
			w.put(s)
			break
		}
		c, size := utf8.DecodeRuneInString(s[plain:])
		w.put(s[:plain], jsonEscape(c))
		s = s[plain+size:]
	}
	w.put(`"`)
}

func jsonEscape(c rune) string {
	if i := strings.IndexRune("\"\\\b\f\n\r\t", c); i >= 0 {
		return `\` + `"\bfnrt`[i:i+1]
	}
	if c == 0x7f {
		return "\x7f"
	}
	if high, low := utf16.EncodeRune(c); high != utf8.RuneError {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, c)
}

func fromJSON(r *run, v any, _ args) (any, error) {
	s, err := textOf(v)
	if err != nil {
		return nil, err
	}
	if err := r.grow(8 * len(s)); err != nil {
		return nil, err
	}
	return value.ParseJSON([]byte(s))
}

func encode64(r *run, v any, _ args) (any, error) {
	text, err := r.text(v)
	if err != nil {
		return nil, err
	}
	s := base64.StdEncoding.EncodeToString([]byte(text))
	return s, r.grow(len(s))
}

func decode64(r *run, v any, _ args) (any, error) {
	text, err := r.text(v)
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil, errors.New("it is no base64: " + err.Error())
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), r.grow(len(data))
}
