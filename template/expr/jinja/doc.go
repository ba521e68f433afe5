// Package jinja implements the dialect of Jinja that expressions in playbooks of other engines use. It has the interface of
// package expr, and shares its limits, errors and environments.
//
//	t, err := jinja.Compile("{{ ctx.n | default(0) | int + 1 }}")
//	v, err := t.Eval(env)        // one expression alone keeps the value's type
//	yes, err := t.EvalBool(env)  // as a guard
//
//	{{ parcel.name | lower }}-{{ grams }}    a text with expressions in it is a string
//
// Only expressions are read: {# comments #} are skipped, and a {% statement %} is an error. A newline at the very end of a text
// with expressions is dropped. Grammar and semantics are those of Jinja2 3.1 on Python, except for the differences listed below.
//
//	text ──scan──▶ literal │ {{ source }} ──lex, parse──▶ tree ──Eval(env)──▶ value of package value
//	                                           └─▶ Names, Keys, Outlines: known before anything runs
//
// # Values
//
// Within an expression values are Python's: 6 / 2 is 3.0, true equals 1, (1, 2) is a tuple and no list, and lists are compared
// element by element. A text shows them as Python does: True, None, 3.0, {'a': [1, 'b']}. The result of an expression is a
// value of package value: a whole float becomes an integer, a tuple a list, undefined null, and a key of an object a string. A
// result with a number that is not finite is an error.
//
// An unknown name, and a missing key or index, is undefined: false in a condition, empty in a text, and replaced by `default`.
// An expression that reads a field of it, or computes with it, fails. A member of null is undefined as well.
//
// # Guards
//
// EvalBool evaluates a guard. Where the guard is one expression, a text holds unless it is empty or reads false, 0,
// no or none, and not, and, or and if/else test texts by the same rule: {{ x }} and {{ not x }} never agree. Eval has Jinja's rule,
// by which every text except the empty one holds. A guard that is a text around expressions, or a text without any, holds when it reads
// true, 1 or yes.
//
// # Language
//
//	operators  + - * / // % ** ~   == != < <= > >=   in  not in   and or not   a if c else b   x[i]  x[i:j:k]  x.k  f(*a, **b)
//	tests      boolean callable defined divisibleby eq equalto escaped even false filter float ge greaterthan gt in integer
//	           iterable le lessthan lower lt mapping ne none number odd sameas sequence string test true undefined upper
//	           and for select and its like also == != < <= > >=
//	filters    abs attr b64decode b64encode batch bool capitalize center count d default dictsort e escape filesizeformat first
//	           float forceescape format from_json fromjson groupby indent int items join keys last length list lower map max min
//	           pprint reject rejectattr replace reverse round safe select selectattr slice sort split string striptags sum title
//	           to_json tojson trim truncate unique upper urlencode urlize values wordcount wordwrap xmlattr
//	methods    of strings, all of Python's but encode; of lists: copy count index; of tuples: count index; of objects: copy
//	           fromkeys get items keys values; of numbers: as_integer_ratio bit_count bit_length conjugate hex is_integer
//	functions  dict range
//
// # Differences from Jinja2
//
// The files in testdata/jinja2 have templates and their values in Jinja2. All of them have the same values here, except those below,
// which differ on purpose. A test compares this list with the files, both ways.
//
// The order of an object is that of its keys, since package value has no other: evaluation must be deterministic.
//
//	{{ d|first }}
//	{{ d|list }}
//	{{ d|string }}
//	{{ d.keys()|list }}
//	{{ d.items()|list }}
//	{{ o.items() }}
//	x{{ d }}
//	x{{ d.items() | list }}
//
// Values are shared and so never changed: methods that would change one are errors that name an alternative. For the same
// reason there is no cycler, joiner or namespace. There is no random and no lipsum: evaluation must be deterministic.
//
//	{{ d.update({'q':1}) }}
//	{{ d.setdefault('a',9) }}
//	{{ l.sort() }}
//	{{ l.pop() }}
//	{{ namespace(a=1).a }}
//
// There are no attributes of Python, for security, as in Jinja2's sandbox: x.k is a key, or a field of a number or of a group. A
// method without its call is no value.
//
//	x{{ n.__class__ }}
//	{{ s.__len__() }}
//
// Statements are not read: they would need bounds of their own, and a playbook has conditions and loops itself.
//
//	x {% if t %}1{% endif %}
//	{% set a = 1 %}{{ a }}
//	{% macro m() %}x{% endmacro %}{{ m() }}
//	{%raw%}{{ n }}{%endraw%}
//
// One expression alone keeps its type, as in Jinja2's native environment. A text without expressions is no template, and stays as it
// is: it may be code, whose last newline counts.
//
//	{{ n }}
//	{# c #}{{ n }}
//	"a\n\n"
//
// These filters are not Jinja2's; other engines for playbooks add them, and documents use them.
//
//	{{ s|split }}
//	{{ 'aGk='|b64decode }}
//	{{ j|fromjson }}
//	{{ t|bool }}
//	{{ num|bool }}
//	{{ d|keys|list }}
//
// A comment must be closed, also at the very end of a text.
//
//	x{{ n }}{#
//
// Names of filters, tests, methods and functions, and their arguments, are checked when a document is read, also in a branch that is
// never taken; keywords are not names, and an index is required: a typing error is found before a run.
//
//	{{ 1 or s|nosuch }}
//	x{{ and }}
//	x{{ 'a'[] }}
//
// Generators, ranges and views are lists, which have a length and are false when they are empty: in Python a generator is always true,
// and its text holds an address, so it would not be deterministic.
//
//	x{{ range(3) }}
//	{{ (l|map('string'))|length }}
//	{{ 'x' if l|select('gt',9) else 'y' }}
//
// Values are bounded by package value: integers have 64 bits, numbers are real, and there are no bytes. No string carries a mark that
// it is safe for HTML; e and escape leave alone a string that was escaped before in the same chain of filters. Characters have no names.
//
//	x{{ 2 ** 64 }}
//	x{{ (-8) ** (1/3) }}
//	x{{ 'a'.encode() }}
//	x{{ ['<'|e] }}
//	"{{ '\\N{DIGIT ONE}' }}"
//
// -2 ** x means (-2) ** x, as in Jinja2 where x is a literal. Where x is a name, Jinja2 computes -(2 ** x).
//
//	{{ (-0.5) ** (fa) }}
//
// # Limits
//
// No text can make a run hang or exhaust memory. The limits are those of package expr (MaxLength and MaxNodes of an expression,
// MaxSteps and MaxBytes of an evaluation), and an expression nests at most 100 deep. A step is one element that is visited, or
// 64 bytes of text; bytes are counted before they are allocated, including the width in a format.
// An evaluation that meets a limit returns an error that wraps expr.ErrLimit.
//
// # Errors
//
// Compile returns one *expr.Error with the offset and text of the fault, or several joined. Eval and EvalBool return an
// *expr.Error that names the failed expression and wraps the error of the environment, if there is one.
//
// # Contracts
//
// A Template is immutable and safe for concurrent use. Evaluation is deterministic: the same template and the same environment
// return the same value or the same error text, on every machine. There is no clock, no randomness, no file and no import. Results
// may share memory with the environment; neither may be changed. Keys and Members return slices that belong to the caller, Names
// one that belongs to the Template.
//
// # Cost
//
// BenchmarkEval, on a busy 2-core virtual machine:
//
//	{{ ctx.deep.k }}                        0.5 µs    3 allocations
//	{{ ctx.n | default(0) | int < n }}      0.8 µs    4 allocations
//	{{ s | lower }}-{{ n }}                 0.6 µs    6 allocations
//
// # Alternatives
//
// The Jinja engine for Go reads `a in b + c` and a conditional in parentheses as errors, lets integers wrap, rounds // and %
// towards zero, goes through maps in an order that differs from run to run, and sets no limit to the work of an expression.
package jinja
