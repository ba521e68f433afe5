package expr

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template/value"
)

// node evaluates one part of a template.
type node func(r *run) (value.Value, error)

// value compiles v, whose path is place. It returns nil if v contains no expression and so is its own result.
func (c *compiler) value(v value.Value, place value.Pointer) node {
	switch v := v.(type) {
	case string:
		c.pointer = place.String()
		return c.text(v)
	case []any:
		return c.list(v, place)
	case map[string]any:
		if isFrom(v) {
			c.pointer = append(slices.Clone(place), "from").String()
			return c.from(v)
		}
		return c.object(v, place)
	}
	return nil
}

// list compiles the elements that contain expressions; the others are shared with v.
func (c *compiler) list(list []any, place value.Pointer) node {
	parts := make(map[int]node)
	for i, item := range list {
		if n := c.value(item, append(slices.Clone(place), strconv.Itoa(i))); n != nil {
			parts[i] = n
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return func(r *run) (value.Value, error) {
		out := slices.Clone(list)
		for i := range out {
			if part := parts[i]; part != nil {
				v, err := part(r)
				if err != nil {
					return nil, err
				}
				out[i] = v
			}
		}
		return out, nil
	}
}

// object compiles the members that contain expressions. Keys are literal: an object has the shape in which it is written.
func (c *compiler) object(object map[string]any, place value.Pointer) node {
	type member struct {
		key  string
		part node
	}
	var parts []member // sorted by key, so that the first error is always the same
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if n := c.value(object[key], append(slices.Clone(place), key)); n != nil {
			parts = append(parts, member{key, n})
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return func(r *run) (value.Value, error) {
		out := maps.Clone(object)
		for _, m := range parts {
			v, err := m.part(r)
			if err != nil {
				return nil, err
			}
			out[m.key] = v
		}
		return out, nil
	}
}

// text compiles a string: to nothing if it is literal, to the expression if it is a single one, otherwise to a text.
func (c *compiler) text(text string) node {
	pieces, err := scan(text)
	if err != nil {
		c.report(err)
		return nil
	}
	if len(pieces) == 0 || len(pieces) == 1 && !pieces[0].isExpr {
		return nil
	}
	parts := make([]node, len(pieces))
	for i, p := range pieces {
		if p.isExpr {
			parts[i] = c.expression(p)
		}
	}
	if len(pieces) == 1 {
		return parts[0]
	}
	c.mixed = true
	return func(r *run) (value.Value, error) {
		var b strings.Builder
		for i, part := range parts {
			text := pieces[i].text
			if part != nil {
				v, err := part(r)
				if err == nil {
					text, err = r.text(v)
				}
				if err != nil {
					return nil, err
				}
			}
			if err := r.grow(len(text)); err != nil {
				return nil, err
			}
			b.WriteString(text)
		}
		return b.String(), nil
	}
}

// isFrom recognises {from: …} and {from: …, required: …}: an object with any other key is data.
func isFrom(object map[string]any) bool {
	_, from := object["from"]
	_, required := object["required"]
	return from && (len(object) == 1 || required && len(object) == 2)
}

// from compiles a pointer: /steps/<id>/<field>/… or /<name>/….
func (c *compiler) from(object map[string]any) node {
	text, isText := object["from"].(string)
	fault := func(format string, args ...any) node {
		c.report(&Error{Text: text, Msg: fmt.Sprintf(format, args...)})
		return nil
	}
	required, isBool := object["required"].(bool)
	if _, given := object["required"]; given && !isBool {
		return fault("required must be true or false, not %s", show(object["required"]))
	}
	if !isText {
		return fault("from must be a JSON pointer such as /steps/id/output, not %s", show(object["from"]))
	}
	p, err := value.ParsePointer(text)
	if err != nil || len(p) == 0 {
		return fault("from must be a JSON pointer such as /steps/id/output, not %s", Quote(text))
	}
	if p[0] == "steps" {
		return c.fromStep(p, text, required)
	}
	if !slices.Contains(c.scope, p[0]) {
		c.report(&Error{Text: p[0], Msg: fmt.Sprintf("unknown name %q in %s", p[0], text), Suggestion: suggest(p[0], c.scope, []string{"steps"})})
		return nil
	}
	if len(p) > 1 {
		if e := c.unknownKey(p[0], p[1]); e != nil {
			c.report(e)
			return nil
		}
		c.note(inner(p[0], p[1]), func(k *keySet) { k.addPath(p[2:]) })
	}
	read := c.use(p[0], func(k *keySet) { k.addPath(p[1:]) })
	return c.located(text, 0, func(r *run) (value.Value, error) {
		v, err := read(r)
		if err != nil {
			return nil, err
		}
		return lookup(p, 1, v)
	})
}

// fromStep compiles a pointer to a step. It is a read like any other, so it orders steps and is checked like an expression.
func (c *compiler) fromStep(p value.Pointer, text string, required bool) node {
	if len(p) < 3 {
		c.report(&Error{Text: text, Msg: fmt.Sprintf("%s names no field of a step: write /steps/<id>/output", text)})
		return nil
	}
	field, ok := fieldOf(p[2])
	if !ok {
		c.report(unknownField(p[2]))
		return nil
	}
	if len(p) > 3 {
		if e := c.unknownKey("steps."+p[2], p[3]); e != nil {
			c.report(e)
			return nil
		}
	}
	c.reads = append(c.reads, Read{Step: p[1], Field: field, Optional: !required, Pointer: c.pointer, Text: text})
	return c.located(text, 0, func(r *run) (value.Value, error) {
		v, err := r.env.Step(p[1], field)
		if err != nil {
			if !required && errors.Is(err, ErrSkipped) {
				return nil, nil
			}
			return nil, err
		}
		return lookup(p, 3, v)
	})
}

// lookup follows p[from:] in v; its error for a missing place reports the whole of p.
func lookup(p value.Pointer, from int, v value.Value) (value.Value, error) {
	v, err := p[from:].Lookup(v)
	if missing, ok := errors.AsType[*value.MissingError](err); ok {
		err = &value.MissingError{Pointer: p, Segment: from + missing.Segment, Parent: missing.Parent}
	}
	return v, err
}
