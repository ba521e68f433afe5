package jinja_test

import "testing"

func TestFiltersOfAnyValue(t *testing.T) {
	check(t, []given{
		{"{{ nobody | default(1) }}", 1}, {"{{ ctx.n | default(0) | int + 1 }}", 3}, {"{{ '' | default('x') }}", ""}, {"{{ '' | d('x', true) }}", "x"}, {"{{ none | d(1) }}", nil},
		{"{{ [nobody, 1] | first | default(5) }}", 5}, {"{{ {'x': nobody}.x is defined }}", false}, {"{{ dict(x=nobody).x | d(5) }}", 5},
		{"{{ yes | string | lower == 'true' }}", true}, {"{{ [1.0] | string }}", "[1.0]"}, {"{{ nobody | string }}", ""}, {"{{ 5 | safe }}", "5"},
		{"{{ 'YES' | bool }}", true}, {"{{ ' 1 ' | bool }}", true}, {"{{ 'abc' | bool }}", false}, {"{{ [0] | bool }}", true},
		{"{{ 3 | attr('real') }}", 3}, {"{{ ctx | attr('n') }}", nil}, {"{{ (rows | groupby('sku') | first) | attr('grouper') }}", "bolt"},
		{"{{ rows | pprint }}", "[{'qty': 4, 'sku': 'nut'}, {'qty': 9, 'sku': 'bolt'}]"}, {"{{ 'a' | pprint }}", "'a'"},
		{"{{ {'key': ['x' * 30, 'y' * 30], 'other': (1,)} | pprint }}",
			"{'key': ['xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', 'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy'],\n 'other': (1,)}"},
		{"{{ ['word ' * 20] | pprint }}", "['word word word word word word word word word word word word word word word '\n 'word word word word word ']"},
	})
	refused(t, map[string]string{"{{ nobody | attr('x') }}": "filter attr: nobody is undefined", "{{ 1 | attr(2) }}": "name must be a string"})
	uncompiled(t, map[string]string{
		"{{ a | lowr }}":   `unknown filter "lowr" (did you mean "lower"?)`,
		"{{ a | random }}": "filter random is left out: a run must come to the same when it is read again",
	})
}

func TestFiltersOfNumbers(t *testing.T) {
	check(t, []given{
		{"{{ '12' | int }}", 12}, {"{{ ' 1.9 ' | int }}", 1}, {"{{ 'x' | int(7) }}", 7}, {"{{ yes | int }}", 1}, {"{{ null | int }}", 0}, {"{{ [1] | int(4) }}", 4}, {"{{ -1.9 | int }}", -1},
		{"{{ '12_000' | int }}", 12000}, {"{{ '1__0' | int(-1) }}", -1}, {"{{ 'ff' | int(0, 16) }}", 255}, {"{{ '-0x1f' | int(base=16) }}", -31}, {"{{ '1' | int(base=1) }}", 1}, {"{{ '٣' | int }}", 3},
		{"{{ '0b_11' | int(base=2) }}", 3}, {"{{ '0x1f' | int }}", 0}, {"{{ '0x1f' | int(0, 0) }}", 31}, {"{{ '017' | int(-1, 0) }}", 17}, {"{{ 'inf' | int(3) }}", 3}, {"{{ '1e3' | int }}", 1000},
		{"{{ '1.5' | float }}", 1.5}, {"{{ '1_0.5' | float }}", 10.5}, {"{{ '1_e5' | float }}", 0}, {"{{ '1_._5' | float }}", 0}, {"{{ '0x1p4' | float }}", 0}, {"{{ null | float(7) }}", 7}, {"{{ 'x' | float | string }}", "0.0"},
		{"{{ -3 | abs }}", 3}, {"{{ yes | abs }}", 1}, {"{{ -1.5 | abs }}", 1.5},
		{"{{ 2.5 | round }}", 2}, {"{{ -2.5 | round }}", -2}, {"{{ 2.456 | round(2) }}", 2.46}, {"{{ 2.1 | round(0, 'ceil') }}", 3}, {"{{ 1.115 | round(2) }}", 1.11}, {"{{ 2.675 | round(2) }}", 2.67},
		{"{{ 1350 | round(-2) }}", 1400}, {"{{ 1250.0 | round(-2) }}", 1200}, {"{{ 25 | round(-1) }}", 20}, {"{{ -15 | round(-1) }}", -20}, {"{{ 9007199254740993 | round }}", 9007199254740993}, {"{{ 1e300 | round(10) }}", 1e300},
		{"{{ 1234 | round(-2, 'ceil') }}", 1300}, {"{{ 0.1 | round(1000) }}", 0.1}, {"{{ 2.5 | round(none) }}", 2}, {"{{ huge | round(none) == huge }}", true}, {"{{ '0_17' | int(-1, 0) }}", 17}, {"{{ yes | round }}", 1}, {"{{ 5 | round(-400) }}", 0},
		{"{{ 1 | filesizeformat }}", "1 Byte"}, {"{{ 1500 | filesizeformat }}", "1.5 kB"}, {"{{ '2048' | filesizeformat(true) }}", "2.0 KiB"}, {"{{ 1e30 | filesizeformat }}", "1000000.0 YB"},
	})
	refused(t, map[string]string{
		"{{ nobody | int }}":                "filter int: nobody is undefined",
		"{{ 1e30 | int }}":                  "too large a number",
		"{{ '9223372036854775808' | int }}": "too large a number",
		"{{ '1e30' | int(1) }}":             "too large a number",
		"{{ 'inf' | float }}":               "too large a number",
		"{{ 2.5 | round('1') }}":            "precision must be a whole number, not a string",
		"{{ 2.5 | round(1, 'up') }}":        "method must be common, ceil or floor",
		"{{ '2.5' | round }}":               "it needs a number, not a string",
		"{{ huge | round(-19) }}":           "too large a number",
		"{{ '3' | abs }}":                   "it needs a number, not a string",
		"{{ [] | filesizeformat }}":         "it needs a number, not a list",
	})
}

