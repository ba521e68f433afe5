package jinja_test

import "testing"

func TestTests(t *testing.T) {
	check(t, []given{
		{"{{ n is defined }}", true}, {"{{ nobody is defined }}", false}, {"{{ nobody is not defined }}", true}, {"{{ ctx.token is defined }}", false}, {"{{ nobody is undefined }}", true},
		{"{{ null is none }}", true}, {"{{ nobody is none }}", false}, {"{{ yes is true }}", true}, {"{{ 1 is true }}", false}, {"{{ no is false }}", true}, {"{{ no is boolean }}", true}, {"{{ 0 is boolean }}", false},
		{"{{ n is number }}", true}, {"{{ yes is number }}", true}, {"{{ yes is integer }}", false}, {"{{ 2.0 is integer }}", false}, {"{{ 2.0 is float }}", true}, {"{{ f is float }}", true}, {"{{ s is string }}", true},
		{"{{ ctx is mapping }}", true}, {"{{ {1: 2} is mapping }}", true}, {"{{ list is iterable }}", true}, {"{{ nobody is iterable }}", true}, {"{{ n is sequence }}", false}, {"{{ (1,) is sequence }}", true},
		{"{{ n is divisibleby 3 }}", true}, {"{{ n is divisibleby(2) }}", false}, {"{{ 4.5 is divisibleby 1.5 }}", true}, {"{{ n is odd and n is not even }}", true}, {"{{ f is odd }}", false}, {"{{ yes is odd }}", true}, {"{{ '%d' is even }}", false},
		{"{{ n is in [3] }}", true}, {"{{ n is gt 2 }}", true}, {"{{ n is eq(3) }}", true}, {"{{ n is equalto 3.0 }}", true}, {"{{ n is ne 4 }}", true}, {"{{ n is le 3 and n is ge 3 }}", true}, {"{{ n is lessthan 4 }}", true}, {"{{ [1] is lt [2] }}", true},
		{"{{ 'a1' is lower }}", true}, {"{{ '1' is lower }}", false}, {"{{ 'AB' is upper }}", true}, {"{{ none is upper }}", false}, {"{{ 'ß' is lower }}", true},
		{"{{ 1 is sameas 1 }}", true}, {"{{ 1 is sameas true }}", false}, {"{{ 1 is sameas 1.0 }}", false}, {"{{ none is sameas none }}", true},
		{"{{ 'upper' is filter }}", true}, {"{{ 'uper' is filter }}", false}, {"{{ 1 is filter }}", false}, {"{{ 'odd' is test }}", true}, {"{{ '==' is test }}", true},
		{"{{ s is escaped }}", false}, {"{{ s | e is escaped }}", true}, {"{{ s | safe | upper is escaped }}", true}, {"{{ n is callable }}", false}, {"{{ nobody is callable }}", true},
		{"{{ 1 if n is defined else 2 }}", 1}, {"{{ n is divisibleby 3 is true }}", true}, {"{{ 1 + 1 is integer }}", 2},
	})
	refused(t, map[string]string{
		"{{ 1 is divisibleby 0 }}": "division by zero",
		"{{ s is odd }}":           "not all values were put into the text",
		"{{ none is even }}":       "null and an integer have no %",
		"{{ [] is filter }}":       "a list cannot be a key",
		"{{ n is gt 'a' }}":        "have no order",
	})
	uncompiled(t, map[string]string{
		"{{ a is defned }}":     `unknown test "defned" (did you mean "defined"?)`,
		"{{ a is defined(1) }}": "test defined takes no arguments",
		"{{ a is gt }}":         "test gt needs other",
	})
}
