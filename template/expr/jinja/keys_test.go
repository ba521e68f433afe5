package jinja_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr/jinja"
	"github.com/sluiceflow/sluice/template/value"
)

func TestKeys(t *testing.T) {
	tests := []struct {
		source string
		keys   []string
		all    bool
	}{
		{"{{ ctx.a and ctx['b'].c and ctx.get('d', ctx.e) }}", []string{"a", "b", "d", "e"}, false},
		{"{{ other.a }}", nil, false},
		{"{{ ctx[other] }}", nil, true},
		{"{{ ctx | length }}", nil, true},
		{"{{ 'a' in ctx }}", nil, true},
		{"{{ [1 if ctx.a else ctx.b, x[ctx.c:], {'k': ctx.d}, range(ctx.e), -ctx.f, ctx.g is in ctx.h] }}", []string{"a", "b", "c", "d", "e", "f", "g", "h"}, false},
		{"{{ ctx.items() }}", nil, true},
		{"{{ ctx.get(k) }}", nil, true},
		{"{{ ctx.get('a', ctx.b) }}", []string{"a", "b"}, false},
		{"{{ ctx.a.get('m', ctx.b) and ctx.get('c', ctx.d).m }}", []string{"a", "b", "c", "d"}, false},
		{"{{ range(*ctx.a) and dict(**ctx.b) and '%s' | format(*ctx.c) and ctx.get('d', *ctx.e) and (ctx.f,) }}", []string{"a", "b", "c", "d", "e", "f"}, false},
		{"{{ dict(**ctx) }}", nil, true},
	}
	for _, tt := range tests {
		c, err := jinja.Compile(tt.source)
		require.NoError(t, err)
		keys, all := c.Keys("ctx")
		require.Equal(t, tt.keys, keys, tt.source)
		require.Equal(t, tt.all, all, tt.source)
	}
}

func TestMembers(t *testing.T) {
	for _, tt := range []struct {
		source  string
		members []string
		all     bool
	}{
		{"{{ ctx.a.m and ctx['a'].n and ctx.get('a').get('o', ctx.a.p) and ctx.a.m.deep }}", []string{"m", "n", "o", "p"}, false},
		{"{{ ctx.get('a', ctx.a.q).m }}", []string{"m", "q"}, false},
		{"{{ ctx.b.m }}", nil, false},
		{"{{ ctx.a }}", nil, true},
		{"{{ ctx.a[other] }}", nil, true},
		{"{{ ctx.a | length }}", nil, true},
	} {
		c, err := jinja.Compile(tt.source)
		require.NoError(t, err)
		members, all := c.Members("ctx", "a")
		require.Equal(t, tt.members, members, tt.source)
		require.Equal(t, tt.all, all, tt.source)
	}
}

// aliases is an environment in which results can be read as their field data.
type aliases struct{ env }

func (a aliases) Under(name, key string) (value.Value, bool) {
	v, err := a.Name(name)
	return v, err == nil && key == "data"
}

func TestFallback(t *testing.T) {
	for source, want := range map[string]any{
		"{{ list.data }}": list(3, 1, 2), "{{ list['data'] }}": list(3, 1, 2), "{{ list.data | length }}": int64(3), "{{ list.data is defined }}": true,
		"{{ ctx.deep.data }}": nil, "{{ list.other is defined }}": false, "{{ ctx.get('data').n }}": int64(2), "{{ ctx.get('none', 5) }}": int64(5),
		"{{ ctx.deep }}": map[string]any{"k": "v"}, "{{ (list).data.data is defined }}": false, "{{ list[0].data is defined }}": false,
	} {
		c, err := jinja.Compile(source)
		require.NoError(t, err)
		v, err := c.Eval(aliases{world})
		require.NoError(t, err, source)
		require.Equal(t, want, v, source)
	}
	c, err := jinja.Compile("{{ nobody['data'] }}")
	require.NoError(t, err)
	_, err = c.Eval(aliases{world})
	require.ErrorContains(t, err, `nobody is undefined: it has no ["data"]`)
}
