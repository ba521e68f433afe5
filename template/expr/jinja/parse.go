package jinja

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/template/expr"
)

// depthMax bounds how deep an expression nests.
const depthMax = 100

// parser makes a tree of tokens. The methods go from what binds least to what binds closest.
type parser struct {
	tokens []token
	at     int
	depth  int
	nodes  int
	names  []string
	builds bool // it makes lists or objects
}

// parse makes the tree of an expression, and gives the parser for what else it has learnt.
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
	n = p.conditional()
	if p.peek().kind != end {
		p.unexpected()
	}
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

// back gives a token back.
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

// unary reads a sign and what it is before. Filters of `-x | abs` are of the whole.
func (p *parser) unary(filtered bool) node {
	p.enter()
	defer func() { p.depth-- }()
	var n node
	if p.is(symbol, "-", "+") {
		n = p.made(sign{p.next().text == "-", p.unary(false)})
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
			return p.parenthesis()
		case "[":
			return p.made(listing{p.list("]")})
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
	case "none", "None", "null":
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
	base := 10
	if based(t.text) {
		base = 0
	}
	i, err := strconv.ParseInt(t.text, base, 64)
	if err == nil {
		return i
	}
	f, wrong := strconv.ParseFloat(t.text, 64)
	if wrong != nil || base == 0 || errors.Is(err, strconv.ErrRange) {
		p.fail(t.at, "%s is no number that can be reckoned with", t.text)
	}
	return whole(f)
}

// parenthesis reads an expression in parentheses, or a tuple, which is a list.
func (p *parser) parenthesis() node {
	if p.take(symbol, ")") {
		return p.made(listing{})
	}
	n := p.conditional()
	if p.take(symbol, ")") {
		return n
	}
	p.expect(",")
	return p.made(listing{append([]node{n}, p.list(")")...)})
}

// list reads expressions up to a closing bracket; a comma may follow the last.
func (p *parser) list(closing string) []node {
	var list []node
	for !p.take(symbol, closing) {
		list = append(list, p.conditional())
		if !p.is(symbol, closing) {
			p.expect(",")
		}
	}
	return list
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

func (p *parser) postfix(n node) node {
	at := p.tokens[p.at-1].at // of the last name
	for {
		switch {
		case p.take(symbol, "."):
			key := p.next()
			at = key.at
			if key.kind != name && key.kind != number {
				p.back(key)
				p.unexpected()
			}
			if key.kind == number {
				n = p.made(item{n, literal{p.number(key)}})
				continue
			}
			n = p.made(attribute{n, key.text})
		case p.take(symbol, "["):
			n = p.subscript(n)
		case p.take(symbol, "("):
			n = p.call(n, at)
		default:
			return n
		}
	}
}

func (p *parser) subscript(n node) node {
	var parts [3]node
	i := 0
	for ; i < 3; i++ {
		if !p.is(symbol, ":", "]") {
			parts[i] = p.conditional()
		}
		if !p.take(symbol, ":") {
			break
		}
	}
	p.expect("]")
	if i == 0 {
		if parts[0] == nil {
			p.fail(p.peek().at, "an index is missing")
		}
		return p.made(item{n, parts[0]})
	}
	return p.made(slice{n, parts})
}

// call reads the arguments of a method or a function whose name stands at a place.
func (p *parser) call(n node, at int) node {
	switch f := n.(type) {
	case attribute:
		return p.made(method{f.of, f.key, p.applied("method", f.key, at, methods, methodNames)})
	case variable:
		return p.made(function{f.name, p.applied("function", f.name, at, functions, functionNames)})
	}
	p.fail(at, "only methods and functions can be called")
	return nil
}

// applied reads the arguments of something that is called by name, behind the opening parenthesis.
func (p *parser) applied(what, name string, at int, known map[string]callable, names []string) arguments {
	c := p.known(what, name, at, known, names)
	a := p.arguments()
	p.fits(c, what, name, at, a)
	return a
}

func (p *parser) known(what, name string, at int, known map[string]callable, names []string) callable {
	c, ok := known[name]
	if !ok {
		near, _ := expr.Nearest(name, names)
		p.fail(at, "%s", unknown(what, name, near))
	}
	return c
}

func (p *parser) fits(c callable, what, name string, at int, a arguments) {
	if wrong := c.misfit(len(a.list), a.names); wrong != "" {
		p.fail(at, "%s %s %s", what, name, wrong)
	}
}

// arguments reads what stands behind an opening parenthesis.
func (p *parser) arguments() arguments {
	var a arguments
	for !p.take(symbol, ")") {
		t := p.peek()
		if t.kind == name && p.tokens[p.at+1].kind == symbol && p.tokens[p.at+1].text == "=" {
			p.at += 2
			a.names = append(a.names, t.text)
			a.named = append(a.named, p.conditional())
		} else {
			a.list = append(a.list, p.conditional())
		}
		if !p.is(symbol, ")") {
			p.expect(",")
		}
	}
	return a
}

// filters reads what follows a value: filters and tests.
func (p *parser) filters(n node) node {
	for {
		switch {
		case p.take(symbol, "|"):
			n = p.filter(n)
		case p.take(name, "is"):
			n = p.test(n)
		default:
			return n
		}
	}
}

func (p *parser) filter(n node) node {
	t := p.next()
	if t.kind != name {
		p.back(t)
		p.unexpected()
	}
	c := p.known("filter", t.text, t.at, filters, filterNames)
	var args arguments
	if p.take(symbol, "(") {
		args = p.arguments()
	}
	p.fits(c, "filter", t.text, t.at, args)
	switch t.text {
	case "map":
		p.applying("filter", t.at, filters, filterNames, args, 0)
	case "select", "reject":
		p.applying("test", t.at, tests, testNames, args, 0)
	case "selectattr", "rejectattr":
		p.applying("test", t.at, tests, testNames, args, 1)
	}
	return p.made(filtered{n, t.text, args})
}

// applying checks the filter or test that is the i-th argument of map or select, if it is written out: nobody should have to
// run a document to learn of a slip of the pen.
func (p *parser) applying(what string, at int, known map[string]callable, names []string, a arguments, i int) {
	if i >= len(a.list) {
		return
	}
	l, _ := a.list[i].(literal)
	if name, ok := l.v.(string); ok {
		c := p.known(what, name, at, known, names)
		p.fits(c, what, name, at, arguments{list: a.list[i+1:], names: a.names})
	}
}

// test reads what follows `is`. An argument may stand without parentheses.
func (p *parser) test(n node) node {
	not := p.take(name, "not")
	t := p.next()
	if t.kind != name {
		p.back(t)
		p.unexpected()
	}
	c := p.known("test", t.text, t.at, tests, testNames)
	var args arguments
	switch next := p.peek(); {
	case p.take(symbol, "("):
		args = p.arguments()
	case next.kind == text || next.kind == number || p.is(symbol, "[", "{"),
		next.kind == name && !p.is(name, "if", "else", "or", "and", "not", "in", "is"):
		args.list = []node{p.postfix(p.primary())}
	}
	p.fits(c, "test", t.text, t.at, args)
	tested := p.made(tested{n, t.text, args})
	if not {
		return p.made(negation{tested})
	}
	return tested
}
