package expr_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

func TestKeysAreThoseThatMayBeRead(t *testing.T) {
	for _, c := range []struct {
		name string
		in   any
		want []string
		all  bool
	}{
		{"nothing is read", "{{ 1 + 1 }}", nil, false},
		{"another variable is read", "{{ args.a }}", nil, false},
		{"a member", "{{ ctx.a }}", []string{"a"}, false},
		{"a member of a member", "{{ ctx.a.b.c }}", []string{"a"}, false},
		{"a key in brackets", `{{ ctx["a b"].c }}`, []string{"a b"}, false},
		{"an optional member", "{{ ctx?.a }}", []string{"a"}, false},
		{"several, sorted, each once", "{{ ctx.b == 1 && ctx.a == 2 || ctx.b == 3 }}", []string{"a", "b"}, false},
		{"a default", "{{ ctx.n ?? ctx.m }}", []string{"m", "n"}, false},
		{"several expressions in one text", "{{ ctx.a }} and {{ ctx.b }}", []string{"a", "b"}, false},
		{"anywhere in a value", map[string]any{"x": []any{"{{ ctx.a }}"}, "y": "{{ ctx.b }}"}, []string{"a", "b"}, false},
		{"a pointer", map[string]any{"from": "/ctx/a/b"}, []string{"a"}, false},
		{"a pointer to the whole", map[string]any{"from": "/ctx"}, nil, true},
		{"a computed key", "{{ ctx[args.k] }}", nil, true},
		{"the whole", "{{ len(ctx) }}", nil, true},
		{"the whole after a member", "{{ ctx.a == 1 && keys(ctx) == [] }}", nil, true},
		{"a variable that holds it", "{{ let c = ctx; c.a }}", nil, true},
		{"inside a predicate", "{{ any(args.list, # == ctx.a) }}", []string{"a"}, false},
		{"a chained comparison, whose middle the parser shares", "{{ 1 < ctx.a < 3 }}", []string{"a"}, false},
		{"a local of that name", "{{ map(args.list, .ctx) }}", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := expr.CompileValue(c.in, expr.Scope{Names: []string{"ctx", "args"}})
			require.NoError(t, err)
			keys, all := tmpl.Keys("ctx")
			require.Equal(t, c.want, keys)
			require.Equal(t, c.all, all)
		})
	}
}

func TestMembersAreThoseOfAKeyThatMayBeRead(t *testing.T) {
	for _, c := range []struct {
		name string
		in   any
		want []string
		all  bool
	}{
		{"nothing is read", "{{ ctx.b.m }}", nil, false},
		{"a member", "{{ ctx.a.m }}", []string{"m"}, false},
		{"a member of a member", "{{ ctx.a.m.n }}", []string{"m"}, false},
		{"keys in brackets", `{{ ctx["a"]["m"] }}`, []string{"m"}, false},
		{"several", "{{ ctx.a.n }} {{ ctx.a.m }}", []string{"m", "n"}, false},
		{"the key itself", "{{ ctx.a }}", nil, true},
		{"a computed member", "{{ ctx.a[args.k] }}", nil, true},
		{"a pointer", map[string]any{"from": "/ctx/a/m"}, []string{"m"}, false},
		{"a pointer to the key", map[string]any{"from": "/ctx/a"}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			tmpl, err := expr.CompileValue(c.in, expr.Scope{Names: []string{"ctx", "args"}})
			require.NoError(t, err)
			members, all := tmpl.Members("ctx", "a")
			require.Equal(t, c.want, members)
			require.Equal(t, c.all, all)
		})
	}
}

// ctx is an environment of two variables.
type ctx struct{ of map[string]any }

func (c ctx) Name(name string) (value.Value, error) {
	if name == "ctx" {
		return c.of, nil
	}
	return map[string]any{"k": "b", "list": []any{int64(1), int64(2)}}, nil
}

func (ctx) Step(string, expr.Field) (value.Value, error) { return nil, expr.ErrNoOutput }

// Keys that a template does not read do not affect its value.
func TestOtherKeysMakeNoDifference(t *testing.T) {
	atoms := []string{"ctx.a", `ctx["b"]`, "ctx?.c", "ctx[args.k]", "len(ctx)", "1", "(ctx.a ?? ctx.b)", "sum(args.list, # + (ctx.c ?? 0))"}
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom(atoms), 1, 4).Draw(t, "parts")
		text := "{{ [" + parts[0]
		for _, part := range parts[1:] {
			text += ", " + part
		}
		tmpl, err := expr.Compile(text+"] }}", expr.Scope{Names: []string{"ctx", "args"}})
		require.NoError(t, err)
		whole := map[string]any{"a": int64(1), "b": int64(2), "c": int64(3), "d": int64(4)}
		keys, all := tmpl.Keys("ctx")
		if all {
			return
		}
		other := maps.Clone(whole)
		maps.DeleteFunc(other, func(key string, _ any) bool { return !slices.Contains(keys, key) })
		want, err := tmpl.Eval(ctx{whole})
		require.NoError(t, err)
		got, err := tmpl.Eval(ctx{other})
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}
