package expr

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/sluiceflow/sluice/template/value"
)

// operator combines two values that have both been evaluated.
type operator func(r *run, a, b value.Value) (value.Value, error)

// operators are those that evaluate both sides; and, or, ?? and matches are compiled on their own.
var operators = map[string]operator{
	"+": add,
	"-": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("subtract", a, b, subInt, subFloat)
	},
	"*": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("multiply", a, b, mulInt, mulFloat)
	},
	"/": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("divide", a, b, divInt, divFloat)
	},
	"%": modulo,
	"**": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("raise", a, b, powInt, powFloat)
	},
	"^": func(_ *run, a, b value.Value) (value.Value, error) {
		return arithmetic("raise", a, b, powInt, powFloat)
	},
	"==": func(r *run, a, b value.Value) (value.Value, error) { return r.equal(a, b) },
	"!=": func(r *run, a, b value.Value) (value.Value, error) { ok, err := r.equal(a, b); return !ok, err },
	"<":  func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n < 0, err },
	"<=": func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n <= 0, err },
	">":  func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n > 0, err },
	">=": func(r *run, a, b value.Value) (value.Value, error) { n, err := r.compare(a, b); return n >= 0, err },
	"in": in,
	"..": rangeOf,

	"contains": func(r *run, a, b value.Value) (value.Value, error) {
		return search(r, "contains", a, b, strings.Contains)
	},
	"startsWith": func(r *run, a, b value.Value) (value.Value, error) {
		return search(r, "startsWith", a, b, strings.HasPrefix)
	},
	"endsWith": func(r *run, a, b value.Value) (value.Value, error) {
		return search(r, "endsWith", a, b, strings.HasSuffix)
	},
}

// binary compiles an operator with two sides. With skipIsOK it stands on the left of ??, which matters if it is a ?? too.
func (c *compiler) binary(n *ast.BinaryNode, skipIsOK bool) node {
	switch n.Operator {
	case "and", "&&":
		return junction(n.Operator, c.compile(n.Left), c.compile(n.Right), false)
	case "or", "||":
		return junction(n.Operator, c.compile(n.Left), c.compile(n.Right), true)
	case "??":
		return coalesce(c.defaulted(n.Left, true), c.defaulted(n.Right, skipIsOK))
	case "matches":
		return c.matches(n)
	case "..":
		c.builds = true
	}
	op, ok := operators[n.Operator]
	if !ok {
		return c.fail(n, n.Operator, "", "unknown operator %q", n.Operator)
	}
	left, right := c.compile(n.Left), c.compile(n.Right)
	return func(r *run) (value.Value, error) {
		a, err := left(r)
		if err != nil {
			return nil, err
		}
		b, err := right(r)
		if err != nil {
			return nil, err
		}
		v, err := op(r, a, b)
		if err != nil {
			return nil, err
		}
		return v, nil
	}
}

// defaulted compiles what ?? gives a default for.
func (c *compiler) defaulted(n ast.Node, skipIsOK bool) node {
	switch n := n.(type) {
	case *ast.MemberNode, *ast.ChainNode:
		return c.chain(n, skipIsOK)
	case *ast.BinaryNode:
		if n.Operator == "??" {
			return c.binary(n, skipIsOK)
		}
	}
	return c.compile(n)
}

func coalesce(left, right node) node {
	return func(r *run) (value.Value, error) {
		v, err := left(r)
		if v != nil || err != nil {
			return v, err
		}
		return right(r)
	}
}

// junction is `and`, or `or` if stop is true: the right side is evaluated only if the left one does not decide.
func junction(name string, left, right node, stop bool) node {
	what := "both sides of " + name
	return func(r *run) (value.Value, error) {
		a, err := evalTruth(r, left, what)
		if err != nil || a == stop {
			return a, err
		}
		return evalTruth(r, right, what)
	}
}

func (c *compiler) unary(n *ast.UnaryNode) node {
	operand := c.compile(n.Node)
	switch n.Operator {
	case "not", "!":
		return func(r *run) (value.Value, error) {
			b, err := evalTruth(r, operand, "what is negated")
			return !b, err
		}
	case "-":
		return func(r *run) (value.Value, error) {
			v, err := operand(r)
			if err != nil {
				return nil, err
			}
			return arithmetic("subtract", int64(0), v, subInt, subFloat)
		}
	}
	return func(r *run) (value.Value, error) {
		v, err := operand(r)
		if err == nil && !isNumber(v) {
			err = fmt.Errorf("+ needs a number, not %s", show(v))
		}
		return v, err
	}
}

// errOverflow: the model has exact integers, so one that does not fit is a mistake, not a float that is nearly right.
var errOverflow = errors.New("the result is beyond the range of integers, which ends at ±9.2e18")

var errZero = errors.New("division by zero")

func isNumber(v value.Value) bool {
	switch v.(type) {
	case int64, float64:
		return true
	}
	return false
}

