package expr

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/template/value"
)

var listFunctions = map[string]function{
	"len":       {1, 1, length},
	"type":      {1, 1, typeName},
	"get":       {2, 2, get},
	"first":     {1, 1, func(a *arguments) (value.Value, error) { return a.end(func(n int) int { return 0 }) }},
	"last":      {1, 1, func(a *arguments) (value.Value, error) { return a.end(func(n int) int { return n - 1 }) }},
	"take":      {2, 2, take},
	"reverse":   {1, 1, reverse},
	"sort":      {1, 2, sortList},
	"uniq":      {1, 1, uniq},
	"concat":    {1, -1, concat},
	"flatten":   {1, 1, flatten},
	"keys":      {1, 1, keys},
	"values":    {1, 1, values},
	"toPairs":   {1, 1, toPairs},
	"fromPairs": {1, 1, fromPairs},
}

// length counts elements, members or code points.
func length(a *arguments) (value.Value, error) {
	switch v := a.values[0].(type) {
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	case string:
		return int64(utf8.RuneCountInString(v)), a.scan(len(v))
	}
	return nil, a.wrong(0, "a list, an object or a string")
}

// typeName returns the names of expr-lang.
func typeName(a *arguments) (value.Value, error) {
	names := map[string]string{"null": "nil", "boolean": "bool", "integer": "int", "number": "float", "string": "string", "list": "array", "object": "map"}
	return names[value.Kind(a.values[0])], nil
}

// get returns a[b], or null if that does not exist.
func get(a *arguments) (value.Value, error) {
	v, err := element(a.run, a.values[0], a.values[1])
	if err != nil && !errors.Is(err, ErrLimit) {
		return nil, nil
	}
	return v, err
}

// end returns an element of a list, null if the list is empty.
func (a *arguments) end(at func(n int) int) (value.Value, error) {
	list, ok := a.values[0].([]any)
	switch {
	case !ok:
		return nil, a.wrong(0, "a list")
	case len(list) == 0:
		return nil, nil
	}
	return list[at(len(list))], nil
}

// take returns the first n elements, all if there are fewer. The result shares the list, with no room to append into it.
func take(a *arguments) (value.Value, error) {
	list, ok := a.values[0].([]any)
	if !ok {
		return nil, a.wrong(0, "a list")
	}
	n, err := a.count(1)
	if err != nil {
		return nil, err
	}
	n = min(n, int64(len(list)))
	return list[:n:n], nil
}

// reverse returns a new list.
func reverse(a *arguments) (value.Value, error) {
	list, err := a.list(0)
	if err != nil {
		return nil, err
	}
	out, err := a.newList(len(list))
	if err != nil {
		return nil, err
	}
	for i := range list {
		out = append(out, list[len(list)-1-i])
	}
	return out, nil
}

// sortList sorts numbers or strings; mixed lists have no natural order.
func sortList(a *arguments) (value.Value, error) {
	list, err := a.list(0)
	if err != nil {
		return nil, err
	}
	descending := false
	if len(a.values) == 2 {
		if descending, err = isDescending(a.values[1]); err != nil {
			return nil, err
		}
	}
	return sorted(a.run, list, list, descending)
}

// uniq keeps the first of equal elements.
func uniq(a *arguments) (value.Value, error) {
	list, err := a.list(0)
	if err != nil {
		return nil, err
	}
	out, err := a.newList(len(list))
	if err != nil {
		return nil, err
	}
	seen := make(map[string]bool)
	for _, item := range list {
		if _, err := a.weigh(item); err != nil {
			return nil, err
		}
		form, err := value.JSON(item) // equal values, and no others, have the same
		if err != nil {
			return nil, err
		}
		if err := a.grow(memberBytes + len(form)); err != nil {
			return nil, err
		}
		if !seen[string(form)] {
			seen[string(form)] = true
			out = append(out, item)
		}
	}
	return out, nil
}

// concat joins lists. Their sizes are added up first, so that the result is paid for before it is made.
func concat(a *arguments) (value.Value, error) {
	size := 0
	for i := range a.values {
		list, err := a.list(i)
		if err != nil {
			return nil, err
		}
		size += len(list)
	}
	out, err := a.newList(size)
	if err != nil {
		return nil, err
	}
	for _, v := range a.values {
		out = append(out, v.([]any)...)
	}
	return out, nil
}

// flatten replaces lists inside the list by their elements, all the way down.
func flatten(a *arguments) (value.Value, error) {
	list, err := a.list(0)
	if err == nil {
		_, err = a.weigh(list)
	}
	if err != nil {
		return nil, err
	}
	out := []any{}
	var into func(list []any)
	into = func(list []any) {
		for _, item := range list {
			if inner, ok := item.([]any); ok {
				into(inner)
			} else {
				out = append(out, item)
			}
		}
	}
	into(list)
	return out, a.grow(len(out) * slotBytes)
}

// keys are sorted, because the order of a Go map must not be visible.
func keys(a *arguments) (value.Value, error) {
	_, names, err := a.object(0)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out, nil
}

// values are in the order of their keys.
func values(a *arguments) (value.Value, error) {
	object, names, err := a.object(0)
	if err != nil {
		return nil, err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = object[name]
	}
	return out, nil
}

// toPairs returns [key, value] lists, in the order of the keys.
func toPairs(a *arguments) (value.Value, error) {
	object, names, err := a.object(0)
	if err == nil {
		err = a.grow(len(names) * 3 * slotBytes)
	}
	if err != nil {
		return nil, err
	}
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = []any{name, object[name]}
	}
	return out, nil
}

// fromPairs inverts toPairs; of a duplicate key the last value counts.
func fromPairs(a *arguments) (value.Value, error) {
	list, err := a.list(0)
	if err == nil {
		err = a.growTimes(int64(len(list)), memberBytes)
	}
	if err != nil {
		return nil, err
	}
	object := make(map[string]any, len(list))
	for i, item := range list {
		pair, ok := item.([]any)
		if !ok || len(pair) != 2 {
			return nil, fmt.Errorf("fromPairs needs a list of [key, value], but element %d is %s", i, show(item))
		}
		key, ok := pair[0].(string)
		if !ok {
			return nil, fmt.Errorf("a key must be a string, not %s", show(pair[0]))
		}
		if err := a.scan(len(key)); err != nil {
			return nil, err
		}
		object[key] = pair[1]
	}
	return object, nil
}
