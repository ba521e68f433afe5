package dag

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// The JSON form of a graph lists nodes in order of insertion and edges by (from, to, type), so equal graphs have equal
// bytes. The caller supplies the attributes of nodes; the type of an edge determines its attributes:
//
//	{"kind":"template",
//	 "nodes":[{"key":"check"},{"key":"pay","attributes":{"status":"idle"}}],
//	 "edges":[{"key":"check->pay:conditional","source":"check","target":"pay",
//	           "attributes":{"edgeType":"conditional","condition":"ok","negated":true,"dataFlow":false}}]}
//
// An edge under several conditions has "guards":[{"condition":…,"negated":true},…], the outermost first, in place of
// condition and negated. Edges of a call graph have edgeType and nothing else.

// MarshalJSON returns the JSON form without node attributes, which Parse reads.
func (g *Graph) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	if err := g.WriteJSON(&buf, nil); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}

// WriteJSON writes the JSON form. attributes, if not nil, returns a node's attributes, which must encode to a JSON object;
// nil omits them. The errors are from w and from encoding attributes.
func (g *Graph) WriteJSON(w io.Writer, attributes func(id int32) any) error {
	// A bufio.Writer keeps its first error, so one check at the end is enough.
	buf := bufio.NewWriter(w)
	fmt.Fprintf(buf, `{"kind":%q,"nodes":[`, g.kind)
	if err := g.writeNodes(buf, attributes); err != nil {
		return err
	}
	buf.WriteString(`],"edges":[`)
	if err := g.writeEdges(buf); err != nil {
		return err
	}
	buf.WriteString("]}")
	return buf.Flush()
}

func (g *Graph) writeNodes(buf *bufio.Writer, attributes func(id int32) any) error {
	var line []byte
	for v, key := range g.Nodes() {
		line = line[:0]
		if v > 0 {
			line = append(line, ',')
		}
		line = appendString(append(line, `{"key":`...), key)
		if attributes != nil {
			if value := attributes(v); value != nil {
				encoded, err := encodeObject(value)
				if err != nil {
					return fmt.Errorf("attributes of node %q: %w", key, err)
				}
				line = append(append(line, `,"attributes":`...), encoded...)
			}
		}
		buf.Write(append(line, '}'))
	}
	return nil
}

// writeEdges writes one edge at a time into a reused buffer, so that writing a graph needs little memory.
func (g *Graph) writeEdges(buf *bufio.Writer) error {
	var line []byte
	for e := range g.Edges() {
		line = appendString(append(line, `{"key":`...), g.EdgeKey(e))
		line = appendString(append(line, `,"source":`...), g.Key(e.From))
		line = appendString(append(line, `,"target":`...), g.Key(e.To))
		var err error
		line, err = e.Attrs.appendJSON(append(line, `,"attributes":`...))
		if err != nil {
			return fmt.Errorf("edge %s: %w", g.EdgeKey(e), err)
		}
		buf.Write(append(line, '}'))
		line = append(line[:0], ',')
	}
	return nil
}

func encodeObject(value any) ([]byte, error) {
	encoded, err := json.Marshal(value)
	if err == nil && encoded[0] != '{' {
		err = fmt.Errorf("%T is not a JSON object", value)
	}
	return encoded, err
}

// MarshalJSON validates in two steps, as Check does, and writes the fields of the type.
func (a Attributes) MarshalJSON() ([]byte, error) { return a.appendJSON(nil) }

func (a Attributes) appendJSON(dst []byte) ([]byte, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	dst = append(append(append(dst, `{"edgeType":"`...), a.Type.String()...), '"')
	if len(a.Guards) == 1 {
		dst = appendGuard(append(dst, ','), a.Guards[0])
	}
	if len(a.Guards) > 1 {
		dst = append(dst, `,"guards":[`...)
		for i, guard := range a.Guards {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendGuard(append(dst, '{'), guard), '}')
		}
		dst = append(dst, ']')
	}
	if a.Type.Kind() == TemplateGraph {
		dst = fmt.Appendf(dst, `,"dataFlow":%t`, a.DataFlow)
	}
	return append(dst, '}'), nil
}

// appendGuard writes the fields of a guard without the braces around them.
func appendGuard(dst []byte, guard Guard) []byte {
	dst = appendString(append(dst, `"condition":`...), guard.Condition)
	if guard.Negated {
		dst = append(dst, `,"negated":true`...)
	}
	return dst
}

// appendString writes valid UTF-8 as a JSON string. encoding/json would write the arrow of an edge key as "-\u003e", which
// is correct but unreadable.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ' || c == 0x7f:
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
