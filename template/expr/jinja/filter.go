package jinja

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

// filters by name. They are filled in at the start, because some of them apply others.
var (
	filters     map[string]callable
	filterNames []string
)

func init() {
	filters = map[string]callable{
		"default": takes(0, orDefault, "default_value", "boolean"), "d": takes(0, orDefault, "default_value", "boolean"),
		"int": takes(0, toInt, "default", "base"), "float": takes(0, toFloat, "default"),
		"string": plain(toText), "safe": plain(toText), "bool": plain(toBool), "list": plain(toList),
		"abs": plain(absolute), "round": takes(0, rounded, "precision", "method"),
		"length": plain(length), "count": plain(length), "first": plain(first), "last": plain(last), "reverse": plain(reversed),
		"join": takes(0, joined, "d", "attribute"), "sort": takes(0, sorted, "reverse", "case_sensitive", "attribute"),
		"unique": takes(0, unique, "case_sensitive", "attribute"), "sum": takes(0, sum, "attribute", "start"),
		"min": takes(0, least, "case_sensitive", "attribute"), "max": takes(0, greatest, "case_sensitive", "attribute"),
		"map": free(mapped), "select": free(choose(true, false)), "reject": free(choose(false, false)),
		"selectattr": free(choose(true, true)), "rejectattr": free(choose(false, true)),
		"items": plain(items), "dictsort": takes(0, dictsort, "case_sensitive", "by", "reverse"), "keys": plain(keys), "values": plain(values),
		"tojson": plain(toJSON), "to_json": plain(toJSON), "fromjson": plain(fromJSON), "from_json": plain(fromJSON),
		"b64encode": plain(encode64), "b64decode": plain(decode64), "urlencode": plain(urlencode),
		"lower": asText("lower"), "upper": asText("upper"), "title": plain(titled), "capitalize": asText("capitalize"),
		"trim": asText("strip"), "replace": asText("replace"), "split": asText("split"),
	}
	filterNames = slices.Sorted(maps.Keys(filters))
}

// asText makes a filter of a method of strings; what is no string is made one.
func asText(method string) callable {
	m := methods[method]
	return takes(m.need, func(r *run, v any, a args) (any, error) {
		s, err := r.text(v)
		if err != nil {
			return nil, err
		}
		return m.do(r, s, a)
	}, m.params...)
}

// titled is the filter title, which looks at where words begin, and so is not the method: it's makes It's.
func titled(r *run, v any, _ args) (any, error) {
	s, err := r.text(v)
	if err != nil {
		return nil, err
	}
	begins := true
	return strings.Map(func(c rune) rune {
		defer func() { begins = unicode.IsSpace(c) || strings.ContainsRune("-({[<", c) }()
		if begins {
			return unicode.ToUpper(c)
		}
		return unicode.ToLower(c)
	}, s), r.grow(len(s))
}

func orDefault(_ *run, v any, a args) (any, error) {
	other, ok := a.at(0, "default_value")
	if !ok {
		other = ""
	}
	falsy, _ := a.at(1, "boolean")
	if _, missing := v.(undefined); missing || truth(falsy) && !truth(v) {
		return other, nil
	}
	return v, nil
}

func defined(v any) error {
	if u, ok := v.(undefined); ok {
		return fmt.Errorf("%s is undefined", u.what)
	}
	return nil
}

func toInt(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	base, err := a.integer(1, "base", 10)
	if err != nil || base < 2 || base > 36 {
		return nil, cmp.Or(err, errors.New("base must be from 2 to 36"))
	}
	switch v := v.(type) {
	case int64:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case float64:
		return truncated(v)
	case string:
		s := strings.TrimSpace(v)
		i, err := strconv.ParseInt(unprefixed(s, int(base)), int(base), 64)
		if err == nil {
			return i, nil
		}
		if errors.Is(err, strconv.ErrRange) {
			return nil, errOverflow
		}
		if f, ok := decimal(s); ok {
			return truncated(f)
		}
	}
	return a.otherwise()
}

// truncated is a float without its fraction.
func truncated(f float64) (any, error) {
	if i, ok := whole(math.Trunc(f)).(int64); ok {
		return i, nil
	}
	return nil, errOverflow
}

// unprefixed is an integer of a base without what Python allows in it: 0x, 0o or 0b, and _ between digits.
func unprefixed(s string, base int) string {
	digits := strings.TrimLeft(s, "+-")
	if prefix := map[int]string{16: "0x", 8: "0o", 2: "0b"}[base]; prefix != "" && len(digits) > 1 && strings.EqualFold(digits[:2], prefix) {
		s = s[:len(s)-len(digits)] + strings.TrimPrefix(digits[2:], "_")
	}
	return ungrouped(s, base)
}

