package jinja

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// methods by name: of strings, of objects, of lists.
var (
	methods = map[string]callable{
		"lower": texts(strings.ToLower), "upper": texts(strings.ToUpper), "title": texts(title), "capitalize": texts(capitalize),
		"strip": trimmed(strings.TrimSpace, strings.TrimFunc), "lstrip": trimmed(trimLeft, strings.TrimLeftFunc), "rstrip": trimmed(trimRight, strings.TrimRightFunc),
		"startswith": about(strings.HasPrefix), "endswith": about(strings.HasSuffix), "isdigit": plain(isDigits),
		"split": takes(0, split, "sep", "maxsplit"), "join": takes(1, joinMethod, "iterable"),
		"replace": takes(2, replace, "old", "new", "count"), "find": takes(1, find, "sub"),
		"count": takes(1, count, "value"), "index": takes(1, index, "value"),
		"get": takes(1, get, "key", "default"), "items": plain(items), "keys": plain(keys), "values": plain(values),
	}
	methodNames = slices.Sorted(maps.Keys(methods))
)

// functions by name.
var (
	functions     = map[string]callable{"range": takes(1, numbers, "start", "stop", "step"), "dict": free(dict)}
	functionNames = slices.Sorted(maps.Keys(functions))
)

func isFunction(name string) bool {
	_, ok := functions[name]
	return ok
}

func needText(v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("it is one of strings, not of %s", describe(v))
	}
	return s, nil
}

func texts(f func(string) string) callable {
	return plain(func(r *run, v any, _ args) (any, error) {
		s, err := needText(v)
		if err != nil {
			return nil, err
		}
		return f(s), r.grow(len(s))
	})
}

func title(s string) string {
	before := ' '
	return strings.Map(func(c rune) rune {
		defer func() { before = c }()
		if unicode.IsLetter(before) {
			return unicode.ToLower(c)
		}
		return unicode.ToUpper(c)
	}, s)
}

func capitalize(s string) string {
	runes := []rune(strings.ToLower(s))
	if len(runes) > 0 {
		runes[0] = unicode.ToUpper(runes[0])
	}
	return string(runes)
}

func trimLeft(s string) string  { return strings.TrimLeftFunc(s, unicode.IsSpace) }
func trimRight(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }

func trimmed(space func(string) string, cut func(s string, in func(rune) bool) string) callable {
	return takes(0, func(r *run, v any, a args) (any, error) {
		s, err := needText(v)
		if err != nil {
			return nil, err
		}
		if chars, ok := a.at(0, "chars"); !ok || chars == nil {
			return space(s), nil
		}
		set, err := a.must(0, "chars")
		if err != nil {
			return nil, err
		}
		if err := r.spend(len(s) / 8); err != nil { // each character is looked up
			return nil, err
		}
		in := map[rune]bool{}
		for _, c := range set {
			in[c] = true
		}
		return cut(s, func(c rune) bool { return in[c] }), nil
	}, "chars")
}

func about(f func(s, part string) bool) callable {
	return takes(1, func(_ *run, v any, a args) (any, error) {
		s, err := needText(v)
		if err != nil {
			return nil, err
		}
		part, err := a.must(0, "prefix")
		return f(s, part), err
	}, "prefix")
}

func isDigits(_ *run, v any, _ args) (any, error) {
	s, err := needText(v)
	return s != "" && strings.Trim(s, "0123456789") == "", err
}

func split(r *run, v any, a args) (any, error) {
	s, err := needText(v)
	if err != nil {
		return nil, err
	}
	most, err := a.integer(1, "maxsplit", -1)
	if err != nil {
		return nil, err
	}
	if err := r.room(len(s) + 1); err != nil {
		return nil, err
	}
	if most < 0 || most > int64(len(s)) {
		most = int64(len(s))
	}
	var parts []string
	if separator, ok := a.at(0, "sep"); !ok || separator == nil {
		parts = fields(s, int(most))
	} else {
		separator, err := a.must(0, "sep")
		if err != nil {
			return nil, err
		}
		if separator == "" {
			return nil, errors.New("sep must not be empty")
		}
		parts = strings.SplitN(s, separator, int(most)+1)
	}
	list := make([]any, len(parts))
	for i, p := range parts {
		list[i] = p
	}
	return list, nil
}

// fields cuts a text at its white space, most times at most: what then follows stays as it is.
func fields(s string, most int) []string {
	var parts []string
	for s = trimLeft(s); s != ""; s = trimLeft(s) {
		i := strings.IndexFunc(s, unicode.IsSpace)
		if i < 0 || len(parts) == most {
			return append(parts, s)
		}
		parts, s = append(parts, s[:i]), s[i:]
	}
	return parts
}

func joinMethod(r *run, v any, a args) (any, error) {
	s, err := needText(v)
	if err != nil {
		return nil, err
	}
	list, _ := a.at(0, "iterable")
	return joined(r, list, args{list: []any{s}})
}