// float returns a number as a float64.
func float(v value.Value) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// arithmetic applies an operation to two integers or, if one of them is not, to two floats.
func arithmetic(verb string, a, b value.Value, ints func(a, b int64) (value.Value, error), floats func(a, b float64) (float64, error)) (value.Value, error) {
	if i, ok := a.(int64); ok {
		if j, ok := b.(int64); ok {
			return ints(i, j)
		}
	}
	x, okA := float(a)
	y, okB := float(b)
	if !okA || !okB {
		return nil, fmt.Errorf("cannot %s %s and %s", verb, value.Describe(a), value.Describe(b))
	}
	f, err := floats(x, y)
	if err != nil {
		return nil, err
	}
	return finite(f)
}

func add(r *run, a, b value.Value) (value.Value, error) {
	if s, ok := a.(string); ok {
		if t, ok := b.(string); ok {
			if err := r.grow(len(s) + len(t)); err != nil {
				return nil, err
			}
			return s + t, nil
		}
	}
	return arithmetic("add", a, b, addInt, addFloat)
}

func addInt(a, b int64) (value.Value, error) {
	if sum := a + b; (sum > a) == (b > 0) {
		return sum, nil
	}
	return nil, errOverflow
}

func addFloat(a, b float64) (float64, error) { return a + b, nil }

func subInt(a, b int64) (value.Value, error) {
	if diff := a - b; (diff < a) == (b > 0) {
		return diff, nil
	}
	return nil, errOverflow
}

func subFloat(a, b float64) (float64, error) { return a - b, nil }

func mulInt(a, b int64) (value.Value, error) {
	product, ok := multiply(a, b)
	if !ok {
		return nil, errOverflow
	}
	return product, nil
}

func multiply(a, b int64) (int64, bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	product := a * b
	// The second condition is the one product whose quotient overflows, too.
	return product, product/b == a && !(a == -1 && b == math.MinInt64) && !(b == -1 && a == math.MinInt64)
}

func mulFloat(a, b float64) (float64, error) { return a * b, nil }

// divInt is exact if it can be.
func divInt(a, b int64) (value.Value, error) {
	switch {
	case b == 0:
		return nil, errZero
	case b == -1:
		return subInt(0, a)
	case a%b == 0:
		return a / b, nil
	}
	return finite(float64(a) / float64(b))
}

func divFloat(a, b float64) (float64, error) {
	if b == 0 {
		return 0, errZero
	}
	return a / b, nil
}

func modulo(_ *run, a, b value.Value) (value.Value, error) {
	i, okA := a.(int64)
	j, okB := b.(int64)
	switch {
	case !okA || !okB:
		return nil, fmt.Errorf("%% needs two integers, not %s and %s", value.Describe(a), value.Describe(b))
	case j == 0:
		return nil, errZero
	}
	return i % j, nil
}

// powInt squares and multiplies: at most 64 rounds, because greater powers of anything but 0, 1 and -1 do not fit.
func powInt(base, exponent int64) (value.Value, error) {
	if exponent < 0 {
		if base == 0 {
			return nil, errZero
		}
		return finite(math.Pow(float64(base), float64(exponent)))
	}
	result, ok := int64(1), true
	for {
		if exponent&1 == 1 {
			if result, ok = multiply(result, base); !ok {
				return nil, errOverflow
			}
		}
		if exponent >>= 1; exponent == 0 {
			return result, nil
		}
		if base, ok = multiply(base, base); !ok {
			return nil, errOverflow
		}
	}
}

func powFloat(a, b float64) (float64, error) { return math.Pow(a, b), nil }

// compare pays for comparing long strings, and compares.
func (r *run) compare(a, b value.Value) (int, error) {
	if s, ok := a.(string); ok {
		if err := r.scan(len(s)); err != nil {
			return 0, err
		}
	}
	return compare(a, b)
}

// compare orders two numbers or two strings: below, equal or above as -1, 0 or 1.
func compare(a, b value.Value) (int, error) {
	switch a := a.(type) {
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), nil
		}
	case int64:
		switch b := b.(type) {
		case int64:
			return order(a, b), nil
		case float64:
			return compareMixed(a, b), nil
		}
	case float64:
		switch b := b.(type) {
		case int64:
			return -compareMixed(b, a), nil
		case float64:
			return order(a, b), nil
		}
	}
	return 0, fmt.Errorf("cannot compare %s with %s", value.Describe(a), value.Describe(b))
}

func order[N int64 | float64](a, b N) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// compareMixed compares exactly, also where a float64 cannot tell neighbouring integers apart. A float of the model is
// never equal to an integer: it has a fraction, or is beyond them.
func compareMixed(i int64, f float64) int {
	switch floor := math.Floor(f); {
	case floor >= 1<<63:
		return -1
	case floor < -1<<63:
		return 1
	case i <= int64(floor):
		return -1
	}
	return 1
}