func TestFiltersOfLists(t *testing.T) {
	check(t, []given{
		{"{{ 'ab' | list }}", list("a", "b")}, {"{{ ctx | list }}", list("deep", "n", "text")}, {"{{ (1, 2) | list == [1, 2] }}", true}, {"{{ nobody | list }}", list()},
		{"{{ s | length }}", 6}, {"{{ rows | count }}", 2}, {"{{ nobody | length }}", 0}, {"{{ 'é' | length }}", 1}, {"{{ list | first }}", 3}, {"{{ [] | first }}", nil}, {"{{ list | last }}", 2}, {"{{ 'ab' | last }}", "b"},
		{"{{ 'abc' | reverse }}", "cba"}, {"{{ list | reverse }}", list(2, 1, 3)}, {"{{ rows | join(',', attribute='qty') }}", "4,9"}, {"{{ [1, null, nobody] | join('-') }}", "1-None-"}, {"{{ 'abc' | join(1) }}", "a1b1c"},
		{"{{ rows | sum('qty') }}", 13}, {"{{ list | sum }}", 6}, {"{{ [[1], [2]] | sum(start=[]) }}", list(1, 2)}, {"{{ [true, 0.5] | sum }}", 1.5}, {"{{ [{'0': 1}] | sum('0') }}", 1},
		{"{{ list | batch(2) }}", list([]any{3, 1}, []any{2})}, {"{{ list | batch(2, 'x') }}", list([]any{3, 1}, []any{2, "x"})}, {"{{ list | batch(0) }}", list([]any{}, []any{3, 1, 2})}, {"{{ [] | batch(3) }}", list()},
		{"{{ list | slice(2) }}", list([]any{3, 1}, []any{2})}, {"{{ list | slice(2, 0) }}", list([]any{3, 1}, []any{2, 0})}, {"{{ list | slice(5) }}", list([]any{3}, []any{1}, []any{2}, []any{}, []any{})},
		{"{{ ['a', 'A', 'b'] | unique }}", list("a", "b")}, {"{{ ['a', 'A'] | unique(true) }}", list("a", "A")}, {"{{ [1, true, 1.0, (1,), (true,), none, nobody, none] | unique | length }}", 4},
		{"{{ rows | unique(attribute='qty') | length }}", 2}, {"{{ list | min }}", 1}, {"{{ list | max }}", 3}, {"{{ (rows | max(attribute='qty')).sku }}", "bolt"}, {"{{ [] | min }}", nil},
		{"{{ ['b', 'A', 'a'] | min }}", "A"}, {"{{ ['a', 'B'] | max }}", "B"}, {"{{ ['a', 'B'] | max(case_sensitive=true) }}", "a"}, {"{{ [[2], [1, 5]] | min }}", list(1, 5)},
	})
	refused(t, map[string]string{
		"{{ n | join }}":                  "an integer cannot be gone through",
		"{{ n | length }}":                "an integer has no length",
		"{{ none | list }}":               "null cannot be gone through",
		"{{ ['a'] | sum(start='') }}":     "strings have no sum: use join",
		"{{ ['a'] | sum }}":               "have no +",
		"{{ rows | sum(attribute=1.5) }}": "attribute must be a string or a whole number",
		"{{ list | batch('2') }}":         "linecount must be a whole number",
		"{{ list | slice(0) }}":           "division by zero",
		"{{ [[1]] | unique }}":            "a list cannot be a key, or one of a set",
		"{{ [1, 'a'] | max }}":            "have no order",
	})
	uncompiled(t, map[string]string{
		"{{ a | upper('x') }}":               "filter upper takes no arguments",
		"{{ a | round(1, 'ceil', 3) }}":      "filter round takes no more than precision, method",
		"{{ a | round(1, precision=2) }}":    "filter round is given precision twice",
		"{{ a | join(d=1, d=2) }}":           "filter join is given d twice",
		"{{ a | batch }}":                    "filter batch needs linecount",
		"{{ a | join(d=1, 2) }}":             "an argument without a name stands before those with one",
		"{{ a | join(*a, 2) }}":              "an argument without a name stands before those with one",
		"{{ a | replace('x', 'y') | nope }}": `unknown filter "nope"`,
	})
}