// ungrouped takes away the _ between digits of a base, and leaves those elsewhere, which make it no number.
func ungrouped(s string, base int) string {
	if !strings.Contains(s, "_") {
		return s
	}
	digit := func(i int) bool {
		return i >= 0 && i < len(s) && (s[i] >= '0' && s[i] <= '9' || base > 10 && unicode.IsLetter(rune(s[i])))
	}
	out := make([]byte, 0, len(s))
	for i := range len(s) {
		if s[i] != '_' || !digit(i-1) || !digit(i+1) {
			out = append(out, s[i])
		}
	}
	return string(out)
}

// decimal reads a number as Python's float does, as far as the model has it.
func decimal(s string) (float64, bool) {
	s = strings.TrimSpace(s)
	if strings.ContainsAny(s, "xX") {
		return 0, false
	}
	f, err := strconv.ParseFloat(ungrouped(s, 10), 64)
	return f, err == nil && !math.IsInf(f, 0) && !math.IsNaN(f)
}

func toFloat(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case int64, float64:
		return v, nil
	case bool:
		if v {
			return int64(1), nil
		}
		return int64(0), nil
	case string:
		if f, ok := decimal(v); ok {
			return whole(f), nil
		}
	}
	return a.otherwise()
}

func toText(r *run, v any, _ args) (any, error) { return r.text(v) }

// toBool is what a guard makes of a value.
func toBool(_ *run, v any, _ args) (any, error) { return holds(v), nil }

func toList(r *run, v any, _ args) (any, error) { return r.elements(v) }

// elements are what a value is gone through as: the elements of a list, the keys of an object, the characters of a string.
func (r *run) elements(v any) ([]any, error) {
	switch v := v.(type) {
	case undefined:
		return []any{}, nil
	case []any:
		return v, r.spend(len(v))
	case map[string]any:
		if err := r.room(len(v)); err != nil {
			return nil, err
		}
		list := make([]any, 0, len(v))
		for _, k := range slices.Sorted(maps.Keys(v)) {
			list = append(list, k)
		}
		return list, nil
	case string:
		if err := r.room(len(v)); err != nil {
			return nil, err
		}
		list := make([]any, 0, len(v))
		for _, c := range v {
			list = append(list, string(c))
		}
		return list, nil
	}
	return nil, fmt.Errorf("%s cannot be gone through", describe(v))
}

// perhaps are the elements that map and select go through. What counts as false has none: null is as good as an empty list.
func (r *run) perhaps(v any) ([]any, error) {
	if !truth(v) {
		return []any{}, nil
	}
	return r.elements(v)
}

func absolute(_ *run, v any, _ args) (any, error) {
	switch v := v.(type) {
	case int64:
		if v == math.MinInt64 {
			return nil, errOverflow
		}
		return max(v, -v), nil
	case float64:
		return math.Abs(v), nil
	}
	return nil, fmt.Errorf("it needs a number, not %s", describe(v))
}

func rounded(_ *run, v any, a args) (any, error) {
	n, err := a.integer(0, "precision", 0)
	if err != nil {
		return nil, err
	}
	how, err := a.text(1, "method", "common")
	if err != nil {
		return nil, err
	}
	n = min(max(n, -400), 400)
	f, ok := float(v)
	if !ok {
		return nil, fmt.Errorf("it needs a number, not %s", describe(v))
	}
	if _, ok := v.(int64); ok && n >= 0 {
		return v, nil
	}
	scale := math.Pow(10, float64(n))
	switch how {
	case "ceil":
		return finite(math.Ceil(f*scale) / scale)
	case "floor":
		return finite(math.Floor(f*scale) / scale)
	case "common":
		return finite(nearest(f, int(n)))
	}
	return nil, fmt.Errorf("method must be common, ceil or floor, not %s", brief(how))
}

// nearest rounds to n places after the point, or to zeros before it, from what the float is worth to its last digit: 1.115 is
// a little less than that. Halves go to the even neighbour.
func nearest(f float64, n int) float64 {
	if n < 0 {
		scale := math.Pow(10, float64(-n))
		return math.RoundToEven(f/scale) * scale
	}
	f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', n, 64), 64)
	return f
}

func length(_ *run, v any, _ args) (any, error) {
	switch v := v.(type) {
	case undefined:
		return int64(0), nil
	case string:
		return int64(utf8.RuneCountInString(v)), nil
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	}
	return nil, fmt.Errorf("%s has no length", describe(v))
}

