package jinja

import (
	"fmt"
	"maps"
	"slices"
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

// toBool is what a guard makes of a value.
func toBool(_ *run, v any, _ args) (any, error) { return holds(v), nil }
