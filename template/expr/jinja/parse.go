package jinja

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/expr"
)

// depthMax bounds how deep an expression nests.
const depthMax = 100

// parser makes a tree of tokens. Its methods are ordered by increasing precedence.
type parser struct {
	tokens []token
	at     int
	depth  int
	nodes  int
	names  []string
	builds bool // the expression makes lists or objects
}

// parse makes the tree of an expression, and returns the parser for its other findings.
func parse(src string) (n node, p *parser, err *fault) {
	tokens, err := lex(src)
	if err != nil {
		return nil, nil, err
	}
	p = &parser{tokens: tokens}
	defer func() {
		if f, ok := recover().(*fault); ok {
			n, err = nil, f
		} else if !ok && n == nil {
			panic("jinja: a tree without a root")
		}
	}()
	if p.peek().kind == end {
		p.unexpected()
	}
	n = p.elements(end, "")
	return n, p, nil
}

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.tokens[p.at]
	if t.kind != end {
		p.at++
	}
	return t
}

// back makes a token the next one again.
func (p *parser) back(t token) {
	if t.kind != end {
		p.at--
	}
}

func (p *parser) fail(at int, format string, args ...any) {
	panic(&fault{at, fmt.Sprintf(format, args...)})
}

func (p *parser) unexpected() {
	t := p.peek()
	if t.kind == end {
		p.fail(t.at, "unexpected end")
	}
	hint := ""
	if t.kind == symbol {
		hint = didYouMean(foreign[t.text])
	}
	p.fail(t.at, "unexpected %q%s", t.text, hint)
}

// is reports whether the next token is one of these words or symbols.
func (p *parser) is(k kind, texts ...string) bool {
	t := p.peek()
	return t.kind == k && slices.Contains(texts, t.text)
}

func (p *parser) take(k kind, texts ...string) bool {
	if p.is(k, texts...) {
		p.at++
		return true
	}
	return false
}

func (p *parser) expect(s string) {
	if !p.take(symbol, s) {
		p.unexpected()
	}
}

// made counts a node.
func (p *parser) made(n node) node {
	if p.nodes++; p.nodes > expr.MaxNodes {
		p.fail(p.peek().at, "an expression has at most %d parts", expr.MaxNodes)
	}
	switch n.(type) {
	case listing, object, arithmetic, filtered, method, function:
		p.builds = true
	}
	return n
}

func (p *parser) enter() {
	if p.depth++; p.depth > depthMax {
		p.fail(p.peek().at, "an expression nests at most %d deep", depthMax)
	}
}

func (p *parser) conditional() node {
	p.enter()
	defer func() { p.depth-- }()
	n := p.or()
	for p.take(name, "if") {
		c := choice{test: p.or(), yes: n, no: undefinedLiteral{}}
		if p.take(name, "else") {
			c.no = p.conditional()
		}
		n = p.made(c)
	}
	return n
}

func (p *parser) or() node {
	n := p.and()
	for p.take(name, "or") {
		n = p.made(logic{n, p.and(), true})
	}
	return n
}

func (p *parser) and() node {
	n := p.not()
	for p.take(name, "and") {
		n = p.made(logic{n, p.not(), false})
	}
	return n
}

func (p *parser) not() node {
	if p.take(name, "not") {
		p.enter()
		defer func() { p.depth-- }()
		return p.made(negation{p.not()})
	}
	return p.comparison()
}

func (p *parser) comparison() node {
	first := p.sum()
	var links []link
	for {
		t := p.peek()
		switch {
		case p.take(symbol, "==", "!=", "<", "<=", ">", ">="):
			links = append(links, link{t.text, p.sum()})
		case p.take(name, "in"):
			links = append(links, link{"in", p.sum()})
		case p.is(name, "not") && p.tokens[p.at+1].kind == name && p.tokens[p.at+1].text == "in":
			p.at += 2
			links = append(links, link{"not in", p.sum()})
		case links == nil:
			return first
		default:
			return p.made(comparison{first, links})
		}
	}
}

func (p *parser) binary(below func() node, ops ...string) node {
	n := below()
	for p.is(symbol, ops...) {
		op := p.next().text
		n = p.made(arithmetic{op, n, below()})
	}
	return n
}

func (p *parser) sum() node     { return p.binary(p.joined, "+", "-") }
func (p *parser) joined() node  { return p.binary(p.product, "~") }
func (p *parser) product() node { return p.binary(p.power, "*", "/", "//", "%") }
func (p *parser) power() node   { return p.binary(func() node { return p.unary(true) }, "**") }

// unary reads a sign and its operand. Filters of `-x | abs` apply to the whole.
func (p *parser) unary(filtered bool) node {
	var n node
	if p.is(symbol, "-", "+") {
		p.enter()
		n = p.made(sign{p.next().text == "-", p.unary(false)})
		p.depth--
	} else {
		n = p.primary()
	}
	n = p.postfix(n)
	if filtered {
		n = p.filters(n)
	}
	return n
}

func (p *parser) primary() node {
	t := p.next()
	switch t.kind {
	case name:
		return p.named(t)
	case text:
		s := t.text
		for p.peek().kind == text {
			s += p.next().text
		}
		return p.made(literal{s})
	case number:
		return p.made(literal{p.number(t)})
	case symbol:
		switch t.text {
		case "(":
			return p.elements(symbol, ")")
		case "[":
			return p.list()
		case "{":
			return p.dict()
		}
	}
	p.back(t)
	p.unexpected()
	return nil
}

func (p *parser) named(t token) node {
	switch t.text {
	case "true", "True":
		return p.made(literal{true})
	case "false", "False":
		return p.made(literal{false})
	case "none", "None":
		return p.made(literal{nil})
	case "if", "else", "and", "or", "not", "in", "is":
		p.back(t)
		p.unexpected()
	}
	if !slices.Contains(p.names, t.text) && !(isFunction(t.text) && p.is(symbol, "(")) {
		p.names = append(p.names, t.text)
	}
	return p.made(variable{t.text})
}

func (p *parser) number(t token) any {
	i, err := strconv.ParseInt(t.text, 0, 64)
	if err == nil {
		return i
	}
	f, wrong := strconv.ParseFloat(strings.ReplaceAll(t.text, "_", ""), 64)
	if wrong != nil || errors.Is(err, strconv.ErrRange) {
		p.fail(t.at, "%s is out of range", t.text)
	}
	return f
}

// elements reads a value, or a tuple if there is a comma, up to the closing token.
func (p *parser) elements(k kind, closing string) node {
	var list []node
	for !p.is(k, closing) {
		list = append(list, p.conditional())
		if len(list) == 1 && p.take(k, closing) {
			return list[0]
		}
		if !p.is(k, closing) {
			p.expect(",")
		}
	}
	p.at++
	return p.made(listing{list, true})
}

func (p *parser) list() node {
	var list []node
	for !p.take(symbol, "]") {
		list = append(list, p.conditional())
		if !p.is(symbol, "]") {
			p.expect(",")
		}
	}
	return p.made(listing{list, false})
}

func (p *parser) dict() node {
	var d object
	for !p.take(symbol, "}") {
		d.keys = append(d.keys, p.conditional())
		p.expect(":")
		d.values = append(d.values, p.conditional())
		if !p.is(symbol, "}") {
			p.expect(",")
		}
	}
	return p.made(d)
}
