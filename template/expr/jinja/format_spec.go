package jinja

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formatMethod implements '{0} {x.real!r:>{width}}'.format(a, width=5).
func formatMethod(r *run, v any, a args) (any, error) {
	b := &bracer{writer: writer{run: r}, list: a.list, cost: len(a.names)}
	b.named = func(name string) (any, bool) { return a.at(len(a.list), name) }
	b.text(v.(string), 2)
	return b.String(), b.err
}

// formatMap is format with an object for the names.
func formatMap(r *run, v any, a args) (any, error) {
	m, ok := mappingOf(a.list[0])
	if !ok {
		return nil, fmt.Errorf("mapping must be an object, not %s", describe(a.list[0]))
	}
	b := &bracer{writer: writer{run: r}, named: func(name string) (any, bool) { return m.at(name) }}
	b.text(v.(string), 2)
	return b.String(), b.err
}

// bracer replaces the braces in a text by values.
type bracer struct {
	writer
	list    []any
	named   func(string) (any, bool)
	cost    int  // of named, in steps
	next    int  // of list, for {}
	counted bool // {} has been met
	placed  bool // {0} has been met
}

func (b *bracer) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// text writes a text with its braces replaced. The layout of a value may contain fields, which contain no others.
func (b *bracer) text(s string, depth int) {
	if depth == 0 {
		b.fail("braces nest at most two deep")
	}
	for b.err == nil && s != "" {
		i := strings.IndexAny(s, "{}")
		if i < 0 {
			b.put(s)
			return
		}
		b.put(s[:i])
		brace := s[i : i+1]
		s = s[i+1:]
		switch {
		case strings.HasPrefix(s, brace):
			b.put(brace)
			s = s[1:]
		case brace == "}":
			b.fail("a } stands alone: write }} for the sign itself")
		default:
			s = b.field(s, depth)
		}
	}
}

// field writes the replacement field after a brace and returns the text after its closing brace.
func (b *bracer) field(s string, depth int) string {
	end := 0 // of the name
	for end < len(s) && strings.IndexByte("{}:!", s[end]) < 0 {
		if s[end] == '[' {
			for end < len(s) && s[end] != ']' {
				end++
			}
			continue
		}
		end++
	}
	if end == len(s) || s[end] == '{' {
		b.fail("a { is not closed")
		return ""
	}
	v, mark, rest := b.lookup(s[:end]), s[end], s[end+1:]
	if mark == '!' {
		if len(rest) < 2 || rest[1] != ':' && rest[1] != '}' {
			b.fail("behind ! there is one letter, and then : or }")
			return ""
		}
		v = b.converted(v, rest[0])
		mark, rest = rest[1], rest[2:]
	}
	layout := ""
	if mark == ':' {
		layout, rest = b.layout(rest, depth)
	}
	if b.err == nil {
		b.value(v, layout)
	}
	return rest
}

// layout returns the text between a colon and the closing brace, with its own fields replaced, and the rest.
func (b *bracer) layout(s string, depth int) (layout, rest string) {
	open, end := 1, strings.IndexAny(s, "{}")
	for ; end >= 0 && end < len(s); end++ {
		if s[end] == '{' {
			open++
		} else if s[end] == '}' {
			if open--; open == 0 {
				break
			}
		}
	}
	if end < 0 || end == len(s) {
		b.fail("a { is not closed")
		return "", ""
	}
	layout, rest = s[:end], s[end+1:]
	if strings.Contains(layout, "{") {
		within := *b
		within.writer = writer{run: b.run, err: b.err}
		within.text(layout, depth-1)
		b.err, b.next, b.counted, b.placed = within.err, within.next, within.counted, within.placed
		layout = within.String()
	}
	return layout, rest
}

// converted applies the conversion !s, !r or !a to a value.
func (b *bracer) converted(v any, conversion byte) any {
	if b.err != nil {
		return nil
	}
	var s string
	switch conversion {
	case 's':
		s, b.err = b.run.text(v)
	case 'r', 'a':
		if s, b.err = b.run.repr(v); conversion == 'a' {
			s = asciiOnly(s)
		}
	default:
		b.fail("!%c is no conversion: there are !s, !r and !a", conversion)
	}
	return s
}

// lookup returns the value of a.b[c].
func (b *bracer) lookup(name string) any {
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := b.first(name[:end])
	for rest := name[end:]; rest != "" && b.err == nil; {
		if rest[0] == '.' {
			key := rest[1:]
			if n := strings.IndexAny(key, ".["); n >= 0 {
				key = key[:n]
			}
			x, ok := fieldOf(v, key)
			if !ok {
				b.fail("%s has no field %s: write [%s] for a key", describe(v), quoted(key), key)
			}
			v, rest = x, rest[1+len(key):]
			continue
		}
		key, after, ok := strings.Cut(rest[1:], "]")
		if rest[0] != '[' || !ok || key == "" {
			b.fail("%s names no value", quoted(name))
			return nil
		}
		v, rest = b.element(v, key), after
	}
	return v
}

// first returns the argument at the beginning of a name.
func (b *bracer) first(name string) any {
	i, err := strconv.ParseUint(name, 10, 31)
	switch {
	case name == "":
		i, b.counted = uint64(b.next), true
		b.next++
	case err != nil:
		if b.err == nil {
			b.err = b.run.spend(b.cost)
		}
		v, ok := b.named(name)
		if !ok {
			b.fail("there is no value for {%s}", name)
		}
		return v
	default:
		b.placed = true
	}
	switch {
	case b.counted && b.placed:
		b.fail("{} and {0} do not go together")
	case i >= uint64(len(b.list)):
		b.fail("there is no value for {%s}", name)
	default:
		return b.list[i]
	}
	return nil
}

