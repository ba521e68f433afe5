package document

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// guard checks YAML token by token, before it is parsed. The parser takes a second for a few thousand levels of nesting and
// shares aliased nodes, so 300 bytes could expand beyond any memory. Tokens are cheap and do not nest.
//
// Invariants:
//
//  1. open contains the block collections around the current token, in ascending order of columns;
//  2. len(open)+len(flow) is the depth of the next node, and never exceeds the limit.
type guard struct {
	r    *reading
	docs []token.Tokens // completed so far
	open []block
	flow []token.Type // open brackets and braces

	ended *token.Token // the marker that ended the last document
	last  *token.Token // the preceding token, without comments
	next  *token.Token // the following token; nil at the end
}

// block is an open block mapping or sequence: its column and the number of its entries so far.
type block struct {
	col     int
	kind    Kind
	entries int
}

// tokens splits text into the token lists of its documents, without comments. It returns nil if it refuses any part of the
// text.
func (r *reading) tokens(text string) []token.Tokens {
	g := &guard{r: r, docs: []token.Tokens{nil}}
	var s scanner.Scanner
	s.Init(text)
	for {
		batch, err := s.Scan()
		if fault := g.take(batch); fault != nil {
			r.errs.Add(fault)
			return nil
		}
		// Any other error comes with an invalid token, which take has refused.
		if err == io.EOF || err != nil && len(batch) == 0 {
			break
		}
	}
	if len(r.errs) > 0 {
		return nil
	}
	return g.docs
}

// take adds tokens to their documents, up to the first that must not be parsed. It adds faults that do not prevent parsing to
// the errors of the reading.
func (g *guard) take(batch token.Tokens) *Error {
	for i, tk := range batch {
		switch tk.Type {
		case token.CommentType:
			continue
		case token.DocumentHeaderType, token.DocumentEndType:
			// Documents are parsed one by one, because the parser drops the documents after an empty one.
			if len(g.docs) > g.r.limits.Documents {
				return &Error{Pos: g.r.place(tk), Err: ErrLimit, Msg: fmt.Sprintf("more than %d documents", g.r.limits.Documents)}
			}
			g.docs = append(g.docs, nil)
			g.open, g.flow, g.last, g.ended = g.open[:0], g.flow[:0], nil, tk
			continue
		}
		g.next = nil
		if i+1 < len(batch) {
			g.next = batch[i+1]
		}
		doc := &g.docs[len(g.docs)-1]
		if n := len(*doc); g.inList() && n >= 2 {
			if text := joined((*doc)[n-2], (*doc)[n-1], tk); text != nil {
				*doc, tk = (*doc)[:n-2], text
			}
		}
		if fault := g.check(tk); fault != nil {
			return fault
		}
		doc.Add(tk)
		g.last = tk
	}
	return nil
}

// inList reports whether the current token is in brackets.
func (g *guard) inList() bool {
	return len(g.flow) > 0 && g.flow[len(g.flow)-1] == token.SequenceStartType
}

// plain reports whether a token is a text without quotes.
func plain(tk *token.Token) bool {
	switch tk.Type {
	case token.SingleQuoteType, token.DoubleQuoteType, token.LiteralType, token.FoldedType:
		return false
	}
	return tk.CharacterType == token.CharacterTypeMiscellaneous
}

// joined returns the text that a text, a colon and a text directly after it form together, as in 8080:80, or nil if they form
// none. In a list inside braces, the scanner makes the first text a key.
func joined(a, colon, b *token.Token) *token.Token {
	gap := colon.Position.Column - a.Position.Column - utf8.RuneCountInString(a.Value)
	if !plain(a) || colon.Type != token.MappingValueType || !plain(b) || gap < 0 || colon.Position.Column+1 != b.Position.Column ||
		a.Position.Line != colon.Position.Line || b.Position.Line != colon.Position.Line {
		return nil
	}
	colons := strings.Repeat(" ", gap) + ":"
	return token.String(a.Value+colons+b.Value, a.Value+colons+b.Origin, a.Position)
}