func TestFiltersThatOrder(t *testing.T) {
	check(t, []given{
		{"{{ list | sort }}", list(1, 2, 3)}, {"{{ list | sort(reverse=true) }}", list(3, 2, 1)}, {"{{ ['b', 'A'] | sort }}", list("A", "b")}, {"{{ ['b', 'A', 'B'] | sort(case_sensitive=true) }}", list("A", "B", "b")},
		{"{{ [none, none] | sort }}", list(nil, nil)}, {"{{ [ctx, ctx] | sort | length }}", 2}, {"{{ [true, 0.5, 0] | sort }}", list(0, 0.5, true)}, {"{{ [[2], [1, 9], [1]] | sort }}", list([]any{1}, []any{1, 9}, []any{2})},
		{"{{ rows | sort(attribute='sku') | map(attribute='sku') | join('+') }}", "bolt+nut"}, {"{{ pairs | sort(attribute=1, reverse=true) | first | first }}", "b"},
		{"{{ [{'a': 2, 'b': 'x'}, {'a': 1, 'b': 'y'}, {'a': 1, 'b': 'X'}] | sort(attribute='a,b') | map(attribute='b') | join }}", "Xyx"},
		{"{{ [{'a': 1, 'b': {'c': 2}}, {'a': 1, 'b': {'c': 1}}] | sort(attribute='a,b.c', reverse=true) | map(attribute='b.c') | list }}", list(2, 1)},
		{"{{ [{'a': 1, 'b': nobody}, {'a': 0}] | sort(attribute='a,b') | map(attribute='a') | list }}", list(0, 1)},
		{"{{ rows | groupby('qty') | map('first') }}", list(4, 9)}, {"{{ ['b1', 'A1', 'B2'] | groupby(0) }}", list([]any{"A", []any{"A1"}}, []any{"b", []any{"b1", "B2"}})},
		{"{{ ['b1', 'A1', 'B2'] | groupby(0, case_sensitive=true) | length }}", 3}, {"{{ [{}, {'a': 1}] | groupby('a', default=0) | map(attribute='grouper') }}", list(0, 1)},
		{"{{ (rows | groupby('sku') | last).list[0].qty }}", 4}, {"x{{ [(1, 2)] | groupby(1) }}", "x[(2, [(1, 2)])]"},
		{"{{ {'b': 1, 'a': 2} | dictsort }}", list([]any{"a", 2}, []any{"b", 1})}, {"{{ {'b': 1, 'A': 2, 'C': 0} | dictsort | map('first') }}", list("A", "b", "C")},
		{"{{ {'b': 1, 'A': 2, 'C': 0} | dictsort(true) | map('first') }}", list("A", "C", "b")}, {"{{ {'b': 1, 'A': 2, 'C': 0} | dictsort(by='value', reverse=true) | map('last') }}", list(2, 1, 0)},
		{"{{ {2: 'x', 1: 'y'} | dictsort }}", list([]any{1, "y"}, []any{2, "x"})},
	})
	refused(t, map[string]string{
		"{{ ['a', 1] | sort }}":                           "have no order",
		"{{ [none, 1] | sort }}":                          "have no order",
		"{{ [none, none] | groupby('a') | length }}":      "which is undefined have no order",
		"{{ [{'a': none}, {'a': none}] | groupby('a') }}": "null and null have no order",
		"{{ ctx | dictsort(by='x') }}":                    "by must be key or value",
		"{{ {'a': 1, 'b': 'x'} | dictsort(by='value') }}": "have no order",
		"{{ nobody | dictsort }}":                         "nobody is undefined",
	})
}

