package jinja_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/template/expr/jinja"
)

func BenchmarkEval(b *testing.B) {
	for _, source := range []string{"{{ ctx.deep.k }}", "{{ ctx.n | default(0) | int < n }}", "{{ s | lower }}-{{ n }}"} {
		b.Run(source, func(b *testing.B) {
			c, err := jinja.Compile(source)
			require.NoError(b, err)
			_, err = c.Eval(world)
			require.NoError(b, err)
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Eval(world)
			}
		})
	}
}
