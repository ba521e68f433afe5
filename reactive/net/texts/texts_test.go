package texts_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/net/texts"
	"github.com/sluiceflow/sluice/template/expr"
)

// Equal values have equal texts, including long values written as hashes, and different values have different texts.
func TestTextsAreEqualForEqualValues(t *testing.T) {
	long := func(last string) map[string]any { return map[string]any{"text": strings.Repeat("x", 1000) + last} }
	x := texts.New(&expr.Meter{})
	require.Equal(t, `{"a":1,"b":[true,null]}`, x.Of(map[string]any{"b": []any{true, nil}, "a": int64(1)}))
	require.Equal(t, x.Of(long("a")), texts.New(&expr.Meter{}).Of(long("a")))
	require.NotEqual(t, x.Of(long("a")), x.Of(long("b")))
	require.Less(t, len(x.Of(long("a"))), 100)
}

// A long value in several places is written out once.
func TestASharedValueIsWrittenOnce(t *testing.T) {
	var meter expr.Meter
	x := texts.New(&meter)
	shared := []any{strings.Repeat("x", 100_000)}
	first, steps := x.Of(shared), meter.Spent()
	require.Positive(t, steps)
	require.Equal(t, first, x.Of(shared))
	require.Equal(t, steps, meter.Spent())
}
