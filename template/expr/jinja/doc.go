// Package jinja is the dialect of Jinja that expressions in playbooks of other engines are written in: the same shape as
// package expr, with which it shares limits, errors and environments.
//
//	{{ ctx.n | default(0) | int + 1 }}       one expression alone keeps the value's type
//	{{ parcel.name | lower }}-{{ grams }}    text with expressions in it is a string
//
// Only expressions are read: {# comments #} are passed over, and a {% statement %} is refused. A newline at the very end of a
// text with expressions is dropped. The grammar and its precedences are Jinja's: filters and tests bind closest, chained **
// goes from left to right, comparisons may be chained, and `a if c else b` may stand in parentheses.
//
// # Values
//
// They are those of package value. A whole float is an integer; an integer that would overflow is an error. Division with / is
// exact, // and % go down, as in Python. true and false are no numbers: true == 1 is false. A tuple is a list. In a text, true
// is True and none, which may be written null, is None, and a list or an object is JSON, compact as that of tojson.
// A name that nobody knows, and a key or an index that is not there, is undefined: false in a condition, nothing in a
// text, the default of `default`, and null where a list or an object that holds it leaves the expression. What reads a field
// of it, or reckons with it, fails.
//
// # What is there
//
//	operators  + - * / // % ** ~   == != < <= > >=   in  not in   and or not   a if c else b   x[i]  x[i:j:k]  x.k
//	tests      boolean defined divisibleby eq equalto even false float ge gt in integer iterable le lower lt mapping ne
//	           none number odd sequence string true undefined upper; for select and its like also == != < <= > >=
//	           lessthan greaterthan
//	filters    abs b64decode b64encode bool capitalize count d default dictsort first float from_json fromjson int items
//	           join keys last length list lower map max min reject rejectattr replace reverse round safe select selectattr
//	           sort split string sum title to_json tojson trim unique upper urlencode values
//	methods    of strings: capitalize count endswith find isdigit join lower lstrip replace rstrip split startswith strip
//	           title upper; of objects: get items keys values; of lists: count index
//	functions  dict range
//
// Maps are gone through in the order of their keys. There is no clock, no chance, no file and no import.
//
// # Why not an engine for templates
//
// The one that is there for Go reads `a in b + c` and a conditional in parentheses as errors, lets integers wrap, rounds
// // and % towards zero, goes through maps in an order that differs from run to run, and sets no limit to the work of an
// expression. A journal must read tomorrow as it was written today, and a document must not hang a run.
package jinja