func TestFiltersThatApplyOthers(t *testing.T) {
	check(t, []given{
		{"{{ rows | selectattr('qty', 'gt', 5) | map(attribute='sku') | list }}", list("bolt")}, {"{{ rows | rejectattr('nothing') | length }}", 2}, {"{{ rows | selectattr('qty', '==', 4) | map(attribute='sku') }}", list("nut")},
		{"{{ list | select('odd') | list }}", list(3, 1)}, {"{{ [0, 1] | reject }}", list(0)}, {"{{ list | select('>', 1) }}", list(3, 2)}, {"{{ list | reject('lessthan', other=2) | length }}", 2},
		{"{{ ['a'] | map('upper') }}", list("A")}, {"{{ ['1'] | map('int', 5) }}", list(1)}, {"{{ [[1, 2], [3]] | map('join', d='-') }}", list("1-2", "3")}, {"{{ [[3, 1], [2, 9]] | map('sort', reverse=true) }}", list([]any{3, 1}, []any{9, 2})},
		{"{{ ['x', ''] | map('default', 'y', boolean=true) }}", list("x", "y")}, {"{{ rows | map(default=0, attribute='nope') }}", list(0, 0)}, {"{{ [1, 2] | map('format', 5) | list if no else 1 }}", 1},
		{"{{ [ctx, ctx.deep, {}] | map(attribute='n') | select('defined') }}", list(2)}, {"{{ [ctx, {}] | map(attribute='n') | map('default', 0) }}", list(2, 0)}, {"{{ rows | map(attribute='nope') }}", list(nil, nil)},
		{"{{ null | map('upper') | list }}", list()}, {"{{ null | selectattr('x') }}", list()}, {"{{ 0 | select }}", list()},
		{"{{ pairs | map(attribute=0) }}", list("a", "b")}, {"{{ pairs | map(attribute='1') | sum }}", 3}, {"{{ pairs | selectattr(1, 'gt', 1) | length }}", 1}, {"{{ [{'a': [{'b': 1}]}] | map(attribute='a.0.b') }}", list(1)},
		{"{{ [{}, {'a': {'b': 2}}] | map(attribute='a.b', default=7) }}", list(7, 2)}, {"{{ [ctx] | map(attribute='nope', default=none) | first is defined }}", false}, {"{{ ['%d'] | map('format', *[5]) }}", list("5")},
	})
	refused(t, map[string]string{
		"{{ ['a'] | map('' ~ 'nope') }}":           `unknown filter "nope"`,
		"{{ [1] | select('' ~ 'nope') }}":          `unknown test "nope"`,
		"{{ ['a'] | map('' ~ 'upper', 1) }}":       "filter upper takes no arguments",
		"{{ ['a'] | map('' ~ 'sort', revers=1) }}": "filter sort takes no revers",
		"{{ ['a'] | map('' ~ 'lowr') }}":           `(did you mean "lower"?)`,
		"{{ ['a'] | map(attribut='x') }}":          "it takes no attribut",
		"{{ rows | map(attribute='tag.x') }}":      `it has no ["x"]`,
		"{{ rows | selectattr('tag.x') }}":         `it has no ["x"]`,
		"{{ ['a'] | map }}":                        "it needs attribute",
		"{{ ['a'] | select('' ~ 'gt') }}":          "test gt needs other",
		"{{ ['a'] | select(other=1) }}":            "test must be a string",
		"{{ ['a'] | selectattr }}":                 "it needs the name of a field",
		"{{ 5 | map('upper') }}":                   "an integer cannot be gone through",
	})
	uncompiled(t, map[string]string{
		"{{ a | sort(revers=true) }}":     `filter sort takes no revers (did you mean "reverse"?)`,
		"{{ a | map('lowr') }}":           `unknown filter "lowr" (did you mean "lower"?)`,
		"{{ a | map('upper', 1) }}":       "filter upper takes no arguments",
		"{{ a | map('sort', revers=1) }}": "filter sort takes no revers",
		"{{ a | reject('defned') }}":      `unknown test "defned" (did you mean "defined"?)`,
		"{{ a | selectattr('x', 'gt') }}": "test gt needs other",
	})
}

