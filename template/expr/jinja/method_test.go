package jinja_test

import "testing"

func TestMethodsOfStrings(t *testing.T) {
	check(t, []given{
		{"{{ s.lower().startswith('wid') }}", true}, {"{{ s.endswith('x') }}", false}, {"{{ s.startswith(('a', 'W')) }}", true}, {"{{ s.startswith('id', 1) }}", true}, {"{{ s.endswith('id', 0, 3) }}", true}, {"{{ s.startswith('', 9) }}", false},
		{"{{ 'straße ﬁ'.upper() }}", "STRASSE FI"}, {"{{ 'ΑΣ ΣΑ'.lower() }}", "ας σα"}, {"{{ 'İ'.lower() }}", "i̇"}, {"{{ 'ßa ǆ ﬁx'.title() }}", "Ssa ǅ Fix"}, {"{{ 'ﬁX'.capitalize() }}", "Fix"},
		{"{{ \"it's 1st\".title() }}", "It'S 1St"}, {"{{ 'aBß'.swapcase() }}", "AbSS"}, {"{{ 'Straße Σς'.casefold() }}", "strasse σσ"},
		{"{{ 'xx1'.lstrip('x').isdigit() }}", true}, {"{{ ' x '.strip('') }}", " x "}, {"{{ ' x '.strip(none) }}", "x"}, {"{{ '\\x1cx '.rstrip() }}", "\x1cx"}, {"{{ 'abc'.removeprefix('ab') }}", "c"}, {"{{ 'abc'.removesuffix('ab') }}", "abc"},
		{"{{ 'ab'.center(5) }}", "  ab "}, {"{{ 'ab'.center(5, 'é') }}", "ééabé"}, {"{{ 'ab'.ljust(4, '.') }}", "ab.."}, {"{{ 'ab'.rjust(4) }}", "  ab"}, {"{{ 'ab'.rjust(-4) }}", "ab"}, {"{{ '-5'.zfill(4) }}", "-005"}, {"{{ ''.zfill(2) }}", "00"},
		{"{{ 'a\\tbc\\td\\n\\te'.expandtabs(4) }}", "a   bc  d\n    e"}, {"{{ 'a\\tb'.expandtabs(0) }}", "ab"},
		{"{{ 'a,b'.split(',') }}", list("a", "b")}, {"{{ ' a  b '.split() }}", list("a", "b")}, {"{{ 'a,b,c'.split(',', 1) }}", list("a", "b,c")}, {"{{ ' a b  c '.split(none, 1) }}", list("a", "b  c ")},
		{"{{ ' a b  c d '.split(maxsplit=2) }}", list("a", "b", "c d ")}, {"{{ 'a b'.split(none, 0) }}", list("a b")}, {"{{ 'a,b,c'.split(',', 0) }}", list("a,b,c")}, {"{{ 'a,b,c'.split(',', -1) }}", list("a", "b", "c")}, {"{{ ' '.split() }}", list()},
		{"{{ 'a,b,c'.rsplit(',', 1) }}", list("a,b", "c")}, {"{{ ' a b  c '.rsplit(none, 1) }}", list(" a b", "c")}, {"{{ 'a b c'.rsplit() }}", list("a", "b", "c")}, {"{{ 'aXbX'.rsplit('X') }}", list("a", "b", "")}, {"{{ 'a'.rsplit(maxsplit=0) }}", list("a")},
		{"{{ 'a\\r\\nb\\nc\\x1cd'.splitlines() }}", list("a", "b", "c", "d")}, {"{{ 'a\\n\\nb\\n'.splitlines(true) }}", list("a\n", "\n", "b\n")}, {"{{ ''.splitlines() }}", list()},
		{"{{ 'a.b.c'.partition('.') }}", list("a", ".", "b.c")}, {"{{ 'a.b.c'.rpartition('.') }}", list("a.b", ".", "c")}, {"{{ 'abc'.rpartition('.') }}", list("", "", "abc")},
		{"{{ '-'.join(['a', 'b']) }}", "a-b"}, {"{{ '-'.join('ab') }}", "a-b"}, {"{{ 'aaa'.replace('a', 'b', 0) }}", "aaa"}, {"{{ 'ab'.replace('', '-') }}", "-a-b-"}, {"{{ 'ab'.replace('', '-', 2) }}", "-a-b"},
		{"{{ 'aéb'.find('b') }}", 2}, {"{{ 'abab'.find('a', 1) }}", 2}, {"{{ 'abab'.find('a', -1) }}", -1}, {"{{ 'abab'.rfind('b', 0, 3) }}", 1}, {"{{ 'ab'.find('', 3) }}", -1}, {"{{ 'ab'.find('', 2) }}", 2}, {"{{ 'éa'.rindex('a') }}", 1},
		{"{{ 'aaa'.count('aa') }}", 1}, {"{{ 'éa'.count('') }}", 3}, {"{{ 'aaa'.count('a', 1) }}", 2},
		{"{{ 'aé1'.isalnum() }}", true}, {"{{ 'a1'.isalpha() }}", false}, {"{{ ''.isalpha() }}", false}, {"{{ '²'.isdigit() }}", true}, {"{{ '²'.isdecimal() }}", false}, {"{{ '½三'.isnumeric() }}", true}, {"{{ '٣'.isdecimal() }}", true},
		{"{{ ' \\x1f'.isspace() }}", true}, {"{{ 'a_1'.isidentifier() }}", true}, {"{{ '1a'.isidentifier() }}", false}, {"{{ 'Ab Cd'.istitle() }}", true}, {"{{ 'Ab cd'.istitle() }}", false}, {"{{ 'a\\n'.isprintable() }}", false}, {"{{ ''.isprintable() }}", true}, {"{{ 'é'.isascii() }}", false},
		{"{{ 'abc'.translate({97: 'x', 98: none}) }}", "xc"}, {"{{ 'abc'.translate(''.maketrans('ab', 'xy', 'c')) }}", "xy"}, {"{{ 'abc'.translate(''.maketrans({'a': 'zz'})) }}", "zzbc"},
	})
	refused(t, map[string]string{
		"{{ n.upper() }}":                    "an integer has no method upper",
		"{{ nobody.upper() }}":               "nobody is undefined: it has no method upper",
		"{{ 'abc'.replace(none, 'x') }}":     "old must be a string, not null",
		"{{ 'abc'.startswith(none) }}":       "it must be a string or a tuple of strings, not null",
		"{{ 'abc'.startswith(['a']) }}":      "it must be a string or a tuple of strings, not a list",
		"{{ 'abc'.find(none) }}":             "sub must be a string, not null",
		"{{ 'abc'.index('x') }}":             `"x" is not in it`,
		"{{ 'abc'.split('') }}":              "sep must not be empty",
		"{{ 'abc'.partition('') }}":          "sep must not be empty",
		"{{ 'abc'.split('b', 'x') }}":        "maxsplit must be a whole number",
		"{{ 'abc'.join([1]) }}":              "it joins strings, not an integer",
		"{{ 'a'.center(3, 'xy') }}":          "fillchar must be one character",
		"{{ 'a'.translate([1]) }}":           "table must be an object",
		"{{ 'a'.translate({97: 1114112}) }}": "1114112 is no character",
		"{{ ''.maketrans('a', '') }}":        "of the same length",
	})
	uncompiled(t, map[string]string{
		"{{ a.splt() }}":                `unknown method "splt" (did you mean "split"?)`,
		"{{ a.replace('x') }}":          "method replace needs new",
		"{{ a.replace('x', new='y') }}": "takes no names: what is given for new stands in its place",
		"{{ a.startswith() }}":          "method startswith needs part",
		"{{ a.encode() }}":              "method encode is left out: there are no bytes, only strings",
		"{{ a() }}":                     `unknown function "a"`,
		"{{ a()() }}":                   `unknown function "a"`,
		"{{ a[0]() }}":                  "only methods and functions can be called",
	})
}