// check checks the next token of a document.
func (g *guard) check(tk *token.Token) *Error {
	if len(tk.Value) > g.r.limits.Text {
		return g.r.tooLong(g.r.place(tk), tk.Value)
	}
	if fault := g.checkDropped(tk); fault != nil {
		return fault
	}
	switch tk.Type {
	case token.InvalidType:
		return &Error{Pos: g.r.place(tk), Msg: explainSyntax(tk.Error)}
	case token.AnchorType, token.AliasType, token.TagType, token.MergeKeyType, token.DirectiveType, token.MappingKeyType:
		g.r.errs.Add(&Error{Pos: g.r.place(tk), Text: g.written(tk), Msg: refusedTokens[tk.Type]})
	case token.SequenceStartType, token.MappingStartType:
		if g.expression(tk) {
			return &Error{Pos: g.r.place(g.last), Msg: "put the expression in quotes: \"{{ … }}\""}
		}
		g.flow = append(g.flow, tk.Type)
	case token.SequenceEndType, token.MappingEndType:
		g.flow = g.flow[:max(0, len(g.flow)-1)]
	case token.SequenceEntryType:
		if len(g.flow) == 0 {
			g.enter(tk.Position.Column, Sequence)
		}
	case token.MappingValueType:
		if len(g.flow) == 0 && g.last != nil {
			if keys := g.enter(g.last.Position.Column, Mapping); keys > g.r.limits.Keys {
				return g.r.tooManyKeys(g.r.place(g.last))
			}
		}
	}
	if len(g.open)+len(g.flow) > g.r.limits.Depth {
		return g.r.tooDeep(g.r.place(tk))
	}
	return nil
}

// checkDropped refuses text that the scanner would drop silently: a tab inside a plain text, and three dots at the beginning of a
// text.
func (g *guard) checkDropped(tk *token.Token) *Error {
	if g.ended != nil && g.ended.Type == token.DocumentEndType && g.ended.Position.Line == tk.Position.Line {
		return &Error{Pos: g.r.place(g.ended), Text: "..." + tk.Value, Msg: "text after the end of a document"}
	}
	isBlock := g.last != nil && (g.last.Type == token.LiteralType || g.last.Type == token.FoldedType)
	if tk.Type != token.StringType || isBlock || !strings.Contains(tk.Origin, "\t") {
		return nil
	}
	for line := range strings.Lines(tk.Origin) {
		if strings.Contains(strings.TrimSpace(line), "\t") {
			return &Error{Pos: g.r.place(tk), Text: strings.TrimSpace(tk.Origin), Msg: "put a text that contains a tab in quotes"}
		}
	}
	return nil
}

// refusedTokens maps the unsupported parts of YAML to messages.
var refusedTokens = map[token.Type]string{
	token.AnchorType:     "anchors are not allowed",
	token.AliasType:      "aliases are not allowed",
	token.TagType:        "tags are not allowed",
	token.MergeKeyType:   "merge keys are not allowed",
	token.DirectiveType:  "directives are not allowed",
	token.MappingKeyType: "write the key without a question mark",
}

// expression reports whether tk is the second brace of an expression without quotes.
func (g *guard) expression(tk *token.Token) bool {
	return tk.Type == token.MappingStartType && g.last != nil && g.last.Type == token.MappingStartType &&
		g.last.Position.Line == tk.Position.Line && g.last.Position.Column+1 == tk.Position.Column
}

// enter records an entry of a block collection at a column: it closes deeper collections, opens the collection if this is
// its first entry, and returns the number of its entries.
func (g *guard) enter(col int, kind Kind) int {
	for len(g.open) > 0 && g.open[len(g.open)-1].col > col {
		g.open = g.open[:len(g.open)-1]
	}
	// A sequence may be at the column of its key; the next key of the mapping closes it.
	if n := len(g.open); n > 1 && kind == Mapping && g.open[n-1].kind == Sequence && g.open[n-2].col == col && g.open[n-1].col == col {
		g.open = g.open[:n-1]
	}
	if n := len(g.open); n == 0 || g.open[n-1].col != col || g.open[n-1].kind != kind {
		g.open = append(g.open, block{col: col, kind: kind})
	}
	top := &g.open[len(g.open)-1]
	top.entries++
	return top.entries
}

// place returns the position of a token. The scanner's column can be 0 for text without a place.
func (r *reading) place(tk *token.Token) Pos {
	return r.pos(tk.Position.Line, max(1, tk.Position.Column), "")
}

// written returns the text of a refused token, followed by its name if the name is a token of its own.
func (g *guard) written(tk *token.Token) string {
	if (tk.Type == token.AnchorType || tk.Type == token.AliasType) && g.next != nil {
		return tk.Value + g.next.Value
	}
	return tk.Value
}
