package jinja_test

import "testing"

func TestArithmetic(t *testing.T) {
	check(t, []given{
		{"{{ 1 + 2 * 3 }}", 7}, {"{{ (1 + 2) * 3 }}", 9}, {"{{ 7 / 2 }}", 3.5}, {"{{ 7 // -2 }}", -4}, {"{{ -7 // 2 }}", -4}, {"{{ -7 % 3 }}", 2},
		{"{{ 7 % -3 }}", -2}, {"{{ 7.5 // 2 }}", 3}, {"{{ -7.5 % 2 }}", 0.5}, {"{{ 7.5 % -2 }}", -0.5}, {"{{ - 3 }}", -3}, {"{{ -n | abs }}", 3}, {"{{ +n }}", 3},
		{"{{ 1 // 0.1 }}", 9}, {"{{ 1 % 0.1 }}", 0.09999999999999995}, {"{{ 1.5 // 0.3 }}", 5}, {"{{ -0.5 // 1e18 }}", -1},
		{"{{ -9223372036854775807.0 - 1024 }}", -9223372036854775808}, {"x{{ 9007199254740993 / 3 }}", "x3002399751580331.0"}, {"x{{ 0 * -1.0 }}", "x-0.0"},

		// powers are right to the last digit
		{"{{ 2 ** 3 ** 2 }}", 64}, {"{{ -2 ** 2 }}", 4}, {"{{ 2 ** -1 }}", 0.5}, {"{{ (-1) ** 3 }}", -1}, {"{{ 0 ** 0 }}", 1}, {"{{ -1 ** huge }}", -1},
		{"{{ 5.2 ** 7 }}", 102807.17025280003}, {"{{ 1.1 ** 10 }}", 2.5937424601000023}, {"{{ 2 ** 0.5 }}", 1.4142135623730951}, {"{{ 0.5 ** 1e9 }}", 0},
		{"{{ -1.5 ** 3 }}", -3.375}, {"{{ (-1.0) ** 2000.0 }}", 1}, {"{{ (0.999999 ** 1e6) | round(6) }}", 0.367879}, {"{{ (-0.999 ** 2001) | round(4) }}", -0.1351},

		// true and false are numbers
		{"{{ true + true }}", 2}, {"{{ yes * 'a' }}", "a"}, {"{{ -yes }}", -1}, {"{{ list[yes] }}", 1}, {"{{ [1, 0].count(false) }}", 1}, {"{{ true / 2 }}", 0.5}, {"{{ 5 % true }}", 0},

		// an infinite number is a number until it leaves
		{"{{ 1e308 * 10 > 1 }}", true}, {"x{{ 1e308 * -10 }}", "x-inf"}, {"{{ 'nan' | float == 'nan' | float }}", false}, {"{{ 'nan' | float < 1 }}", false},
	})
	refused(t, map[string]string{
		"{{ huge + 1 }}":          "too large a number",
		"{{ huge * 2 }}":          "too large a number",
		"{{ -huge - 2 }}":         "too large a number",
		"{{ -(-huge - 1) }}":      "too large a number",
		"{{ (-huge - 1) // -1 }}": "too large a number",
		"{{ 2 ** 10000000 }}":     "too large a number",
		"{{ 10.5 ** 1000 }}":      "too large a number",
		"{{ 1e308 * 10 }}":        "too large a number",
		"{{ [1e308 * 10] }}":      "too large a number",
		"{{ (-8) ** 0.5 }}":       "no real number",
		"{{ 0.0 ** -1 }}":         "division by zero",
		"{{ 1 / 0 }}":             "division by zero",
		"{{ 1.5 // 0 }}":          "division by zero",
		"{{ n % 0 }}":             "division by zero",
		"{{ 's' + 1 }}":           "a string and an integer have no +",
		"{{ nobody + 1 }}":        "nobody, which is undefined",
		"{{ [1] + (1,) }}":        "a list and a tuple of 1 have no +",
		"{{ 'a' * 1.5 }}":         "have no *",
		"{{ -'a' }}":              "a sign stands before a number, not before a string",
	})
}

func TestTextAndListOperators(t *testing.T) {
	check(t, []given{
		{"{{ 'a' + 'b' }}", "ab"}, {"{{ 'ab' * 2 }}", "abab"}, {"{{ 2 * 'ab' }}", "abab"}, {"{{ 'ab' * -1 }}", ""}, {"{{ 'n=' ~ n ~ yes }}", "n=3True"},
		{"{{ [1] + [2] }}", list(1, 2)}, {"{{ (1,) + (2,) }}", list(1, 2)}, {"{{ [1, 2] * 2 }}", list(1, 2, 1, 2)}, {"{{ 2 * (0,) }}", list(0, 0)}, {"{{ [] * 5 }}", list()},
		{"{{ [nobody] ~ '' }}", "[Undefined]"}, {"{{ none ~ 1.0 ~ nobody }}", "None1.0"}, {"{{ 1 ~ 2 + 'a' ~ 3 }}", "12a3"},
	})
	refused(t, map[string]string{"{{ 1 ~ 2 + 3 }}": "have no +"})
}

