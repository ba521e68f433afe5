package document

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// parseYAML reads each document that the guard accepts.
func (r *reading) parseYAML(text string) []*Node {
	var docs []*Node
	for _, tokens := range r.tokens(text) {
		if len(tokens) == 0 {
			continue
		}
		body, fault := r.syntaxTree(tokens)
		if fault != nil {
			r.errs.Add(fault)
			continue
		}
		if body == nil {
			continue
		}
		if node := r.fromYAML(body, "", 0); node != nil {
			docs = append(docs, node)
		}
	}
	return docs
}

// syntaxTree parses the tokens of one document. It turns a panic of the parser into a fault of the document, because input must
// not end the process.
func (r *reading) syntaxTree(tokens token.Tokens) (body ast.Node, fault *Error) {
	defer func() {
		if p := recover(); p != nil {
			body, fault = nil, &Error{Pos: r.place(tokens[0]), Msg: fmt.Sprintf("malformed YAML: %v", p)}
		}
	}()
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, r.syntaxError(err, tokens[0])
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			return doc.Body, nil
		}
	}
	return nil, nil
}

// syntaxError returns the parser's error, at its token.
func (r *reading) syntaxError(err error, start *token.Token) *Error {
	var located interface {
		GetToken() *token.Token
		GetMessage() string
	}
	if errors.As(err, &located) && located.GetToken() != nil {
		return &Error{Pos: r.place(located.GetToken()), Text: located.GetToken().Value, Msg: explainSyntax(located.GetMessage())}
	}
	return &Error{Pos: r.place(start), Msg: err.Error()}
}

// explainSyntax adds the usual cause to a message of the parser.
func explainSyntax(msg string) string {
	switch {
	case strings.HasPrefix(msg, "found character '\t'"):
		return "a tab cannot indent: use spaces"
	case strings.HasPrefix(msg, "value is not allowed in this context"):
		return msg + ", look at the indentation"
	case strings.HasPrefix(msg, "mapping value is not allowed in this context"):
		return msg + ", look at the indentation and for a text with a colon that lacks quotes"
	}
	return msg
}

// fromYAML turns a syntax tree into nodes. If it cannot read a value, it adds a fault and returns nil.
func (r *reading) fromYAML(n ast.Node, path string, depth int) *Node {
	if depth > r.limits.Depth {
		r.errs.Add(r.tooDeep(r.place(n.GetToken())))
		return nil
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		return r.fromMapping(n, path, depth)
	case *ast.SequenceNode:
		pos := r.place(n.GetToken())
		pos.Path = path
		node := &Node{Pos: pos, Kind: Sequence, items: make([]*Node, 0, len(n.Values))}
		for i, value := range n.Values {
			item := r.fromYAML(value, pos.Index(i).Path, depth+1)
			if item == nil {
				return nil
			}
			node.items = append(node.items, item)
		}
		return node
	default:
		return r.fromScalar(n, path)
	}
}

func (r *reading) fromMapping(n *ast.MappingNode, path string, depth int) *Node {
	pos := r.place(n.GetToken())
	// The token of a block mapping is its first colon, but its place is the place of its first key.
	if !n.IsFlowStyle && len(n.Values) > 0 {
		pos = r.place(n.Values[0].Key.GetToken())
	}
	pos.Path = path
	if len(n.Values) > r.limits.Keys {
		r.errs.Add(r.tooManyKeys(pos))
		return nil
	}
	m := mapping{entries: make([]Entry, 0, len(n.Values))}
	for _, kv := range n.Values {
		key, ok := keyText(kv.Key)
		at := r.place(kv.Key.GetToken())
		if !ok {
			at.Path = path
			r.errs.Add(&Error{Pos: at, Msg: "a key must be a plain or quoted text"})
			continue
		}
		at.Path = joinKey(path, key)
		value := r.fromYAML(kv.Value, at.Path, depth+1)
		if value == nil {
			return nil
		}
		r.addEntry(&m, Entry{Key: key, Pos: at, Value: value})
	}
	return &Node{Pos: pos, Kind: Mapping, entries: m.entries}
}

// keyText returns the text of a key as written: 200 and true are the keys "200" and "true".
func keyText(key ast.MapKeyNode) (string, bool) {
	switch key := key.(type) {
	case *ast.StringNode:
		return key.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return key.GetToken().Value, true
	default:
		return "", false
	}
}

func (r *reading) fromScalar(n ast.Node, path string) *Node {
	tk := n.GetToken()
	pos := r.place(tk)
	pos.Path = path
	switch n := n.(type) {
	case *ast.LiteralNode:
		return &Node{Pos: pos, Kind: String, scalar: n.Value.Value}
	case *ast.StringNode:
		if tk.Type == token.SingleQuoteType || tk.Type == token.DoubleQuoteType {
			return &Node{Pos: pos, Kind: String, scalar: n.Value}
		}
	case *ast.NullNode:
		return &Node{Pos: pos, Kind: Null}
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
	default:
		r.errs.Add(&Error{Pos: pos, Text: tk.Value, Msg: "unexpected " + n.Type().YAMLName()})
		return nil
	}
	value, kind, ok := resolve(tk.Value)
	if !ok {
		r.errs.Add(r.unrepresentable(pos, tk.Value))
	}
	return &Node{Pos: pos, Kind: kind, scalar: value}
}
