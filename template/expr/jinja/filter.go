package jinja

import (
	"fmt"
	"maps"
	"slices"
)

// filters by name. They are filled in at initialization, because some apply others.
var (
	filters     map[string]callable
	filterNames []string
)

func init() {
	filters = map[string]callable{
		"default": takes(0, orDefault, "default_value", "boolean"), "d": takes(0, orDefault, "default_value", "boolean"),
		"string": plain(toText), "safe": plain(toText), "attr": takes(1, attr, "name"), "bool": plain(toBool),

		"abs": plain(absolute), "int": takes(0, toInt, "default", "base"), "float": takes(0, toFloat, "default"),
		"round": takes(0, rounded, "precision", "method"), "filesizeformat": takes(0, fileSize, "binary"),

		"list": plain(toList), "length": plain(length), "count": plain(length), "first": plain(first), "last": plain(last),
		"reverse": plain(reversed), "join": takes(0, joined, "d", "attribute"), "sum": takes(0, sum, "attribute", "start"),
		"sort": takes(0, sorted, "reverse", "case_sensitive", "attribute"), "unique": takes(0, unique, "case_sensitive", "attribute"),
		"min": takes(0, least, "case_sensitive", "attribute"), "max": takes(0, greatest, "case_sensitive", "attribute"),
		"batch": takes(1, batch, "linecount", "fill_with"), "slice": takes(1, columns, "slices", "fill_with"),
		"groupby": takes(1, groupBy, "attribute", "default", "case_sensitive"),
		"map":     free(mapped), "select": free(choose(true, false)), "reject": free(choose(false, false)),
		"selectattr": free(choose(true, true)), "rejectattr": free(choose(false, true)),

		"items": plain(itemsFilter), "dictsort": takes(0, dictsort, "case_sensitive", "by", "reverse"), "keys": plain(keys), "values": plain(values),

		"lower": ofText("lower"), "upper": ofText("upper"), "capitalize": ofText("capitalize"), "trim": ofText("strip"), "split": ofText("split"),
		"title": plain(titled), "replace": takes(2, replaced, "old", "new", "count"), "center": takes(0, centered, "width"),
		"indent": takes(0, indent, "width", "first", "blank"), "wordcount": plain(wordCount),
		"truncate": takes(0, truncate, "length", "killwords", "end", "leeway"),
		"wordwrap": takes(0, wordWrap, "width", "break_long_words", "wrapstring", "break_on_hyphens"),
		"format":   free(formatted), "pprint": plain(pretty),

		"e": plain(escape), "escape": plain(escape), "forceescape": plain(escape), "striptags": plain(stripTags),
		"xmlattr": takes(0, xmlAttributes, "autospace"), "urlencode": plain(urlencode),
		"urlize": takes(0, urlize, "trim_url_limit", "nofollow", "target", "rel", "extra_schemes"),
		"tojson": takes(0, toJSON, "indent"), "to_json": takes(0, toJSON, "indent"), "fromjson": plain(fromJSON), "from_json": plain(fromJSON),
		"b64encode": plain(encode64), "b64decode": plain(decode64),
	}
	filterNames = slices.Sorted(maps.Keys(filters))
}

// ofText makes a filter of a method of strings; other values are converted to a string.
func ofText(method string) callable {
	m := textMethods[method]
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
	if _, missing := v.(undefined); missing || a.flag(1, "boolean") && !truth(v) {
		return other, nil
	}
	return v, nil
}

func toText(r *run, v any, _ args) (any, error) { return r.text(v) }

// toBool returns the truth of a text by the rule for a text around expressions in a guard, and of any other value by the
// rule of conditions.
func toBool(_ *run, v any, _ args) (any, error) {
	if s, ok := v.(string); ok {
		return affirms(s), nil
	}
	return truth(v), nil
}

// attr returns a field that the value has because of its kind, not a key of an object.
func attr(_ *run, v any, a args) (any, error) {
	if err := defined(v); err != nil {
		return nil, err
	}
	name, err := a.must(0, "name")
	if err != nil {
		return nil, err
	}
	if x, ok := fieldOf(v, name); ok {
		return x, nil
	}
	return undefined{brief(name)}, nil
}

func defined(v any) error {
	if u, ok := v.(undefined); ok {
		return fmt.Errorf("%s is undefined", u.what)
	}
	return nil
}