func TestMethodsOfOtherValues(t *testing.T) {
	check(t, []given{
		{"{{ ctx.get('n') }}", 2}, {"{{ ctx.get('nothing', 5) }}", 5}, {"{{ ctx.get('nothing') }}", nil}, {"{{ {1: 2}.get(true) }}", 2}, {"{{ {'get': 1}.get('get') }}", 1},
		{"{{ {'b': 1, 'a': 2}.items() }}", list([]any{"a", 2}, []any{"b", 1})}, {"{{ ctx.keys() }}", list("deep", "n", "text")}, {"{{ {'a': 1}.values() }}", list(1)}, {"{{ {'a': 1}.copy() }}", map[string]any{"a": 1}},
		{"{{ {}.fromkeys(['a', 'b'], 0) }}", map[string]any{"a": 0, "b": 0}}, {"{{ {'items': 1}.items }}", 1}, {"{{ {}.items is defined }}", false},
		{"{{ list.index(1) }}", 1}, {"{{ list.index(2, 1) }}", 2}, {"{{ [1, 1].count(1) }}", 2}, {"{{ list.copy() }}", list(3, 1, 2)}, {"{{ (1, 2).index(2) }}", 1}, {"{{ (1, 2, 1).count(true) }}", 2},
		{"{{ n.bit_length() }}", 2}, {"{{ (-huge - 1).bit_length() }}", 64}, {"{{ 7 .bit_count() }}", 3}, {"{{ true.conjugate() }}", 1}, {"{{ 0.5.as_integer_ratio() }}", list(1, 2)}, {"{{ 2.0.is_integer() }}", true}, {"{{ f.hex() }}", "0x1.8000000000000p+0"},
	})
	refused(t, map[string]string{
		"{{ list.index(9) }}":             "9 is not in the list",
		"{{ list.index(3, 1) }}":          "3 is not in the list",
		"{{ n.is_integer() }}":            "an integer has no method is_integer",
		"{{ nobody.items() }}":            "nobody is undefined: it has no method items",
		"{{ null.get('a') }}":             "null has no method get",
		"{{ ctx.get([1]) }}":              "a list cannot be a key",
		"{{ {}.fromkeys(1) }}":            "cannot be gone through",
		"{{ 1e-320.as_integer_ratio() }}": "too large a number",
	})
	uncompiled(t, map[string]string{
		"{{ a.items(1) }}":         "method items takes no arguments",
		"{{ a.append(1) }}":        "append changes what it is a method of, and no value is ever changed: write x + [y]",
		"{{ a.update(b) }}":        "write dict(x, **y)",
		"{{ a.setdefault(1, 2) }}": "write x.get(key, y)",
	})
}