// in looks for a in the elements of a list or the keys of an object; nothing is in null.
func in(r *run, a, b value.Value) (value.Value, error) {
	switch b := b.(type) {
	case nil:
		return false, nil
	case []any:
		if err := r.spend(len(b)); err != nil {
			return nil, err
		}
		for _, item := range b {
			if ok, err := r.equal(item, a); ok || err != nil {
				return ok, err
			}
		}
		return false, nil
	case map[string]any:
		if key, ok := a.(string); ok {
			_, found := b[key]
			return found, r.scan(len(key))
		}
		return nil, fmt.Errorf("a key must be a string, not %s", show(a))
	case string:
		return nil, errors.New("`in` looks into lists and objects; for text write a contains b")
	}
	return nil, fmt.Errorf("`in` needs a list or an object, not %s", value.Describe(b))
}

// rangeOf lists the integers from a to b, both included.
func rangeOf(r *run, a, b value.Value) (value.Value, error) {
	from, okA := a.(int64)
	to, okB := b.(int64)
	if !okA || !okB {
		return nil, fmt.Errorf("a range needs two integers, not %s and %s", value.Describe(a), value.Describe(b))
	}
	if from > to {
		return []any{}, nil
	}
	if size := uint64(to) - uint64(from); size >= MaxSteps { // in unsigned numbers, where it cannot overflow
		return nil, r.spend(MaxSteps + 1)
	}
	size := int(to-from) + 1
	if err := r.spend(size); err != nil {
		return nil, err
	}
	list, err := r.newList(size)
	if err != nil {
		return nil, err
	}
	for i := range size {
		list = append(list, from+int64(i))
	}
	return list, nil
}

// search is contains, startsWith and endsWith. Null contains nothing, and nothing contains null.
func search(r *run, name string, a, b value.Value, found func(s, sub string) bool) (value.Value, error) {
	s, t, ok, err := twoTexts(name, a, b)
	if !ok || err != nil {
		return false, err
	}
	return found(s, t), r.scan(len(s) + len(t))
}

// twoTexts returns two strings; ok is false if one of them is null.
func twoTexts(name string, a, b value.Value) (s, t string, ok bool, err error) {
	if a == nil || b == nil {
		return "", "", false, nil
	}
	s, okA := a.(string)
	t, okB := b.(string)
	if !okA || !okB {
		return "", "", false, fmt.Errorf("%s needs two strings, not %s and %s", name, value.Describe(a), value.Describe(b))
	}
	return s, t, true, nil
}

// pattern is a compiled regular expression and what it costs: RE2 takes time in proportion to text × program.
type pattern struct {
	*regexp.Regexp
	size int // instructions of its program
}

// patternMax bounds that program: a short text such as x{1000} can ask for a long one.
const patternMax = 10_000

func compilePattern(text string) (*pattern, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("malformed pattern %q: %w", clip(text), err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("malformed pattern %q: %w", clip(text), err)
	}
	if len(program.Inst) > patternMax {
		return nil, fmt.Errorf("the pattern %q is too complex: %w", clip(text), ErrLimit)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("malformed pattern %q: %w", clip(text), err)
	}
	return &pattern{re, len(program.Inst)}, nil
}

func (p *pattern) match(r *run, s string) (bool, error) {
	const stepsPerInstruction = 8 // simple patterns run much faster than the bound
	if len(s) > MaxSteps*stepsPerInstruction/p.size {
		return false, r.spend(MaxSteps + 1)
	}
	if err := r.spend(len(s) * p.size / stepsPerInstruction); err != nil {
		return false, err
	}
	return p.MatchString(s), nil
}

// matches compiles `a matches b`, the pattern once if it is written out.
func (c *compiler) matches(n *ast.BinaryNode) node {
	text := c.compile(n.Left)
	fixed, isFixed := n.Right.(*ast.StringNode)
	if isFixed {
		p, err := compilePattern(fixed.Value)
		if err != nil {
			return c.fail(n.Right, fixed.Value, "", "%v", err)
		}
		return func(r *run) (value.Value, error) {
			v, err := text(r)
			if err != nil {
				return nil, err
			}
			s, _, ok, err := twoTexts("matches", v, "")
			if !ok || err != nil {
				return false, err
			}
			return p.match(r, s)
		}
	}
	source := c.compile(n.Right)
	return func(r *run) (value.Value, error) {
		a, err := text(r)
		if err != nil {
			return nil, err
		}
		b, err := source(r)
		if err != nil {
			return nil, err
		}
		s, t, ok, err := twoTexts("matches", a, b)
		if !ok || err != nil {
			return false, err
		}
		return computedMatch(r, s, t)
	}
}

// computedMatch compiles a pattern on the way, which costs far more than a step for each byte of it.
func computedMatch(r *run, s, source string) (value.Value, error) {
	if len(source) > MaxLength {
		return nil, fmt.Errorf("a pattern of %d bytes: %w", len(source), ErrLimit)
	}
	if err := r.spend(500 + 50*len(source)); err != nil {
		return nil, err
	}
	p, err := compilePattern(source)
	if err != nil {
		return nil, err
	}
	if err := r.spend(20 * p.size); err != nil {
		return nil, err
	}
	return p.match(r, s)
}
