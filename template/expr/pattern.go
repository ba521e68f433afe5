package expr

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"

	"github.com/sluiceflow/sluice/template/value"
)

// pattern is a compiled regular expression with its cost: RE2 takes time in proportion to text × program.
type pattern struct {
	*regexp.Regexp
	size int // instructions of its program
}

// patternMax bounds that program: a short text such as x{1000} can make a long one.
const patternMax = 10_000

// compilePattern measures the program before it is made, at the cost of one more parse.
func compilePattern(text string) (*pattern, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, fmt.Errorf("malformed pattern %s: %w", Quote(text), err)
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, fmt.Errorf("malformed pattern %s: %w", Quote(text), err)
	}
	if len(program.Inst) > patternMax {
		return nil, fmt.Errorf("the pattern %s is too complex: %w", Quote(text), ErrLimit)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("malformed pattern %s: %w", Quote(text), err)
	}
	return &pattern{re, len(program.Inst)}, nil
}

// match pays for text × program in advance, by a division first because the product may not fit.
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

// matches compiles `a matches b`, with a literal pattern compiled once.
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
			s, _, err := twoTexts("matches", v, "")
			if err != nil {
				return nil, err
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
		s, t, err := twoTexts("matches", a, b)
		if err != nil {
			return nil, err
		}
		return computedMatch(r, s, t)
	}
}

// computedMatch compiles a pattern at evaluation, which costs far more than a step for each byte of it.
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
