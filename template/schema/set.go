package schema

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sluiceflow/sluice/template/value"
)

// sortSet returns the elements of a set, which are in normal form, in the order of their encodings and each once. It returns
// list itself if it is in that order.
func sortSet(elem *Type, list []any) ([]any, bool, *Fault) {
	if len(list) < 2 {
		return list, false, nil
	}
	if hasSimpleOrder(elem) {
		return sortSimple(list)
	}
	type element struct {
		encoding []byte
		value    value.Value
	}
	elements := make([]element, len(list))
	for i, v := range list {
		encoding, err := value.Encode(v)
		if err != nil {
			return nil, false, fault("%v", err)
		}
		elements[i] = element{encoding, v}
	}
	byEncoding := func(a, b element) int { return bytes.Compare(a.encoding, b.encoding) }
	if isAscending(elements, byEncoding) {
		return list, false, nil
	}
	slices.SortFunc(elements, byEncoding)
	out := make([]any, 0, len(list))
	for i, e := range elements {
		if i == 0 || !bytes.Equal(e.encoding, elements[i-1].encoding) {
			out = append(out, e.value)
		}
	}
	return out, true, nil
}

func sortSimple(list []any) ([]any, bool, *Fault) {
	if isAscending(list, compareSimple) {
		return list, false, nil
	}
	out := slices.Clone(list)
	slices.SortFunc(out, compareSimple)
	return slices.CompactFunc(out, func(a, b any) bool { return compareSimple(a, b) == 0 }), true, nil
}

// isAscending reports whether each element is less than the next one.
func isAscending[E any](list []E, compare func(a, b E) int) bool {
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) >= 0 {
			return false
		}
	}
	return true
}

// hasSimpleOrder reports whether compareSimple orders the values of a type.
func hasSimpleOrder(t *Type) bool {
	for t.Kind == Option {
		t = t.Elem
	}
	return t.Kind.isPlain()
}

// compareSimple orders null, booleans, integers and texts by their encodings, without making these.
func compareSimple(a, b any) int {
	if by := cmp.Compare(major(a), major(b)); by != 0 {
		return by
	}
	switch a := a.(type) {
	case int64:
		if a < 0 {
			return cmp.Compare(b.(int64), a) // the encoding counts from -1 downwards
		}
		return cmp.Compare(a, b.(int64))
	case string: // its length comes first
		return cmp.Or(cmp.Compare(len(a), len(b.(string))), cmp.Compare(a, b.(string)))
	}
	return 0
}

// major orders the kinds of values by the first byte of their encodings.
func major(v any) int {
	switch v := v.(type) {
	case int64:
		if v >= 0 {
			return 0
		}
		return 1
	case string:
		return 2
	case bool:
		if !v {
			return 3
		}
		return 4
	}
	return 5 // null
}
