package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/sluiceflow/sluice/template/expr"
)

// writer builds a text, and pays for it as it grows.
type writer struct {
	strings.Builder
	run *run
	err error
}

func (w *writer) put(texts ...string) {
	for _, s := range texts {
		if w.err == nil {
			w.err = w.run.grow(len(s))
		}
		if w.err == nil {
			w.WriteString(s)
		}
	}
}

// text returns Python's str of a value.
func (r *run) text(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	switch v.(type) {
	case undefined:
		return "", nil
	case nil, bool, int64, float64:
		s := shown(v)
		return s, r.grow(len(s))
	}
	return r.repr(v)
}

// repr returns Python's repr of a value, with strings in quotes.
func (r *run) repr(v any) (string, error) {
	if _, err := r.weigh(v); err != nil {
		return "", err
	}
	w := &writer{run: r}
	w.repr(v)
	return w.String(), w.err
}

// repr writes a value that has been weighed.
func (w *writer) repr(v any) {
	switch v := v.(type) {
	case []any:
		w.items("[", v, "]")
		return
	case tuple, group:
		list, _ := sequence(v)
		end := ")"
		if len(list) == 1 {
			end = ",)"
		}
		w.items("(", list, end)
		return
	}
	m, ok := mappingOf(v)
	if !ok {
		w.put(shown(v))
		return
	}
	w.put("{")
	for i, e := range m.entries() {
		if i > 0 {
			w.put(", ")
		}
		w.repr(e.key)
		w.put(": ")
		w.repr(e.value)
	}
	w.put("}")
}

func (w *writer) items(begin string, list []any, end string) {
	w.put(begin)
	for i, x := range list {
		if i > 0 {
			w.put(", ")
		}
		w.repr(x)
	}
	w.put(end)
}

// shown is repr of a value without elements.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case undefined:
		return "Undefined"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return floatText(v)
	case string:
		return quoted(v)
	}
	return fmt.Sprint(v)
}

// floatText returns the shortest text that parses to the float. From 1e16 on, and below 1e-4, it has an exponent.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+"))
	}
	if size := math.Abs(f); size != 0 && (size < 1e-4 || size >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if f == math.Trunc(f) {
		s += ".0"
	}
	return s
}

// quoted quotes a string as Python does: in single quotes, or in double ones if it contains only single ones.
func quoted(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, c := range s {
		switch {
		case c == quote || c == '\\':
			b.WriteByte('\\')
			b.WriteRune(c)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		default:
			b.WriteString(sequenceOf(c))
		}
	}
	b.WriteRune(quote)
	return b.String()
}

// sequenceOf returns the escape sequence of a character.
func sequenceOf(c rune) string {
	switch {
	case c == '\n':
		return `\n`
	case c == '\r':
		return `\r`
	case c == '\t':
		return `\t`
	case c < 0x100:
		return fmt.Sprintf(`\x%02x`, c)
	case c < 0x10000:
		return fmt.Sprintf(`\u%04x`, c)
	}
	return fmt.Sprintf(`\U%08x`, c)
}

// brief describes a value in a message: its kind and, if it is short, the value itself.
func brief(v any) string {
	switch v := v.(type) {
	case bool, int64, float64:
		return shown(v)
	case string:
		return expr.Quote(v)
	}
	return describe(v)
}