// element returns the value of a key or an index in brackets.
func (b *bracer) element(v any, key string) any {
	if b.err != nil {
		return nil
	}
	var index any = key
	if i, err := strconv.ParseUint(key, 10, 31); err == nil {
		index = int64(i)
	}
	x, err := b.run.lookup(v, index)
	if b.err = err; err == nil && is[undefined](x) {
		b.fail("there is no [%s] in %s", key, describe(v))
	}
	return x
}

// value writes a value in a layout.
func (b *bracer) value(v any, spec string) {
	n, isNumber := numberOf(v)
	s, isText := v.(string)
	if spec == "" || !isNumber && !isText {
		text, err := b.run.text(v)
		if spec != "" {
			b.fail("%s has no layout, but it is given %s", describe(v), quoted(spec))
		}
		if b.err == nil {
			b.err = err
		}
		b.put(text)
		return
	}
	l, verb, err := parseLayout(spec)
	switch {
	case err != nil:
		b.err = err
	case isText:
		b.string(s, verb, l)
	case n.isFloat || verb != 0 && strings.IndexByte("eEfFgG%", verb) >= 0:
		b.real(n.float(), verb, l)
	default:
		b.whole(n.i, verb, l)
	}
}

func (b *bracer) string(s string, verb byte, l layout) {
	if verb != 0 && verb != 's' || l.sign != "" || l.alternate || l.grouping != "" || l.align == "=" {
		b.fail("a string has no such layout")
		return
	}
	if l.align == "" {
		l.align = "<"
	}
	b.put(b.laid(l, "", clipped(s, l.precision)))
}

func (b *bracer) whole(i int64, verb byte, l layout) {
	if verb == 0 {
		verb = 'd'
	}
	switch {
	case verb == 'n' && l.grouping != "":
		b.fail("n has its own groups")
		return
	case verb == 'n':
		verb = 'd'
	}
	switch {
	case l.precision >= 0:
		b.fail("a whole number has no precision")
	case verb == 'c' && (l.sign != "" || l.alternate || l.grouping != ""):
		b.fail("a character has no sign")
	case verb == 'c':
		text, err := character(i)
		if b.err = err; err != nil {
			return
		}
		if l.align == "" {
			l.align = "<"
		}
		b.put(b.laid(l, "", text))
	case strings.IndexByte("bdoxX", verb) < 0:
		b.fail("%c is no way to write a whole number", verb)
	case l.grouping == "," && verb != 'd':
		b.fail("a comma stands between decimal digits only")
	default:
		digits, prefix := digitsOf(i, verb)
		b.integer(i < 0, digits, prefix, l)
	}
}

func (b *bracer) real(f float64, verb byte, l layout) {
	switch {
	case verb == 0:
		b.plain(f, l)
		return
	case verb == 'n' && l.grouping == "":
		verb = 'g'
	case strings.IndexByte("eEfFgG%", verb) < 0:
		b.fail("%c is no way to write a float", verb)
		return
	}
	if l.precision < 0 {
		l.precision = 6
	}
	b.float(f, verb, l)
}

// plain writes a float without a verb: unchanged, or with a number of digits, and at least one after the point.
func (b *bracer) plain(f float64, l layout) {
	magnitude := f
	if f < 0 || f == 0 && 1/f < 0 {
		magnitude = -f
	}
	text := floatText(magnitude)
	if l.precision >= 0 && magnitude-magnitude == 0 {
		if b.err == nil {
			b.err = b.run.grow(l.precision + 400)
		}
		if b.err != nil {
			return
		}
		count := max(l.precision, 1)
		text = general(magnitude, count, count-1, l.alternate, true)
	} else if i := strings.IndexByte(text, 'e'); l.alternate && i >= 0 && !strings.Contains(text, ".") {
		text = text[:i] + "." + text[i:]
	}
	end := strings.IndexFunc(text, func(c rune) bool { return c < '0' || c > '9' })
	if end < 0 {
		end = len(text)
	}
	b.number(l, magnitude != f || 1/f < 0, "", text[:end], text[end:])
}

// parseLayout reads [[fill]align][sign][#][0][width][grouping][.precision][verb].
func parseLayout(s string) (l layout, verb byte, err error) {
	l = layout{precision: -1}
	_, size := utf8.DecodeRuneInString(s)
	switch {
	case len(s) > size && strings.IndexByte("<>=^", s[size]) >= 0:
		l.fill, l.align, s = s[:size], s[size:size+1], s[size+1:]
	case strings.IndexByte("<>=^", s[0]) >= 0:
		l.align, s = s[:1], s[1:]
	}
	take := func(set string) string {
		if s == "" || strings.IndexByte(set, s[0]) < 0 {
			return ""
		}
		c := s[:1]
		s = s[1:]
		return c
	}
	l.sign = take("+- ")
	l.alternate = take("#") != ""
	if l.fill == "" && take("0") != "" {
		l.fill, l.zeros = "0", l.align == ""
	}
	l.fill = cmp.Or(l.fill, " ")
	f := &formatter{}
	l.width, s = f.number(s)
	l.grouping = take(",_")
	if take(".") != "" {
		before := s
		if l.precision, s = f.number(s); s == before {
			return l, 0, errors.New("a precision is missing behind the point")
		}
	}
	if f.err != nil || len(s) > 1 {
		return l, 0, cmp.Or(f.err, errors.New("that is no layout"))
	}
	if s != "" {
		verb = s[0]
	}
	return l, verb, nil
}