func first(r *run, v any, _ args) (any, error) {
	list, err := r.elements(v)
	if err != nil || len(list) == 0 {
		return undefined{"the first of nothing"}, err
	}
	return list[0], nil
}

func last(r *run, v any, _ args) (any, error) {
	list, err := r.elements(v)
	if err != nil || len(list) == 0 {
		return undefined{"the last of nothing"}, err
	}
	return list[len(list)-1], nil
}

func reversed(r *run, v any, _ args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	if err := r.room(len(list)); err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.Reverse(list)
	if _, ok := v.(string); ok {
		return joined(r, list, args{})
	}
	return list, nil
}

func joined(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	separator, err := a.text(0, "d", "")
	if err != nil {
		return nil, err
	}
	path, err := a.path(1)
	if err != nil {
		return nil, err
	}
	parts := make([]string, len(list))
	for i, x := range list {
		if x, err = path.of(x); err != nil {
			return nil, err
		}
		if parts[i], err = r.text(x); err != nil {
			return nil, err
		}
		if err := r.grow(len(parts[i]) + len(separator)); err != nil {
			return nil, err
		}
	}
	return strings.Join(parts, separator), nil
}

// sorted orders a list; it is stable, and strings are compared without case unless case_sensitive is given.
func sorted(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	if err := r.spend(len(list) * 8); err != nil {
		return nil, err
	}
	descending, _ := a.at(0, "reverse")
	exact, _ := a.at(1, "case_sensitive")
	path, err := a.path(2)
	if err != nil {
		return nil, err
	}
	return r.sort(list, path, truth(exact), truth(descending))
}

// sort orders a list by what is at the end of a path in each element.
func (r *run) sort(list []any, by path, exact, descending bool) (any, error) {
	rows, err := r.rows(list, by, exact)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(rows, func(a, b row) int {
		c, wrong := r.order(a.key, b.key)
		err = cmp.Or(err, wrong)
		if descending {
			return -c
		}
		return c
	})
	out := make([]any, len(rows))
	for i, row := range rows {
		out[i] = row.x
	}
	return out, err
}

// row is an element of a list, and what it is compared by.
type row struct{ key, x any }

// rows makes rows of a list. Unless it is to be exact, strings are compared without case.
func (r *run) rows(list []any, by path, exact bool) ([]row, error) {
	if err := r.room(2 * len(list)); err != nil {
		return nil, err
	}
	rows := make([]row, len(list))
	for i, x := range list {
		key, err := by.of(x)
		if err != nil {
			return nil, err
		}
		if s, ok := key.(string); ok && !exact {
			if err := r.grow(len(s)); err != nil {
				return nil, err
			}
			key = strings.ToLower(s)
		}
		rows[i] = row{key, x}
	}
	return rows, nil
}

func unique(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	exact, _ := a.at(0, "case_sensitive")
	path, err := a.path(1)
	if err != nil {
		return nil, err
	}
	rows, err := r.rows(list, path, truth(exact))
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	out := []any{}
	for _, row := range rows {
		k, w, err := r.finished(settled(row.key))
		if err == nil {
			err = r.grow(w.size + slotBytes)
		}
		if err != nil {
			return nil, err
		}
		name, err := value.Encode(k)
		if err != nil {
			return nil, err
		}
		if !seen[string(name)] {
			seen[string(name)] = true
			out = append(out, row.x)
		}
	}
	return out, nil
}

func sum(r *run, v any, a args) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	path, err := a.path(0)
	if err != nil {
		return nil, err
	}
	total, ok := a.at(1, "start")
	if !ok {
		total = int64(0)
	}
	for _, x := range list {
		if x, err = path.of(x); err != nil {
			return nil, err
		}
		if total, err = (arithmetic{"+", literal{total}, literal{x}}).eval(r); err != nil {
			return nil, err
		}
	}
	return total, nil
}

func least(r *run, v any, a args) (any, error)    { return extreme(r, v, a, -1) }
func greatest(r *run, v any, a args) (any, error) { return extreme(r, v, a, 1) }

func extreme(r *run, v any, a args, wanted int) (any, error) {
	list, err := r.elements(v)
	if err != nil {
		return nil, err
	}
	exact, _ := a.at(0, "case_sensitive")
	path, err := a.path(1)
	if err != nil || len(list) == 0 {
		return undefined{"the extreme of nothing"}, err
	}
	rows, err := r.rows(list, path, truth(exact))
	if err != nil {
		return nil, err
	}
	best := rows[0]
	for _, row := range rows[1:] {
		c, err := r.order(row.key, best.key)
		if err != nil {
			return nil, err
		}
		if c == wanted {
			best = row
		}
	}
	return best.x, nil
}