func TestAccess(t *testing.T) {
	check(t, []given{
		{"{{ list[0] }}", 3}, {"{{ list[-1] }}", 2}, {"{{ list[9] }}", nil}, {"{{ list['0'] }}", nil}, {"{{ list[1.0] }}", nil}, {"{{ s[0] }}", "W"}, {"{{ s[-1] }}", "t"},
		{"{{ ctx.deep.k }}", "v"}, {"{{ ctx['deep']['k'] }}", "v"}, {"{{ rows[0].sku }}", "nut"}, {"{{ rows.1.sku }}", "bolt"}, {"{{ (rows | first).sku }}", "nut"},
		{"{{ ctx.nothing }}", nil}, {"{{ {'a': n}.a }}", 3}, {"{{ [[1, [5]]].0.1.0 }}", 5}, {"{{ ctx[none] }}", nil}, {"{{ ctx[[1]] }}", nil},
		{"{{ null.x }}", nil}, {"{{ null['x'] }}", nil}, {"{{ null.x is defined }}", false}, {"{{ n.real + n.imag + n.denominator }}", 4}, {"{{ f.real }}", 1.5}, {"{{ f.numerator }}", nil},
		{"{{ list[1:] }}", list(1, 2)}, {"{{ list[:-1] }}", list(3, 1)}, {"{{ list[::-1] }}", list(2, 1, 3)}, {"{{ list[::2] }}", list(3, 2)}, {"{{ list[none:true] }}", list(3)},
		{"{{ s[1:3] }}", "id"}, {"{{ s[::-1] }}", "tegdiW"}, {"{{ (1, 2, 3)[1:] == (2, 3) }}", true}, {"{{ list[::huge] }}", list(3)}, {"{{ list[::-huge] }}", list(2)}, {"{{ list[5:-huge:-huge] }}", list(2)},
	})
	refused(t, map[string]string{
		"{{ nobody.field }}":      `nobody is undefined: it has no "field"`,
		"{{ ctx.nothing.field }}": `nothing is undefined: it has no "field"`,
		"{{ null.x.y }}":          `x is undefined: it has no "y"`,
		"{{ nobody[0] }}":         "nobody is undefined: it has no [0]",
		"{{ list[::0] }}":         "must not be 0",
		"{{ n[1:] }}":             "only lists and strings have slices, not an integer",
		"{{ list['a':] }}":        "a slice goes by whole numbers, not a string",
	})
}

func TestComparisons(t *testing.T) {
	check(t, []given{
		{"{{ 1 < 2 < 3 }}", true}, {"{{ 3 > 2 > 2 }}", false}, {"{{ n == 3.0 }}", true}, {"{{ 'a' < 'b' }}", true}, {"{{ 'Z' < 'a' }}", true}, {"{{ n != 3 }}", false},
		{"{{ true == 1 }}", true}, {"{{ false < true }}", true}, {"{{ 1 in [true] }}", true}, {"{{ 'true' == true }}", false}, {"{{ none == false }}", false},
		{"{{ [1] == [1.0] }}", true}, {"{{ [1] == (1,) }}", false}, {"{{ {'a': [1, {}]} == {'a': [1.0, {}]} }}", true}, {"{{ {1: 2} == {true: 2.0} }}", true}, {"{{ {1: 2} == {'1': 2} }}", false},
		{"{{ 9007199254740993 == 9007199254740992.0 }}", false}, {"{{ 9007199254740993 > 9007199254740992.0 }}", true}, {"{{ huge < 1e19 }}", true}, {"{{ -huge > -1e19 }}", true}, {"{{ 2 < 2.5 }}", true},
		{"{{ [1, 2] < [1, 3] }}", true}, {"{{ [1] < [1, 0] }}", true}, {"{{ [] < [0] }}", true}, {"{{ [2] > [1, 9] }}", true}, {"{{ (1, 'b') >= (1, 'a') }}", true}, {"{{ [[1], 2] <= [[1], 2] }}", true},
		{"{{ [1, none] < [2, 'a'] }}", true}, {"{{ [none] <= [none] }}", true},
		{"{{ 2 in list }}", true}, {"{{ 'c' in ['a'] + ['c'] }}", true}, {"{{ 'x' not in ctx }}", true}, {"{{ 'dge' in s }}", true}, {"{{ not 'a' in ['a'] }}", false}, {"{{ 1 in {1: 2} }}", true},
		{"{{ 'a' in nobody }}", false}, {"{{ 'a' not in nobody }}", true}, {"{{ nobody == nobody2 }}", true}, {"{{ nobody == none }}", false},
		{"{{ [nobody] == [none] }}", false}, {"{{ [{'a': nobody}] == [{'a': nobody}] }}", true}, {"{{ nobody in [none] }}", false}, {"{{ {} in [nobody] }}", false},
	})
	refused(t, map[string]string{
		"{{ nobody < 1 }}":        "have no order",
		"{{ none < 1 }}":          "null and an integer have no order",
		"{{ 'a' < 1 }}":           "a string and an integer have no order",
		"{{ [1] < (2,) }}":        "have no order",
		"{{ [1, 'a'] < [1, 2] }}": "a string and an integer have no order",
		"{{ {} < {} }}":           "have no order",
		"{{ 1 in 5 }}":            "cannot be looked for in an integer",
		"{{ 1 in 'a1' }}":         "an integer cannot be looked for in a string",
		"{{ [1] in {} }}":         "a list cannot be a key",
	})
}

func TestConditions(t *testing.T) {
	check(t, []given{
		{"{{ not no and yes }}", true}, {"{{ n or 5 }}", 3}, {"{{ no or 5 }}", 5}, {"{{ no and broken }}", false}, {"{{ yes or broken }}", true}, {"{{ 'no' and 1 }}", 1}, {"{{ 'false' or 1 }}", "false"},
		{"{{ 'big' if n > 2 else 'small' }}", "big"}, {"{{ 'big' if n > 5 }}", nil}, {"{{ (1 if no else 2) + 1 }}", 3}, {"{{ 1 if no else 2 if no else 3 }}", 3}, {"{{ 1 if 'false' else 2 }}", 1},
		{"{{ not () }}", true}, {"{{ not {1: 2} }}", false}, {"{{ not 0.0 }}", true}, {"{{ not 'no' }}", false}, {"{{ not nobody }}", true},
	})
}
