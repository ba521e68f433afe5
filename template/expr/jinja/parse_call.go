package jinja

import (
	"slices"

	"github.com/sluiceflow/sluice/template/expr"
)

// Calls by name, with their arguments.
type (
	arguments struct {
		list  []node
		names []string
		named []node
		more  node // *more: further positional ones; nil: none
		under node // **under: further ones by name; nil: none
	}
	filtered struct {
		of   node
		name string
		args arguments
	}
	tested struct {
		of   node
		name string
		args arguments
	}
	method struct {
		of   node
		name string
		args arguments
	}
	function struct {
		name string
		args arguments
	}
)

// postfix reads the operators of the highest precedence: fields, indexes and calls.
func (p *parser) postfix(n node) node {
	at := p.tokens[p.at-1].at // of the last name
	for {
		switch {
		case p.take(symbol, "."):
			key := p.next()
			at = key.at
			switch {
			case key.kind == name:
				n = p.made(attribute{n, key.text})
			case key.kind == number && integerForm.FindString(key.text) == key.text:
				n = p.made(item{n, literal{p.number(key)}})
			default:
				p.back(key)
				p.unexpected()
			}
		case p.take(symbol, "["):
			n = p.subscript(n)
		case p.take(symbol, "("):
			n = p.call(n, at)
		default:
			return n
		}
	}
}

// subscript reads an index, or the bounds of a slice.
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
	switch {
	case i > 0:
		p.expect("]")
		return p.made(slice{n, parts})
	case parts[0] == nil:
		p.fail(p.peek().at, "an index is missing")
	case p.take(symbol, ","): // a key that is a tuple
		key := listing{[]node{parts[0]}, true}
		key.items = append(key.items, p.conditional())
		for p.take(symbol, ",") {
			key.items = append(key.items, p.conditional())
		}
		parts[0] = p.made(key)
	}
	p.expect("]")
	return p.made(item{n, parts[0]})
}

// call reads the arguments of a method or a function whose name is at a position.
func (p *parser) call(n node, at int) node {
	switch f := n.(type) {
	case attribute:
		if other, ok := changing[f.key]; ok {
			p.fail(at, "%s changes what it is a method of, and no value is ever changed: write %s", f.key, other)
		}
		kinds := methodsOf[f.key]
		if len(kinds) == 0 {
			p.refuseUnknown("method", f.key, at, methodNames)
		}
		a := p.arguments()
		p.fits("method", f.key, at, a, kinds...)
		return p.made(method{f.of, f.key, a})
	case variable:
		c := p.known("function", f.name, at, functions, functionNames)
		a := p.arguments()
		p.fits("function", f.name, at, a, c)
		return p.made(function{f.name, a})
	}
	p.fail(at, "only methods and functions can be called")
	return nil
}

func (p *parser) known(what, name string, at int, known map[string]callable, names []string) callable {
	c, ok := known[name]
	if !ok {
		p.refuseUnknown(what, name, at, names)
	}
	return c
}

// unsupported are parts of Jinja that are not supported, and the reasons.
var unsupported = map[string]string{
	"filter random":      "a run must come to the same when it is read again",
	"function lipsum":    "a run must come to the same when it is read again",
	"function cycler":    "no value is ever changed",
	"function joiner":    "no value is ever changed",
	"function namespace": "no value is ever changed",
	"method encode":      "there are no bytes, only strings",
	"method to_bytes":    "there are no bytes, only strings",
}

// refuseUnknown refuses an unknown name.
func (p *parser) refuseUnknown(what, name string, at int, names []string) {
	if why, ok := unsupported[what+" "+name]; ok {
		p.fail(at, "%s %s is left out: %s", what, name, why)
	}
	near, _ := expr.Nearest(name, names)
	p.fail(at, "%s", unknown(what, name, near))
}

