// Package expr implements the language in strings: text with {{ expressions }}, compiled once and evaluated often.
//
//	t, err := expr.Compile("{{ steps.solicit.output.price < input.limit }}", expr.Scope{Names: []string{"input"}})
//	ok, err := t.EvalBool(env)
//
// A string is literal unless it contains {{ }}. A string that is a single expression keeps the type of its value; otherwise
// results are inserted into the text. CompileValue compiles any value with such strings, and objects of the form {from:
// "/steps/id/output/key", required: true}, which are JSON pointers to the same names. A pointer to the output of a skipped
// step is null, unless required; otherwise it is like the expression without a default.
//
//	text ──scan──▶ literal │ {{ source }} ──parse──▶ tree ──compile──▶ closures ──Eval(env)──▶ value
//	                                                    └─▶ Reads, Names: known before anything runs
//
// # Language
//
// The grammar is that of expr-lang (github.com/expr-lang/expr), whose parser is used; the semantics are defined here, over
// the values of package value. So a journal is read with the semantics with which it was written, whichever version of that
// library is used: Version changes when a result may.
//
//	literals     1  0x2a  1.5  "a"  'a'  `raw`  true  false  nil (also null)  [1, 2]  {key: 1, "a b": 2, (expr): 3}
//	access       a.b  a["b"]  a[0]  a[-1]  a[1:3]  a?.b  a?.[0]
//	operators    + - * / % ** ^   == != < <= > >=   and && or || not !   in  not in  contains  startsWith  endsWith
//	             matches (RE2)   a..b (a range)   a ?? b   c ? a : b   a | f(b) (is f(a, b))
//	variables    let x = 1; x + 1          conditions   if c { a } else { b }
//	predicates   all any none one filter map find findIndex findLast findLastIndex count sum groupBy sortBy reduce
//	             with # for the item (.key is #.key), #index for its position, #acc for the value of reduce so far
//	numbers      abs ceil floor round int float max min mean median
//	             bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr
//	text         len upper lower trim trimPrefix trimSuffix split splitAfter replace repeat join indexOf lastIndexOf
//	             hasPrefix hasSuffix string toJSON fromJSON toQuery toBase64 fromBase64
//	lists        len first last take reverse sort uniq concat flatten
//	objects      len keys values toPairs fromPairs get
//	other        type
//
// Differences from expr-lang, and their reasons: there is no now, date, duration or timezone, no method call and nothing
// else that depends on the environment, so evaluation can be repeated. Whole results are integers (4 / 2 is 2), and overflow
// and division by zero are errors, because the model has neither wrapped integers nor infinities. Equality and in compare
// values ([1] == [1.0]); null is allowed only with == and !=: with any other operator it is an error, also on either side of
// in, contains, startsWith, endsWith and matches. Strings consist of code points, in len, indexes and slices alike. sort and
// sortBy are stable, keys, values and toPairs sorted by key, groupBy returns an object with text keys; toJSON is compact.
// After a ?. on null, the rest of the chain is null, brackets included. As there, the braces of a predicate are not an
// object: map(list, {{id: #}}) makes objects.
//
// # Steps
//
// steps.<id>.<field> (or steps["id"].<field>) reads a step; the id is always literal, so that reads are known before
// anything runs. The step is read only when the expression is evaluated: a branch not taken reads nothing. The output of a
// skipped step, or of one whose failure was caught, is an error, except on the left of ??, where a member chain on it is
// null. Other errors pass through ??.
//
// # Guards
//
// A condition that decides the path of a run may read values that do not exist yet, so EvalBool evaluates it as a guard, in
// which null is allowed:
//
//	ctx.order.paid == true      a member of null is null: does not hold when there is no order
//	ctx.order.paid != true      and its opposite does
//	ctx.approved                null does not hold: neither by itself nor in and, or, a condition or a predicate
//	not ctx.approved            so this holds
//	ctx.order.total > 3         an error: other operators and functions take no null, here as elsewhere
//
// Everything else is as in Eval: a guard that returns no boolean is an error, and so are a name that is not in scope and the
// output of a step without one. In Eval, a member of null and null as a condition are errors.
//
// # Limits
//
// No text can make a run hang or exhaust memory: an expression has at most MaxLength bytes and MaxNodes nodes, and one
// evaluation takes at most MaxSteps steps and makes values of at most MaxBytes. A step is one node of a predicate's body for
// one item, or one element that a function visits. ErrLimit means that a limit was exceeded.
//
// # Contracts
//
// A Template is immutable and safe for concurrent use. Evaluation is deterministic: the same template and the same
// environment return the same value or the same error text. Results may share memory with the environment; neither may be
// changed.
//
// # Cost
//
// BenchmarkEval and BenchmarkCompile, best of several runs on a busy 2-core virtual machine:
//
//	{{ input.order.price }}                                      0.11 µs    1 allocation
//	{{ steps.solicit.output.price < input.limit }}               0.10 µs    1 allocation
//	{{ input.name }} has {{ input.limit }}                       0.36 µs    6 allocations
//	{{ len(filter(input.list, .n > 9)) }} of 1,000 items         59 µs      16 allocations
//	compiling the second of them                                 7 µs      49 allocations
package expr
