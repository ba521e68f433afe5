package jinja

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// Values within an expression have the kinds of Python: those of package value, except that a whole float stays a float, and
// those below. The result of an expression is of package value again.
type (
	// undefined is a missing value; it holds its description.
	undefined struct{ what string }

	// tuple is (1, 2). It is converted to a list in results.
	tuple []any

	// group is an element of the result of groupby: a tuple whose two elements have names.
	group struct {
		grouper any
		list    []any
	}

	// dict is an object with keys that are not all strings, by their hash. Its keys are converted to strings in results.
	dict map[any]entry

	// entry is a key of an object with its value.
	entry struct{ key, value any }
)

// sequence returns the elements of a list or a tuple.
func sequence(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case tuple:
		return v, true
	case group:
		return []any{v.grouper, v.list}, true
	}
	return nil, false
}

// mapping is an object with keys of any kind.
type mapping struct {
	texts map[string]any
	other dict
}

func mappingOf(v any) (mapping, bool) {
	switch v := v.(type) {
	case map[string]any:
		return mapping{texts: v}, true
	case dict:
		return mapping{other: v}, true
	}
	return mapping{}, false
}

func (m mapping) size() int { return len(m.texts) + len(m.other) }

// at returns the value of the key with a hash.
func (m mapping) at(hash any) (any, bool) {
	if m.other != nil {
		e, ok := m.other[hash]
		return e.value, ok
	}
	key, ok := hash.(string)
	if !ok {
		return nil, false
	}
	v, ok := m.texts[key]
	return v, ok
}

// entries returns the entries, in the order of the keys: null, numbers, strings, tuples.
func (m mapping) entries() []entry {
	list := make([]entry, 0, m.size())
	for _, k := range slices.Sorted(maps.Keys(m.texts)) {
		list = append(list, entry{k, m.texts[k]})
	}
	for _, hash := range slices.SortedFunc(maps.Keys(m.other), byHash) {
		list = append(list, m.other[hash])
	}
	return list
}

// pairs pays for the entries of an object and returns them.
func (r *run) pairs(m mapping) ([]entry, error) {
	if err := r.room(3 * m.size()); err != nil {
		return nil, err
	}
	return m.entries(), nil
}

// The hash of a key is the key itself if that is a string or a float with a fraction, an integer for all keys equal to it,
// and one of these for the others.
type (
	noHash    struct{ undefined bool } // null or undefined
	tupleHash string
)

// hash returns the same for equal keys.
func (r *run) hash(v any) (any, error) {
	switch t := v.(type) {
	case nil:
		return noHash{}, nil
	case undefined:
		return noHash{undefined: true}, nil
	case string:
		return t, r.scan(len(t))
	case tuple, group:
		w, err := r.weigh(v)
		if err == nil {
			err = r.grow(w.size)
		}
		if err != nil {
			return nil, err
		}
		return hashOfTuple(v)
	}
	return hashOf(v)
}

func hashOf(v any) (any, error) {
	if n, ok := numberOf(v); ok {
		switch {
		case !n.isFloat:
			return n.i, nil
		case math.IsNaN(n.f):
			return tupleHash("nan"), nil // NaN as a key of a Go map would never be found
		}
		return whole(n.f), nil
	}
	switch v.(type) {
	case nil:
		return noHash{}, nil
	case undefined:
		return noHash{undefined: true}, nil
	case string:
		return v, nil
	case tuple, group:
		return hashOfTuple(v)
	}
	return nil, fmt.Errorf("%s cannot be a key, or one of a set", describe(v))
}

func hashOfTuple(v any) (any, error) {
	list, _ := sequence(v)
	var b strings.Builder
	for _, x := range list {
		h, err := hashOf(x)
		if err != nil {
			return nil, err
		}
		text := fmt.Sprint(h)
		fmt.Fprintf(&b, "%d:%d:%s", rankOf(h), len(text), text)
	}
	return tupleHash(b.String()), nil
}

// rankOf returns the rank of the kind of a hash.
func rankOf(hash any) int {
	switch hash.(type) {
	case noHash:
		return 0
	case int64, float64:
		return 1
	case string:
		return 2
	}
	return 3
}

func byHash(a, b any) int {
	if c := cmp.Compare(rankOf(a), rankOf(b)); c != 0 {
		return c
	}
	switch a := a.(type) {
	case string:
		return strings.Compare(a, b.(string))
	case tupleHash:
		return strings.Compare(string(a), string(b.(tupleHash)))
	case int64, float64:
		x, _ := numberOf(a)
		y, _ := numberOf(b)
		return x.compare(y)
	}
	return 0
}

// object makes an object of entries. Of equal keys the last counts.
func (r *run) object(list []entry) (any, error) {
	if err := r.room(4 * len(list)); err != nil {
		return nil, err
	}
	out := make(map[string]any, len(list))
	for i, e := range list {
		key, ok := e.key.(string)
		if !ok {
			return r.dict(list[i:], out)
		}
		out[key] = e.value
	}
	return out, nil
}

// dict is object for entries with a key that is not a string, after those in texts.
func (r *run) dict(list []entry, texts map[string]any) (any, error) {
	out := make(dict, len(texts)+len(list))
	for k, v := range texts {
		out[k] = entry{k, v}
	}
	for _, e := range list {
		h, err := r.hash(e.key)
		if err != nil {
			return nil, err
		}
		if old, ok := out[h]; ok {
			e.key = old.key // as in Python, the first key stays
		}
		out[h] = e
	}
	return out, nil
}

// truth returns the truth of a value in a condition, as in Python.
func truth(v any) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case string:
		return v != ""
	}
	if n, ok := numberOf(v); ok {
		return n.i != 0 || n.f != 0
	}
	if m, ok := mappingOf(v); ok {
		return m.size() > 0
	}
	list, ok := sequence(v)
	return !ok || len(list) > 0
}

// describe describes a value in a message, with its article.
func describe(v any) string {
	switch v := v.(type) {
	case undefined:
		return v.what + ", which is undefined"
	case tuple, group:
		list, _ := sequence(v)
		return "a tuple of " + strconv.Itoa(len(list))
	case dict:
		return "an object"
	}
	return value.Describe(v)
}
