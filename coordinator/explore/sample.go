package explore

import (
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// sampler receives the values that an expression distinguishes at a path; none: the expression reads the path and distinguishes no values.
type sampler func(path []string, values []value.Value)

// Samples of each kind of value, first the one that a rule most likely tests for.
var (
	truths  = []value.Value{true, false}
	numbers = []value.Value{int64(1)}
	sizes   = []value.Value{int64(0), int64(1 << 20)}
	lists   = []value.Value{[]any{"x"}, []any{}}
)

const (
	something = "x"
	listMax   = 8 // elements of a list made for an expression that reads its length
)

// walk visits an expression and calls s with the paths that it reads, and with values there that yield the wanted values of the expression.
func (s sampler) walk(o *expr.Outline, wanted []value.Value) {
	switch o.Kind {
	case expr.Reference:
		s(o.Path, wanted)
	case expr.Logic:
		s.each(o.Args, truths)
	case expr.Arithmetic:
		if len(o.Args) == 1 && len(wanted) > 0 {
			s.walk(o.Args[0], wanted)
		} else {
			s.each(o.Args, append(numbers[:1:1], wanted...))
		}
	case expr.Equality:
		s.walk(o.Args[0], valuesAround(o.Args[1], false))
		s.walk(o.Args[1], valuesAround(o.Args[0], false))
	case expr.Ordering:
		s.walk(o.Args[0], valuesAround(o.Args[1], true))
		s.walk(o.Args[1], valuesAround(o.Args[0], true))
	case expr.Membership:
		s.walkIn(o.Args[0], o.Args[1])
	case expr.TextMatch:
		s.walk(o.Args[0], textsFor(o.Args[1]))
	case expr.Length:
		s.walk(o.Args[0], listsOfLengths(wanted))
	case expr.Iteration:
		s.walk(o.Args[0], lists)
		s.each(o.Args[1:], nil)
	case expr.Fallback:
		if len(wanted) > 0 {
			s.walk(o.Args[0], append(wanted[:len(wanted):len(wanted)], nil))
		} else {
			s.walk(o.Args[0], nil)
		}
		s.each(o.Args[1:], wanted)
	case expr.Choice:
		s.walk(o.Args[0], truths)
		s.each(o.Args[1:], wanted)
	default:
		s.each(o.Args, nil)
	}
}

// each walks several expressions.
func (s sampler) each(list []*expr.Outline, wanted []value.Value) {
	for _, o := range list {
		s.walk(o, wanted)
	}
}

// walkIn walks the expression `what in where`.
func (s sampler) walkIn(what, where *expr.Outline) {
	switch {
	case where.Kind == expr.ListLiteral:
		var values []value.Value
		for _, o := range where.Args {
			values = append(values, valuesAround(o, false)...)
		}
		s.walk(what, values)
	case where.Kind == expr.Literal:
		s.walk(what, valuesAround(where, false))
	case what.Kind == expr.Literal:
		s.walk(where, []value.Value{[]any{what.Value}, []any{}})
	default:
		s.walk(what, nil)
		s.walk(where, lists)
	}
}

// valuesAround returns values for which a comparison with an expression holds, and values for which it does not.
func valuesAround(o *expr.Outline, ordered bool) []value.Value {
	switch {
	case o.Kind == expr.Length || o.Kind == expr.Arithmetic:
		return []value.Value{int64(1), int64(0)}
	case o.Kind != expr.Literal && ordered:
		return sizes
	case o.Kind == expr.Reference: // equal to the value that is read elsewhere, or not
		return []value.Value{int64(1), int64(2)}
	}
	switch v := o.Value.(type) {
	case bool:
		return []value.Value{v, !v}
	case int64:
		if !ordered {
			return []value.Value{v, v + 1}
		}
		return []value.Value{v, v + 1, v - 1}
	case float64:
		return []value.Value{v, v + 1, v - 1}
	case string:
		return []value.Value{v, v + "?"}
	case nil:
		if o.Kind == expr.Literal {
			return []value.Value{nil, something}
		}
	}
	return nil
}

// textsFor returns a text that contains a literal, and one that does not.
func textsFor(o *expr.Outline) []value.Value {
	if text, ok := o.Value.(string); ok {
		return []value.Value{text, ""}
	}
	return nil
}

// listsOfLengths returns lists of the wanted lengths.
func listsOfLengths(wanted []value.Value) []value.Value {
	var values []value.Value
	for _, w := range wanted {
		if n, ok := w.(int64); ok && n >= 0 {
			list := make([]any, min(n, listMax))
			for i := range list {
				list[i] = something
			}
			values = append(values, list)
		}
	}
	if values == nil {
		return lists
	}
	return values
}