func TestFunctions(t *testing.T) {
	check(t, []given{
		{"{{ range(3) }}", list(0, 1, 2)}, {"{{ range(1, 6, 2) | list }}", list(1, 3, 5)}, {"{{ range(3, 0, -1) }}", list(3, 2, 1)}, {"{{ range(0) }}", list()}, {"{{ range(true) }}", list(0)}, {"{{ range(*[1, 3]) }}", list(1, 2)},
		{"{{ dict(a=1).a }}", 1}, {"{{ dict() }}", map[string]any{}}, {"{{ dict(ctx.deep, z=1) }}", map[string]any{"k": "v", "z": 1}}, {"{{ dict([['a', 1], 'bc']) }}", map[string]any{"a": 1, "b": "c"}}, {"{{ dict(**ctx.deep) }}", map[string]any{"k": "v"}},
		{"{{ dict({1: 2})[1] }}", 2}, {"{{ range is defined }}", false},

		// every number of a range is there, also where the next one would be none
		{"{{ range(9223372036854773808, huge, 1000) }}", list(9223372036854773808, 9223372036854774808)}, {"{{ range(huge - 1, huge) }}", list(9223372036854775806)}, {"{{ range(huge, huge) }}", list()},
		{"{{ range(-huge - 1, huge, huge) }}", list(-9223372036854775808, -1, 9223372036854775806)}, {"{{ range(-huge, -huge - 1, -5) }}", list(-9223372036854775807)}, {"{{ range(5, 0, -2) }}", list(5, 3, 1)}, {"{{ range(0, 5, -1) }}", list()},
	})
	refused(t, map[string]string{
		"{{ range(1, 2, 0) }}":        "its step must not be 0",
		"{{ range(1.5) }}":            "it goes by whole numbers",
		"{{ range(*[]) }}":            "it needs start",
		"{{ range(*[1, 2, 3, 4]) }}":  "it takes no more than start, stop, step",
		"{{ dict(nobody) }}":          "nobody is undefined",
		"{{ dict([1]) }}":             "an integer cannot be gone through",
		"{{ dict(['abc']) }}":         "it needs pairs, not a string",
		"{{ dict(1, 2) }}":            "it takes one object or list of pairs",
		"{{ dict(a=1, **{'a': 2}) }}": "it is given a twice",
		"{{ dict(**{1: 2}) }}":        "the name of an argument must be a string",
		"{{ dict(**list) }}":          "behind ** there must be an object, not a list",
		"{{ range(**{'stop': 1}) }}":  "takes no names",
	})
	uncompiled(t, map[string]string{
		"{{ rnge(1) }}":           `unknown function "rnge" (did you mean "range"?)`,
		"{{ now() }}":             `unknown function "now"`,
		"{{ lipsum() }}":          "function lipsum is left out",
		"{{ range() }}":           "function range needs start",
		"{{ range(1, 2, 3, 4) }}": "function range takes no more than start, stop, step",
		"{{ range(1, stop=3) }}":  "function range takes no names",
	})
}
