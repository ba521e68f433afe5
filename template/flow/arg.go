package flow

import (
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Arg is a value of type T that a step can take. It is made by functions of this package.
type Arg[T any] interface {
	argument() argument
	of(T) // ties the argument to its type
}

// argument is an Arg without its type. Exactly one of source, literal and function is set.
type argument struct {
	pos      document.Pos
	source   func(d *definition) string      // an expression, without braces
	binds    binding                         // of source
	literal  func(d *definition) value.Value // any other value, expressions anywhere in it
	inline   func(d *definition) string      // a literal as a part of an expression
	function *template.Function              // a Go function, called with args
	args     []argument
	tested   *handle // the step, if the argument is whether it has completed
	err      error   // the fault of the argument, found when it was made
}

// binding is the precedence of an expression.
type binding uint8

const (
	tight    binding = iota // a name and its members
	defaults                // a ?? b ?? c
	loose                   // other operators
)

// typed adds the type to an argument.
type typed[T any] struct{ arg argument }

func (a typed[T]) argument() argument { return a.arg }
func (typed[T]) of(T)                 {}

// here returns the line that called the function that calls here: a line of the program that uses this package.
func here() document.Pos {
	_, file, line, _ := runtime.Caller(2)
	return document.Pos{File: file, Line: line}
}

// From returns the result of a step as an argument. Passing r itself means the same; From is for use beside FromOr and
// Value.
func From[T any](r Ref[T]) Arg[T] { return r }

// FromOr is Coalesce with a literal: the result of a step, or fallback.
func FromOr[T any](r Ref[T], fallback T) Arg[T] {
	plain, err := value.Own(fallback)
	return typed[T]{coalesce(here(), r.argument(), argument{err: err, source: func(*definition) string { return source(plain) }})}
}

// Coalesce returns ok, or fallback if ok is null or a missing result. The result of a step is missing if the step was
// skipped, for example in a branch that was not taken; or if it failed or was aborted, an If or Choose that reads its status
// has caught that, and the Coalesce is inside or after it. Documents write ok ?? fallback.
func Coalesce[T any](ok, fallback Arg[T]) Arg[T] {
	return typed[T]{coalesce(here(), argOf(ok), argOf(fallback))}
}

func coalesce(pos document.Pos, ok, fallback argument) argument {
	a := argument{pos: pos, binds: defaults}
	a.source = func(d *definition) string {
		return strings.TrimSuffix(ok.operand(d), orNull) + " ?? " + fallback.operand(d)
	}
	return a
}

// orNull ends a chain whose value is null if all results in it are missing.
const orNull = " ?? null"

// Value returns a literal. Braces in its strings are text, not expressions.
func Value[T any](v T) Arg[T] {
	plain, err := value.Own(v)
	return typed[T]{argument{
		pos: here(), err: err,
		literal: func(*definition) value.Value { return escape(plain) },
		inline:  func(*definition) string { return source(plain) },
	}}
}

// Expr returns an expression such as `{{ steps.split.output[0].count + 1 }}`, or a text with expressions. Its value is not
// checked to be a T; the names in it are checked when the workflow is defined.
func Expr[T any](text string) Arg[T] {
	pos := here()
	return typed[T]{argument{
		pos:     pos,
		literal: func(*definition) value.Value { return text },
		inline: func(d *definition) string {
			inner, opened := strings.CutPrefix(strings.TrimSpace(text), "{{")
			inner, closed := strings.CutSuffix(inner, "}}")
			if !opened || !closed || strings.Contains(inner, "{{") {
				d.fault(pos, text, "a part of an expression must be one expression, as in {{ input.price }}, and no text around one")
			}
			return "(" + strings.TrimSpace(inner) + ")"
		},
	}}
}

// Status returns the status of a step, as written in journals and documents: completed, failed, skipped, aborted, …
func Status(step Placed) Arg[string] {
	pos := here()
	return typed[string]{argument{pos: pos, source: func(d *definition) string {
		return d.field(placedOf(step), "status", pos)
	}}}
}

// Completed returns whether a step has completed. As the test of an If it catches the step's failure.
func Completed(step Placed) Arg[bool] {
	pos := here()
	h := placedOf(step)
	return typed[bool]{argument{pos: pos, tested: h, binds: loose, source: func(d *definition) string {
		return d.field(h, "status", pos) + " == 'completed'"
	}}}
}

// Failed returns whether a step has failed or was aborted. As the test of an If it catches that.
func Failed(step Placed) Arg[bool] {
	pos := here()
	return typed[bool]{argument{pos: pos, binds: loose, source: func(d *definition) string {
		return d.field(placedOf(step), "status", pos) + " in ['failed', 'aborted']"
	}}}
}

// render returns the form of the argument in the tree.
func (a argument) render(d *definition) value.Value {
	switch {
	case a.err != nil:
		d.fault(a.pos, "", a.err.Error())
		return nil
	case a.source != nil:
		return "{{ " + a.source(d) + " }}"
	case a.literal != nil:
		return a.literal(d)
	}
	d.refuseFunction(a)
	return nil
}

func (d *definition) refuseFunction(a argument) {
	if a.function == nil {
		d.fault(a.pos, "", errNil.Error())
		return
	}
	d.fault(a.pos, a.function.Name, fmt.Sprintf("the function %q can give a whole input, list or test, not a part of one", a.function.Name))
}

// expression returns the argument as a part of an expression.
func (a argument) expression(d *definition) string {
	switch {
	case a.err != nil:
		d.fault(a.pos, "", a.err.Error())
	case a.source != nil:
		return a.source(d)
	case a.inline != nil:
		return a.inline(d)
	default:
		d.refuseFunction(a)
	}
	return "null"
}

// operand returns the argument as one side of ??.
func (a argument) operand(d *definition) string {
	text := a.expression(d)
	if a.source != nil && a.binds == loose {
		return "(" + text + ")"
	}
	return text
}

// renderFunc returns the call of a Go function that computes the argument; nil if there is none.
func (a argument) renderFunc(d *definition) *template.Func {
	if a.function == nil {
		return nil
	}
	if err := d.workflow.Register(a.function); err != nil {
		d.fault(a.pos, a.function.Name, err.Error())
	}
	f := &template.Func{Name: a.function.Name, Pos: a.pos, Args: make([]value.Value, len(a.args))}
	for i, arg := range a.args {
		f.Args[i] = arg.render(d)
	}
	return f
}

// escape writes a literal as an expression if a string or an object in it would have a meaning in expressions.
func escape(v value.Value) value.Value {
	switch v := v.(type) {
	case string:
		if strings.Contains(v, "{{") {
			return "{{ " + source(v) + " }}"
		}
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = escape(item)
		}
		return list
	case map[string]any:
		if _, isPointer := v["from"]; isPointer {
			return "{{ " + source(v) + " }}"
		}
		object := make(map[string]any, len(v))
		for key, item := range v {
			object[key] = escape(item)
		}
		return object
	}
	return v
}

// source writes a value as an expression: its JSON is one.
func source(v value.Value) string {
	text, err := value.JSON(v)
	if err != nil {
		panic(fmt.Sprintf("flow: a value that is of the model has no JSON: %v", err))
	}
	return string(text)
}

// plainKey is a key that can follow a dot, unless it is a keyword.
var plainKey = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

var keywords = []string{
	"and", "or", "not", "in", "let", "if", "else", "matches", "contains", "startsWith", "endsWith", "true", "false", "nil", "null",
}

// member writes the access to a key: .key if the key is a plain name, otherwise ["a key"].
func member(key string) string {
	if plainKey.MatchString(key) && !slices.Contains(keywords, key) {
		return "." + key
	}
	return "[" + source(key) + "]"
}
