package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/sluiceflow/sluice/template/value"
)

// chain is a base with members: input.lines[0].price, steps.split.output?.n, f(x).y.
type chain struct {
	base     node
	members  []member
	skipIsOK bool // base reads a step; without an output, the whole chain is null
}

// member is one link: .key, ["key"], [index], [expression], each with or without the ?. that lets null pass.
type member struct {
	key      string // if index is nil
	index    node
	optional bool
}

// chain compiles n, which is a member access, or the name steps by itself. With skipIsOK it is the left side of ??.
func (c *compiler) chain(n ast.Node, skipIsOK bool) node {
	base, links := unchain(n)
	ch := &chain{}
	if id, ok := base.(*ast.IdentifierNode); ok && id.Value == "steps" {
		if _, hidden := c.local("steps"); !hidden {
			read, ok := c.step(id, links, skipIsOK)
			if !ok {
				return constant(nil)
			}
			field := links[1].Property.(*ast.StringNode)
			ch.base, ch.skipIsOK, links = read, skipIsOK, links[2:]
			c.member("steps."+field.Value, links)
		}
	}
	if ch.base == nil {
		ch.base = c.keyed(base, links)
	}
	for _, link := range links {
		m := member{optional: link.Optional}
		if key, ok := link.Property.(*ast.StringNode); ok {
			m.key = key.Value
		} else {
			m.index = c.compile(link.Property)
		}
		ch.members = append(ch.members, m)
	}
	c.size += len(links)
	if len(ch.members) == 0 && !ch.skipIsOK {
		return ch.base
	}
	return ch.eval
}

// keyed compiles the base of a chain. If it is a variable and the first link is literal, only that key of the variable is
// read.
func (c *compiler) keyed(base ast.Node, links []*ast.MemberNode) node {
	name, isName := base.(*ast.IdentifierNode)
	if !isName || len(links) == 0 || !slices.Contains(c.scope, name.Value) {
		return c.compile(base)
	}
	key, isText := links[0].Property.(*ast.StringNode)
	if _, hidden := c.local(name.Value); hidden || !isText {
		return c.compile(base)
	}
	c.member(name.Value, links)
	c.size++
	c.note(inner(name.Value, key.Value), func(k *keySet) {
		if len(links) > 1 {
			if next, isText := links[1].Property.(*ast.StringNode); isText {
				k.add(next.Value)
				return
			}
		}
		k.addAll()
	})
	return c.use(name.Value, func(k *keySet) { k.add(key.Value) })
}

// unchain returns the base of a chain of members, and its links.
func unchain(n ast.Node) (ast.Node, []*ast.MemberNode) {
	var links []*ast.MemberNode
	for {
		switch link := n.(type) {
		case *ast.ChainNode: // marks the end of a ?., which is always the end of the chain here
			n = link.Node
			continue
		case *ast.MemberNode:
			links = append(links, link)
			n = link.Node
			continue
		}
		for i, j := 0, len(links)-1; i < j; i, j = i+1, j-1 {
			links[i], links[j] = links[j], links[i]
		}
		return n, links
	}
}

// step compiles steps.<id>.<field>, the first two links. Other uses of steps are refused, because reads must be known before
// anything runs.
func (c *compiler) step(steps *ast.IdentifierNode, links []*ast.MemberNode, skipIsOK bool) (node, bool) {
	const form = `write steps.<id>.output, or steps["<id>"].output`
	if len(links) == 0 {
		c.fail(steps, "steps", "", "steps by itself is not a value: %s", form)
		return nil, false
	}
	id, ok := links[0].Property.(*ast.StringNode)
	if !ok {
		c.fail(steps, c.written(steps, links[0]), "", "the id of a step must be written out, not computed: %s", form)
		return nil, false
	}
	if len(links) == 1 {
		c.fail(steps, c.written(steps, links[0]), "", "%s is not a value: name a field (status, output, error or fulfillment)", c.written(steps, links[0]))
		return nil, false
	}
	name, ok := links[1].Property.(*ast.StringNode)
	if !ok {
		c.fail(steps, c.written(steps, links[1]), "", "the field of a step must be written out, not computed: %s", form)
		return nil, false
	}
	field, ok := fieldOf(name.Value)
	if !ok {
		e := unknownField(name.Value)
		c.fail(name, e.Text, e.Suggestion, "%s", e.Msg)
		return nil, false
	}
	c.reads = append(c.reads, Read{
		Step: id.Value, Field: field, Defaulted: skipIsOK, Bare: skipIsOK && len(links) == 2, Pointer: c.pointer,
		Offset: c.piece.offset + c.byteOffset(steps.Location().From), Text: c.written(steps, links[1]),
	})
	step := id.Value
	return func(r *run) (value.Value, error) { return r.env.Step(step, field) }, true
}

// member reports that the first link is a literal key that an object of the Scope does not have.
func (c *compiler) member(object string, links []*ast.MemberNode) {
	if len(links) == 0 {
		return
	}
	if key, isText := links[0].Property.(*ast.StringNode); isText {
		if e := c.unknownKey(object, key.Value); e != nil {
			c.fail(key, e.Text, e.Suggestion, "%s", e.Msg)
		}
	}
}

