// Package expr is the language inside strings: text with {{ expressions }} in it, compiled once and evaluated often.
//
//	t, err := expr.Compile("{{ steps.solicit.output.price < input.limit }}", expr.Scope{Names: []string{"input"}})
//	ok, err := t.EvalBool(env)
//
// A string is literal unless it holds {{ }}. One that is a single expression and nothing else keeps the value's type;
// otherwise results are put into the text. CompileValue takes any value with such strings anywhere in it, and objects of
// the form {from: "/steps/id/output/key", required: true}, which are JSON pointers to the same names. A pointer to the output
// of a skipped step is null, unless required; in all else it is like the expression without a default.
//
//	text ──scan──▶ literal │ {{ source }} ──parse──▶ tree ──compile──▶ closures ──Eval(env)──▶ value
//	                                                    └─▶ Reads, Names: known before anything runs
//
// # Language
//
// The grammar is that of expr-lang (github.com/expr-lang/expr), whose parser is used; the meaning is given here, over the
// values of package value and nothing else. So a journal is read with the semantics that it was written with, whichever
// version of that library is in use: Version changes when a result may.
//
//	literals     1  0x2a  1.5  "a"  'a'  `raw`  true  false  nil (also null)  [1, 2]  {key: 1, "a b": 2, (expr): 3}
//	access       a.b  a["b"]  a[0]  a[-1]  a[1:3]  a?.b  a?.[0]
//	operators    + - * / % ** ^   == != < <= > >=   and && or || not !   in  not in  contains  startsWith  endsWith
//	             matches (RE2)   a..b (a range)   a ?? b   c ? a : b   a | f(b) (is f(a, b))
//	variables    let x = 1; x + 1          conditions   if c { a } else { b }
//	predicates   all any none one filter map find findIndex findLast findLastIndex count sum groupBy sortBy reduce
//	             with # for the item (.key is #.key), #index for its position, #acc for what reduce has so far
//	numbers      abs ceil floor round int float max min mean median
//	             bitand bitor bitxor bitnand bitnot bitshl bitshr bitushr
//	text         len upper lower trim trimPrefix trimSuffix split splitAfter replace repeat join indexOf lastIndexOf
//	             hasPrefix hasSuffix string toJSON fromJSON toQuery toBase64 fromBase64
//	lists        len first last take reverse sort uniq concat flatten
//	objects      len keys values toPairs fromPairs get
//	other        type
//
// What differs from expr-lang as it stands, and why: there is no now, date, duration or timezone, no method call and
// nothing else that depends on the surroundings, so evaluation can be repeated. Whole results are integers (4 / 2 is 2),
// and overflow and division by zero are errors, because the model has neither wrapped integers nor infinities. Equality
// and in compare values ([1] == [1.0]); null takes part in == and != alone: under any other operator it is an error, so also
// on either side of in, contains, startsWith, endsWith and matches. Strings consist of code points, in len, indexes and slices alike. sort and sortBy
// are stable, keys, values and toPairs sorted by key, groupBy gives an object keyed by text; toJSON is compact. After a ?.
// that met null, the rest of the chain is null, brackets included. As there, the braces of a predicate are not an object:
// map(list, {{id: #}}) makes objects.
//
// # Steps
//
// steps.<id>.<field> (or steps["id"].<field>) reads a step; the id is always written out, so that what a text reads is
// known before anything runs. It is read when it is evaluated and not before: a branch not taken reads nothing. The output
// of a skipped step, or of one whose failure was caught, is an error, except on the left of ??, where a member chain over it
// is null. Other errors pass ??.
//
// # Guards
//
// A condition that decides where a run goes reads what may not be there yet, so EvalBool evaluates it as a guard, where null
// is no mistake:
//
//	ctx.order.paid == true      a member of null is null: does not hold when there is no order
//	ctx.order.paid != true      and its opposite does
//	ctx.approved                null does not hold: neither by itself nor in and, or, a condition or a predicate
//	not ctx.approved            so this holds
//	ctx.order.total > 3         an error: other operators and functions take no null, here as elsewhere
//
// Everything else is as in Eval: a guard that gives no boolean is an error, as is a name that is not in scope, and the
// output of a step that has none. In Eval, a member of null and null as a condition are errors.
//
// # Limits
//
// No text can make a run hang or exhaust memory: an expression is at most MaxLength bytes and MaxNodes nodes, and one
// evaluation may do MaxSteps steps and make values of MaxBytes. A step is one node of a predicate's body for one item, or
// one element that a function goes through. ErrLimit says that a limit has been met.
//
// # Contracts
//
// A Template is immutable and safe for concurrent use. Evaluation is deterministic: the same template and the same
// environment give the same value or the same error text. Results may share memory with the environment; neither may be
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