func TestFiltersOfObjects(t *testing.T) {
	check(t, []given{
		{"{{ {'b': 1, 'A': 2} | items | first | first }}", "A"}, {"{{ nobody | items }}", list()}, {"{{ {'b': 1, 'a': 2} | values }}", list(2, 1)}, {"{{ {'b': 1, 'a': 2} | keys }}", list("a", "b")},
		{"{{ {'x': 1, 2: 0, none: 3, (1,): 4} | values }}", list(3, 0, 1, 4)},
	})
	refused(t, map[string]string{"{{ list | items }}": "it needs an object, not a list", "{{ 'a' | keys }}": "it needs an object", "{{ n | values }}": "it needs an object"})
}

func TestFiltersOfTexts(t *testing.T) {
	check(t, []given{
		{"{{ 'hello world' | title }}", "Hello World"}, {"{{ \"it's a foo_bar-baz (1st)\" | title }}", "It's A Foo_bar-Baz (1st)"}, {"{{ 5 | title }}", "5"}, {"{{ 'hELLO ßß' | capitalize }}", "Hello ßß"},
		{"{{ ' x ' | trim }}", "x"}, {"{{ 'xax' | trim('x') }}", "a"}, {"{{ 'xax' | trim(chars='x') }}", "a"}, {"{{ 'aaa' | replace('a', 'b', 2) }}", "bba"}, {"{{ 112 | replace(1, 3) }}", "332"}, {"{{ 'a' | replace('a', 'b', none) }}", "b"},
		{"{{ 5 | upper }}", "5"}, {"{{ 'straße' | upper }}", "STRASSE"}, {"{{ 'a b' | split }}", list("a", "b")}, {"{{ 'a' | center(4) }}", " a  "}, {"{{ 'a b, c_d' | wordcount }}", 3},
		{"{{ 'a\\n\\nb' | indent }}", "a\n\n    b"}, {"{{ 'a\\nb' | indent('> ', true) }}", "> a\n> b"}, {"{{ 'a\\n\\nb' | indent(1, blank=true) }}", "a\n \n b"},
		{"{{ 'foo bar baz qux' | truncate(9, leeway=0) }}", "foo..."}, {"{{ 'foo bar baz qux' | truncate(9, true, leeway=0) }}", "foo ba..."}, {"{{ 'foo bar baz qux' | truncate(11) }}", "foo bar baz qux"}, {"{{ list | truncate }}", list(3, 1, 2)},
		{"{{ 'the quick-brown fox' | wordwrap(9) }}", "the\nquick-\nbrown fox"}, {"{{ 'abcdefgh i' | wordwrap(3) }}", "abc\ndef\ngh\ni"}, {"{{ 'abcdefgh i' | wordwrap(3, false, '|') }}", "abcdefgh|i"}, {"{{ 'a--b c' | wordwrap(2) }}", "a\n--\nb\nc"},
		{"{{ '%s-%05.2f' | format('a', 2.5) }}", "a-02.50"}, {"{{ '%(a)s' | format(a=1) }}", "1"}, {"{{ 'a' | format }}", "a"},
		{"{{ 'hi' | b64encode }}", "aGk="}, {"{{ 'aGk=' | b64decode }}", "hi"}, {"{{ 'é' | b64encode | b64decode }}", "é"},
	})
	refused(t, map[string]string{
		"{{ 'abc' | truncate(2) }}":           "length must be 3 or more",
		"{{ n | truncate }}":                  "an integer has no length",
		"{{ n | indent }}":                    "it needs a string, not an integer",
		"{{ 'a' | wordwrap(0) }}":             "width must be more than 0",
		"{{ 'a' | b64decode }}":               "it is no base64",
		"{{ '%s' | format(1, a=2) }}":         "by place or by name, and not both",
		"{{ 'ab' | replace('a', 'b', 'x') }}": "count must be a whole number",
	})
	uncompiled(t, map[string]string{"{{ a | replace('x') }}": "filter replace needs new", "{{ a | trim(char='x') }}": `(did you mean "chars"?)`})
}