// mapped takes a field of every element, or applies a filter to it.
func mapped(r *run, v any, a args) (any, error) {
	list, err := r.perhaps(v)
	if err != nil {
		return nil, err
	}
	if err := r.room(len(list)); err != nil {
		return nil, err
	}
	apply, err := r.perElement(a)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(list))
	for i, x := range list {
		if out[i], err = apply(x); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// perElement is what map does with each element.
func (r *run) perElement(a args) (func(x any) (any, error), error) {
	if len(a.list) == 0 {
		c := takes(1, nil, "attribute", "default")
		if wrong := c.misfit(0, a.names); wrong != "" {
			return nil, errors.New("it " + wrong)
		}
		path, err := a.path(0)
		other, _ := a.at(1, "default")
		return func(x any) (any, error) { return path.or(x, other) }, err
	}
	name, a, err := a.applies("filter", filters, filterNames)
	return func(x any) (any, error) { return r.filter(name, x, a) }, err
}

// choose keeps the elements for which a test gives wanted; without a test, their truth. byField tests a field of them.
func choose(wanted, byField bool) call {
	return func(r *run, v any, a args) (any, error) {
		list, err := r.perhaps(v)
		if err != nil {
			return nil, err
		}
		if err := r.room(len(list)); err != nil {
			return nil, err
		}
		var by path
		if byField {
			if len(a.list) == 0 {
				return nil, errors.New("it needs the name of a field")
			}
			if by, err = a.path(0); err != nil {
				return nil, err
			}
			a = a.rest(1)
		}
		test, err := r.judge(a)
		if err != nil {
			return nil, err
		}
		out := []any{}
		for _, x := range list {
			y, err := by.of(x)
			if err != nil {
				return nil, err
			}
			yes, err := test(y)
			if err != nil {
				return nil, err
			}
			if truth(yes) == wanted {
				out = append(out, x)
			}
		}
		return out, nil
	}
}

// judge is what select does with each element.
func (r *run) judge(a args) (func(x any) (any, error), error) {
	if len(a.list)+len(a.names) == 0 {
		return func(x any) (any, error) { return truth(x), nil }, nil
	}
	name, a, err := a.applies("test", tests, testNames)
	return func(x any) (any, error) { return r.test(name, x, a) }, err
}

// items are the keys and values of an object, in the order of the keys.
func items(r *run, v any, _ args) (any, error) {
	m, ok := v.(map[string]any)
	if _, missing := v.(undefined); !ok && !missing {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	if err := r.room(3 * len(m)); err != nil {
		return nil, err
	}
	list := make([]any, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		list = append(list, []any{k, m[k]})
	}
	return list, nil
}

// dictsort are the items of an object in another order.
func dictsort(r *run, v any, a args) (any, error) {
	pairs, err := items(r, v, args{})
	if err != nil {
		return nil, err
	}
	exact, _ := a.at(0, "case_sensitive")
	descending, _ := a.at(2, "reverse")
	by, err := a.text(1, "by", "key")
	if err != nil {
		return nil, err
	}
	at := slices.Index([]string{"key", "value"}, by)
	if at < 0 {
		return nil, fmt.Errorf("by must be key or value, not %s", brief(by))
	}
	return r.sort(pairs.([]any), path{int64(at)}, truth(exact), truth(descending))
}

func keys(r *run, v any, _ args) (any, error) {
	if _, ok := v.(map[string]any); !ok {
		return nil, fmt.Errorf("it needs an object, not %s", describe(v))
	}
	return r.elements(v)
}

func values(r *run, v any, _ args) (any, error) {
	pairs, err := items(r, v, args{})
	if err != nil {
		return nil, err
	}
	list := pairs.([]any)
	out := make([]any, len(list))
	for i, pair := range list {
		out[i] = pair.([]any)[1]
	}
	return out, nil
}

func toJSON(r *run, v any, _ args) (any, error) {
	v, w, err := r.finished(settled(v))
	if err == nil {
		err = r.grow(w.size)
	}
	if err != nil {
		return nil, err
	}
	text, err := value.JSON(v)
	return string(text), err
}

func fromJSON(r *run, v any, _ args) (any, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("it needs a string, not %s", describe(v))
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
		return nil, err
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), r.grow(len(data))
}