// fits checks literal argument lists: one of the callables with that name must accept them.
func (p *parser) fits(what, name string, at int, a arguments, callables ...callable) {
	if a.more != nil || a.under != nil {
		return // checked when it is called
	}
	wrong := ""
	for _, c := range callables {
		if wrong = c.misfit(len(a.list), a.names); wrong == "" {
			return
		}
	}
	p.fail(at, "%s %s %s", what, name, wrong)
}

// arguments reads the list after an opening parenthesis.
func (p *parser) arguments() arguments {
	var a arguments
	for !p.take(symbol, ")") {
		t := p.peek()
		switch {
		case a.under == nil && p.take(symbol, "**"):
			a.under = p.conditional()
		case a.under == nil && a.more == nil && p.take(symbol, "*"):
			a.more = p.conditional()
		case a.under == nil && t.kind == name && p.tokens[p.at+1].is(symbol, "="):
			p.at += 2
			a.names = append(a.names, t.text)
			a.named = append(a.named, p.conditional())
		case a.under == nil && a.more == nil && a.names == nil:
			a.list = append(a.list, p.conditional())
		default:
			p.fail(t.at, "an argument without a name stands before those with one")
		}
		if !p.is(symbol, ")") {
			p.expect(",")
		}
	}
	return a
}

// filters reads the filters and tests after a value.
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

// word reads the name of a filter or a test.
func (p *parser) word() token {
	t := p.next()
	if t.kind != name {
		p.back(t)
		p.unexpected()
	}
	return t
}

func (p *parser) filter(n node) node {
	t := p.word()
	c := p.known("filter", t.text, t.at, filters, filterNames)
	var args arguments
	if p.take(symbol, "(") {
		args = p.arguments()
	}
	p.fits("filter", t.text, t.at, args, c)
	switch t.text {
	case "map":
		p.applying("filter", t.at, filters, filterNames, args, 0)
	case "select", "reject":
		p.applying("test", t.at, tests, testNames, args, 0)
	case "selectattr", "rejectattr":
		p.applying("test", t.at, tests, testNames, args, 1)
	case "e", "escape":
		if isEscaped(n) {
			return n
		}
	}
	return p.made(filtered{n, t.text, args})
}

// applying checks the filter or test that is the i-th argument of map or select, if it is literal, so that a misspelling is
// found when a document is read.
func (p *parser) applying(what string, at int, known map[string]callable, names []string, a arguments, i int) {
	if i >= len(a.list) {
		return
	}
	l, _ := a.list[i].(literal)
	if name, ok := l.v.(string); ok {
		a.list = a.list[i+1:]
		p.fits(what, name, at, a, p.known(what, name, at, known, names))
	}
}

// test reads the test behind `is`. An argument may be written without parentheses.
func (p *parser) test(n node) node {
	not := p.take(name, "not")
	t := p.word()
	c := p.known("test", t.text, t.at, tests, testNames)
	var args arguments
	switch next := p.peek(); {
	case p.take(symbol, "("):
		args = p.arguments()
	case p.is(name, "is", "in", "not", "if"): // which Jinja takes as an argument
		p.fail(next.at, "behind a test there is no %q: put the test in parentheses", next.text)
	case next.kind == text || next.kind == number || p.is(symbol, "[", "{"),
		next.kind == name && !p.is(name, "else", "or", "and"):
		args.list = []node{p.postfix(p.primary())}
	}
	p.fits("test", t.text, t.at, args, c)
	if t.text == "escaped" {
		args.list = []node{literal{isEscaped(n)}}
	}
	tested := p.made(tested{n, t.text, args})
	if not {
		return p.made(negation{tested})
	}
	return tested
}

// escaping are the filters whose result is marked as safe HTML; marking are those that only change letters, and keep the
// mark.
var (
	escaping   = []string{"e", "escape", "forceescape", "safe", "tojson", "to_json"}
	preserving = []string{"string", "lower", "upper", "capitalize", "trim", "center"}
)

// isEscaped reports whether a node returns a text that is marked as safe HTML.
func isEscaped(n node) bool {
	f, ok := n.(filtered)
	return ok && (slices.Contains(escaping, f.name) || slices.Contains(preserving, f.name) && isEscaped(f.of))
}