// unknownKey returns the error for a key that an object of the Scope does not have, in expressions and in from pointers.
func (c *compiler) unknownKey(object, key string) *Error {
	known := c.known[object]
	if known == nil || slices.Contains(known, key) {
		return nil
	}
	if field, isField := strings.CutPrefix(object, "steps."); isField {
		object = "a step's " + field
	}
	return &Error{Text: key, Msg: fmt.Sprintf("unknown field %q of %s", key, object), Suggestion: suggest(key, known)}
}

// unknownField returns the error for an unknown field, in expressions and in from pointers.
func unknownField(name string) *Error {
	return &Error{Text: name, Msg: fmt.Sprintf("unknown field %q of a step", name), Suggestion: suggest(name, fieldNames)}
}

// written returns the source from a name to the end of a link.
func (c *compiler) written(from ast.Node, to *ast.MemberNode) string {
	source := c.piece.text
	start, end := c.byteOffset(from.Location().From), c.byteOffset(to.Property.Location().To)
	if to.Property.Location() != to.Location() { // written in brackets, whose end the parser does not keep
		end += through(source[end:], 0, "]")
	}
	return source[start:end]
}

// eval evaluates the chain.
func (ch *chain) eval(r *run) (value.Value, error) {
	v, err := ch.base(r)
	if err != nil {
		if ch.skipIsOK && errors.Is(err, ErrNoOutput) {
			return nil, nil
		}
		return nil, err
	}
	for i := range ch.members {
		m := &ch.members[i]
		if v == nil && (m.optional || r.guard) {
			return nil, nil
		}
		if m.index != nil {
			if v, err = m.computed(r, v); err != nil {
				return nil, err
			}
			continue
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("there is no %q in %s", m.key, value.Describe(v))
		}
		v = object[m.key] // null if missing
	}
	return v, nil
}

// computed evaluates a link in brackets that is not a literal key.
func (m *member) computed(r *run, v value.Value) (value.Value, error) {
	key, err := m.index(r)
	if err != nil {
		return nil, err
	}
	return element(r, v, key)
}

// element returns the part of v at key: a member of an object (null if there is none), an element of a list or a code
// point of a string, counted from the end if negative.
func element(r *run, v, key value.Value) (value.Value, error) {
	switch v := v.(type) {
	case map[string]any:
		if name, ok := key.(string); ok {
			return v[name], r.scan(len(name))
		}
		return nil, fmt.Errorf("a key must be a string, not %s", show(key))
	case []any:
		i, err := position(key, len(v), "list")
		if err != nil {
			return nil, err
		}
		return v[i], nil
	case string:
		if err := r.scan(len(v)); err != nil {
			return nil, err
		}
		i, err := position(key, utf8.RuneCountInString(v), "string")
		if err != nil {
			return nil, err
		}
		return cut(v, i, i+1), nil
	}
	return nil, fmt.Errorf("there is no %s in %s", value.Text(key), value.Describe(v))
}

// position converts an index, possibly negative, to one in [0, size).
func position(key value.Value, size int, what string) (int, error) {
	i, ok := key.(int64)
	if !ok {
		return 0, fmt.Errorf("an index of a %s must be an integer, not %s", what, show(key))
	}
	at := i
	if at < 0 {
		at += int64(size)
	}
	if at < 0 || at >= int64(size) {
		return 0, fmt.Errorf("index %d is out of range: the %s has a length of %d", i, what, size)
	}
	return int(at), nil
}

// slice compiles a[from:to]. Bounds beyond the ends mean the ends.
func (c *compiler) slice(n *ast.SliceNode) node {
	of, from, to := c.compile(n.Node), constant(int64(0)), node(nil)
	if n.From != nil {
		from = c.compile(n.From)
	}
	if n.To != nil {
		to = c.compile(n.To)
	}
	return func(r *run) (value.Value, error) {
		v, err := of(r)
		if err != nil {
			return nil, err
		}
		size := 0
		switch v := v.(type) {
		case []any:
			size = len(v)
		case string:
			if err := r.scan(len(v)); err != nil {
				return nil, err
			}
			size = utf8.RuneCountInString(v)
		default:
			return nil, fmt.Errorf("cannot take a slice of %s", value.Describe(v))
		}
		a, err := bound(r, from, size)
		if err != nil {
			return nil, err
		}
		b := size
		if to != nil {
			if b, err = bound(r, to, size); err != nil {
				return nil, err
			}
		}
		a = min(a, b)
		if list, ok := v.([]any); ok {
			return list[a:b:b], nil
		}
		return cut(v.(string), a, b), nil
	}
}

// bound evaluates one end of a slice, as a position in [0, size].
func bound(r *run, n node, size int) (int, error) {
	v, err := n(r)
	if err != nil {
		return 0, err
	}
	i, ok := v.(int64)
	if !ok {
		return 0, fmt.Errorf("the bounds of a slice must be integers, not %s", show(v))
	}
	if i < 0 {
		i += int64(size)
	}
	return int(min(max(i, 0), int64(size))), nil
}

// cut returns the code points [from, to) of s.
func cut(s string, from, to int) string {
	start, end, n := len(s), len(s), 0
	for i := range s {
		if n == from {
			start = i
		}
		if n == to {
			end = i
			break
		}
		n++
	}
	return s[min(start, end):end]
}