func TestFiltersForHTMLAndJSON(t *testing.T) {
	check(t, []given{
		{"{{ '<a href=\"x\">T&C\\'s' | e }}", "&lt;a href=&#34;x&#34;&gt;T&amp;C&#39;s"}, {"{{ '<' | e | e }}", "&lt;"}, {"{{ '<' | safe | e }}", "<"}, {"{{ '<' | e | upper | e }}", "&LT;"}, {"{{ '<' | e | forceescape }}", "&amp;lt;"},
		{"{{ '<p>a  <!-- <b> -->b</p> &amp;' | striptags }}", "a b &"}, {"{{ '<!-->x' | striptags }}", "x"}, {"{{ '<<!-- -->!-- y -->z' | striptags }}", "z"}, {"{{ '1 < 2' | striptags }}", "1 < 2"},
		{"{{ {'b': 'x\"', 'a': 1, 'c': none} | xmlattr }}", ` a="1" b="x&#34;"`}, {"{{ {'a': 1} | xmlattr(false) }}", `a="1"`}, {"{{ {} | xmlattr }}", ""},
		{"{{ 'a b/c' | urlencode }}", "a%20b/c"}, {"{{ {'b': 1, 'a': 'x y'} | urlencode }}", "a=x+y&b=1"}, {"{{ pairs | urlencode }}", "a=1&b=2"}, {"{{ {'a b': null, 'c': 'x/y &'} | urlencode }}", "a+b=None&c=x%2Fy+%26"}, {"{{ [] | urlencode }}", ""},
		{"{{ 'see (http://x.org/a(b)), ok' | urlize }}", `see (<a href="http://x.org/a(b)" rel="noopener">http://x.org/a(b)</a>), ok`}, {"{{ 'a@b.org' | urlize }}", `<a href="mailto:a@b.org">a@b.org</a>`},
		{"{{ 'www.example.org' | urlize(8, true, '_blank') }}", `<a href="https://www.example.org" rel="nofollow noopener" target="_blank">www.exam...</a>`}, {"{{ 'tel:1' | urlize(extra_schemes=['tel:']) }}", `<a href="tel:1" rel="noopener">tel:1</a>`},
		{"{{ ctx.deep | tojson }}", `{"k": "v"}`}, {"{{ [1.0, true, none, \"<&>'é\"] | tojson }}", `[1.0, true, null, "\u003c\u0026\u003e\u0027\u00e9"]`}, {"{{ '😀' | tojson }}", `"\ud83d\ude00"`}, {"{{ '\\x7f\\n' | tojson }}", "\"\x7f\\n\""},
		{"{{ {'b': [1, {}], 'a': []} | tojson(indent=2) }}", "{\n  \"a\": [],\n  \"b\": [\n    1,\n    {}\n  ]\n}"}, {"{{ [1] | tojson('-') }}", "[\n-1\n]"}, {"{{ [1] | tojson(0) }}", "[\n1\n]"}, {"{{ {1: (2,)} | to_json }}", `{"1": [2]}`},
		{"{{ '[1, 2.0]' | fromjson }}", list(1, 2)}, {"{{ ('{\"a\": null}' | from_json).a is none }}", true},
	})
	refused(t, map[string]string{
		"{{ 'a' | fromjson }}":                    "filter fromjson",
		"{{ [nobody] | tojson }}":                 "nobody is undefined",
		"{{ (1e308 * 10) | tojson }}":             "too large a number",
		"{{ [1] | urlencode }}":                   "an integer cannot be gone through",
		"{{ [[1]] | urlencode }}":                 "it needs pairs, not a list",
		"{{ {'a b': 1} | xmlattr }}":              `"a b" cannot be the name of an attribute`,
		"{{ list | xmlattr }}":                    "it needs an object",
		"{{ 'a' | urlize(extra_schemes=['!']) }}": `"!" cannot begin a URL`,
	})
}