func replace(r *run, v any, a args) (any, error) {
	s, err := needText(v)
	if err != nil {
		return nil, err
	}
	old, err := a.must(0, "old")
	if err != nil {
		return nil, err
	}
	by, err := a.must(1, "new")
	if err != nil {
		return nil, err
	}
	most, err := a.integer(2, "count", -1)
	if err != nil {
		return nil, err
	}
	times := strings.Count(s, old)
	if most >= 0 {
		times = int(min(int64(times), most))
	}
	if grown := float64(len(s)) + float64(times)*float64(len(by)); grown > float64(r.bytes) {
		return nil, r.grow(-1)
	}
	if err := r.grow(len(s) + times*len(by)); err != nil {
		return nil, err
	}
	return strings.Replace(s, old, by, times), nil
}

func find(_ *run, v any, a args) (any, error) {
	s, err := needText(v)
	if err != nil {
		return nil, err
	}
	part, err := a.must(0, "sub")
	i := strings.Index(s, part)
	if i > 0 {
		i = len([]rune(s[:i]))
	}
	return int64(i), err
}

func count(r *run, v any, a args) (any, error) {
	what, _ := a.at(0, "value")
	switch v := v.(type) {
	case string:
		part, ok := what.(string)
		if !ok || part == "" {
			return nil, errors.New("it needs a string to look for")
		}
		return int64(strings.Count(v, part)), r.spend(len(v))
	case []any:
		n := int64(0)
		for _, x := range v {
			yes, err := r.equal(what, x)
			if err != nil {
				return nil, err
			}
			if yes {
				n++
			}
		}
		return n, r.spend(len(v))
	}
	return nil, fmt.Errorf("it is one of strings and lists, not of %s", describe(v))
}

func index(r *run, v any, a args) (any, error) {
	list, ok := v.([]any)
	if !ok {
		return nil, fmt.Errorf("it is one of lists, not of %s", describe(v))
	}
	what, _ := a.at(0, "value")
	for i, x := range list {
		yes, err := r.equal(what, x)
		if err != nil {
			return nil, err
		}
		if yes {
			return int64(i), r.spend(len(list))
		}
	}
	return nil, fmt.Errorf("%s is not in the list", brief(what))
}

func get(_ *run, v any, a args) (any, error) {
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("it is one of objects, not of %s", describe(v))
	}
	if k, ok := a.key(); ok {
		if x, ok := m[k]; ok {
			return x, nil
		}
	}
	other, _ := a.at(1, "default")
	return other, nil
}

func urlencode(r *run, v any, _ args) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		pairs, err := items(r, v, args{})
		if err != nil {
			return nil, err
		}
		return r.query(pairs.([]any))
	case []any:
		return r.query(v)
	}
	text, err := r.text(v)
	if err != nil {
		return nil, err
	}
	s := strings.ReplaceAll(strings.ReplaceAll(url.QueryEscape(text), "+", "%20"), "%2F", "/")
	return s, r.grow(len(s))
}

// query is the query of a URL that is made of pairs of a name and a value.
func (r *run) query(pairs []any) (any, error) {
	parts := make([]string, len(pairs))
	for i, x := range pairs {
		pair, _ := x.([]any)
		if len(pair) != 2 {
			return nil, fmt.Errorf("it needs pairs of a name and a value, not %s", describe(x))
		}
		name, err := r.text(pair[0])
		if err != nil {
			return nil, err
		}
		v, err := r.text(pair[1])
		if err != nil {
			return nil, err
		}
		parts[i] = url.QueryEscape(name) + "=" + url.QueryEscape(v)
		if err := r.grow(len(parts[i])); err != nil {
			return nil, err
		}
	}
	return strings.Join(parts, "&"), nil
}

// numbers is range(stop), range(start, stop) or range(start, stop, step).
func numbers(r *run, _ any, a args) (any, error) {
	if len(a.names) > 0 {
		return nil, errors.New("its numbers have no names")
	}
	var bounds []int64
	for _, v := range a.list {
		i, ok := v.(int64)
		if !ok {
			return nil, fmt.Errorf("it goes by whole numbers, not %s", describe(v))
		}
		bounds = append(bounds, i)
	}
	from, to, step := int64(0), int64(0), int64(1)
	switch len(bounds) {
	case 1:
		to = bounds[0]
	case 2:
		from, to = bounds[0], bounds[1]
	default:
		from, to, step = bounds[0], bounds[1], bounds[2]
	}
	if step == 0 {
		return nil, errors.New("its step must not be 0")
	}
	size := steps(from, to, step)
	if size > uint64(r.bytes) {
		return nil, r.grow(-1)
	}
	if err := r.room(int(size)); err != nil {
		return nil, err
	}
	list := make([]any, size)
	for i := range list {
		list[i] = from + int64(i)*step
	}
	return list, nil
}

// steps is how many steps lead from a number to before another one, in unsigned numbers, where it cannot overflow.
func steps(from, to, step int64) uint64 {
	way, each := uint64(to)-uint64(from), uint64(step)
	if step < 0 {
		from, to = to, from
		way, each = -way, -each
	}
	if from >= to {
		return 0
	}
	return (way-1)/each + 1
}

func dict(r *run, _ any, a args) (any, error) {
	if len(a.list) > 0 {
		return nil, errors.New("it takes named values: dict(a=1)")
	}
	out := make(map[string]any, len(a.named))
	for i, k := range a.names {
		out[k] = a.named[i]
	}
	return out, r.room(4 * len(out))
}
