package jinja

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Methods by name, for each kind of values. methodsOf has those of all kinds.
var (
	listMethods = map[string]callable{
		"count": placed(1, countOf, "value"), "index": placed(1, indexOf, "value", "start", "stop"), "copy": plain(toList),
	}
	tupleMethods = map[string]callable{"count": listMethods["count"], "index": listMethods["index"]}
	mapMethods   = map[string]callable{
		"get": placed(1, get, "key", "default"), "items": plain(items), "keys": plain(keys), "values": plain(values),
		"copy": plain(itself), "fromkeys": placed(1, fromKeys, "iterable", "value"),
	}
	integerMethods = map[string]callable{
		"bit_length": plain(bitLength), "bit_count": plain(bitCount), "conjugate": plain(itself), "as_integer_ratio": plain(ratio),
	}
	floatMethods = map[string]callable{
		"is_integer": plain(isWhole), "hex": plain(hexadecimal), "conjugate": plain(itself), "as_integer_ratio": plain(ratio),
	}

	methodsOf   = map[string][]callable{}
	methodNames []string
)

func init() {
	for _, kind := range []map[string]callable{textMethods, listMethods, tupleMethods, mapMethods, integerMethods, floatMethods} {
		for name, c := range kind {
			methodsOf[name] = append(methodsOf[name], c)
		}
	}
	methodNames = slices.Sorted(maps.Keys(methodsOf))
}

// changing are the methods that change their object, and their alternatives.
var changing = map[string]string{
	"append": "x + [y]", "extend": "x + y", "insert": "x[:i] + [y] + x[i:]", "remove": "x | reject('eq', y)", "reverse": "x | reverse",
	"sort": "x | sort", "pop": "x | last, and x[:-1]", "clear": "an empty list or object", "update": "dict(x, **y)",
	"setdefault": "x.get(key, y)", "popitem": "x | items | last",
}

// methodFor returns a method of a value.
func methodFor(v any, name string) (callable, error) {
	var known map[string]callable
	switch v := v.(type) {
	case undefined:
		return callable{}, fmt.Errorf("%s is undefined: it has no method %s", v.what, name)
	case string:
		known = textMethods
	case []any:
		known = listMethods
	case tuple, group:
		known = tupleMethods
	case map[string]any, dict:
		known = mapMethods
	case int64, bool:
		known = integerMethods
	case float64:
		known = floatMethods
	}
	c, ok := known[name]
	if !ok {
		return c, fmt.Errorf("%s has no method %s", describe(v), name)
	}
	return c, nil
}

func itself(_ *run, v any, _ args) (any, error) {
	if b, ok := v.(bool); ok {
		n, _ := numberOf(b)
		return n.i, nil
	}
	return v, nil
}

func countOf(r *run, v any, a args) (any, error) {
	list, _ := sequence(v)
	n := int64(0)
	for _, x := range list {
		yes, err := r.equal(a.list[0], x)
		if err != nil {
			return nil, err
		}
		if yes {
			n++
		}
	}
	return n, r.spend(len(list))
}

func indexOf(r *run, v any, a args) (any, error) {
	list, _ := sequence(v)
	from, to, err := a.within(1, len(list))
	if err != nil {
		return nil, err
	}
	for i := from; i < to; i++ {
		if err := r.spend(1); err != nil {
			return nil, err
		}
		yes, err := r.equal(a.list[0], list[i])
		if err != nil {
			return nil, err
		}
		if yes {
			return int64(i), nil
		}
	}
	return nil, fmt.Errorf("%s is not in the list", brief(a.list[0]))
}

// within returns the arguments start and stop, from the i-th on, as bounds within a size.
func (a args) within(i, size int) (from, to int, err error) {
	bounds := [2]int64{0, int64(size)}
	for j, name := range []string{"start", "stop"} {
		v, ok := a.given(i+j, name)
		if !ok {
			continue
		}
		n, ok := integerOf(v)
		if !ok {
			return 0, 0, fmt.Errorf("%s must be a whole number, not %s", name, describe(v))
		}
		if n < 0 {
			n = max(n+int64(size), 0)
		}
		bounds[j] = n
	}
	return int(min(bounds[0], math.MaxInt32)), int(min(bounds[1], int64(size))), nil
}

func get(r *run, v any, a args) (any, error) {
	m, _ := mappingOf(v)
	key, _ := a.at(0, "key")
	h, err := r.hash(key)
	if err != nil {
		return nil, err
	}
	if x, ok := m.at(h); ok {
		return x, nil
	}
	other, _ := a.at(1, "default")
	return other, nil
}

func fromKeys(r *run, _ any, a args) (any, error) {
	list, err := r.elements(a.list[0])
	if err != nil {
		return nil, err
	}
	if err := r.room(2 * len(list)); err != nil {
		return nil, err
	}
	other, _ := a.at(1, "value")
	entries := make([]entry, len(list))
	for i, k := range list {
		entries[i] = entry{k, other}
	}
	return r.object(entries)
}

func bitLength(_ *run, v any, _ args) (any, error) {
	i, _ := integerOf(v)
	return int64(bits.Len64(magnitude(i))), nil
}

func bitCount(_ *run, v any, _ args) (any, error) {
	i, _ := integerOf(v)
	return int64(bits.OnesCount64(magnitude(i))), nil
}

// magnitude returns a number without its sign, also for the least number.
func magnitude(i int64) uint64 {
	if i < 0 {
		return -uint64(i)
	}
	return uint64(i)
}

func isWhole(_ *run, v any, _ args) (any, error) {
	f := v.(float64)
	return f == math.Trunc(f) && !math.IsInf(f, 0), nil
}

func ratio(_ *run, v any, _ args) (any, error) {
	n, _ := numberOf(v)
	if !n.isFloat {
		return tuple{n.i, int64(1)}, nil
	}
	exact := new(big.Rat).SetFloat64(n.f)
	if exact == nil || !exact.Num().IsInt64() || !exact.Denom().IsInt64() {
		return nil, errOverflow
	}
	return tuple{exact.Num().Int64(), exact.Denom().Int64()}, nil
}

// hexadecimal returns a float as 0x1.8000000000000p+0.
func hexadecimal(_ *run, v any, _ args) (any, error) {
	f := v.(float64)
	switch {
	case math.IsInf(f, 0) || math.IsNaN(f):
		return floatText(f), nil
	case f == 0:
		return strings.TrimSuffix(floatText(f), "0.0") + "0x0.0p+0", nil
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'x', 13, 64), "p")
	n, _ := strconv.Atoi(exponent)
	return fmt.Sprintf("%sp%+d", digits, n), nil
}
