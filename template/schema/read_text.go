package schema

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/template/document"
)

// textReader reads a type from a text:
//
//	type = name | ("list" | "set" | "option") "<" type ">" | "map" "<" type "," type ">"
type textReader struct {
	r    *reader
	node *document.Node
	rest string // the text behind
}

// readText reads the name of a type, or one such as list<Order>.
func (r *reader) readText(n *document.Node, text string) *Type {
	p := &textReader{r: r, node: n, rest: text}
	t, ok := p.read(0)
	if rest := strings.TrimSpace(p.rest); ok && rest != "" {
		p.refuse(fmt.Sprintf("unexpected %s after the type", document.Quote(rest)))
	}
	return t
}

func (p *textReader) refuse(msg string) {
	p.r.refuse(p.node, msg)
}

// read reads a type with levels types around it. It reports false if nothing that follows can be read.
func (p *textReader) read(levels int) (*Type, bool) {
	if levels >= DepthMax {
		p.r.faults.Add(tooDeep(p.node.Pos))
		return &Type{}, false
	}
	word := p.word()
	kind := wordKinds[word]
	switch {
	case word == "":
		p.refuse(p.found("a type is missing"))
		return &Type{}, false
	case p.take("<"):
		return p.generic(word, kind, levels)
	case kind.isPlain():
		return p.new(kind), true
	case kind == Record, kind == Variant:
		p.refuse(fmt.Sprintf("%q has parts: write {%s: {name: text}}", word, word))
		return &Type{}, true
	case kind == Map:
		p.refuse(`"map" has parts: write map<text, int>`)
		return &Type{}, true
	case kind != Invalid:
		p.refuse(fmt.Sprintf("%q has a part: write %s<text>", word, word))
		return &Type{}, true
	}
	if t := p.r.types.Lookup(word); t != nil {
		return t, true
	}
	p.r.unknown(p.node.Pos, word, p.r.names)
	return &Type{}, true
}

// generic reads the text between angle brackets, after the first.
func (p *textReader) generic(word string, kind Kind, levels int) (*Type, bool) {
	switch kind {
	case List, Set, Option, Map:
	default:
		p.noGeneric(word, kind)
		return &Type{}, false
	}
	t := p.new(kind)
	ok := true
	if kind == Map {
		if t.Key, ok = p.part(levels + 1); ok && !p.take(",") {
			p.refuse(p.found("map has a key and a value: write map<text, int>"))
			ok = false
		}
	}
	if ok {
		t.Elem, ok = p.part(levels + 1)
	}
	switch {
	case !ok:
		return &Type{}, false
	case !p.take(">"):
		p.refuse(p.found(fmt.Sprintf("%s needs its closing >", kind)))
		return &Type{}, false
	}
	return t, true
}

// noGeneric refuses a word before an angle bracket.
func (p *textReader) noGeneric(word string, kind Kind) {
	if kind != Invalid || p.r.types.Lookup(word) != nil {
		p.refuse(fmt.Sprintf("%s has nothing in angle brackets: only list, set, option and map have", document.Quote(word)))
		return
	}
	p.r.unknown(p.node.Pos, word, func(yield func(string) bool) {
		_ = yield("list") && yield("set") && yield("option") && yield("map")
	})
}

// part is read for a type within another.
func (p *textReader) part(levels int) (*Type, bool) {
	t, ok := p.read(levels)
	if t.Kind == System {
		p.refuse(fmt.Sprintf("%s can only be the type of an arm of a variant", document.Quote(t.Name)))
		t = &Type{}
	}
	return t, ok
}

func (p *textReader) new(kind Kind) *Type {
	t := &Type{Kind: kind}
	p.r.places[t] = p.node.Pos
	return t
}

// word takes characters that are neither space nor punctuation.
func (p *textReader) word() string {
	p.rest = strings.TrimLeft(p.rest, " ")
	end := strings.IndexAny(p.rest, " <>,")
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

// take takes a punctuation mark. It reports false if the mark is not there.
func (p *textReader) take(mark string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(p.rest, " "), mark)
	if ok {
		p.rest = rest
	}
	return ok
}

// found appends to a message the text found in the wrong place.
func (p *textReader) found(msg string) string {
	if rest := strings.TrimSpace(p.rest); rest != "" {
		return msg + ", found " + document.Quote(rest)
	}
	return msg
}
