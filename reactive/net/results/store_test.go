package results_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/net/results"
	"github.com/sluiceflow/sluice/template/playbook"
	"github.com/sluiceflow/sluice/template/value"
)

func TestAReferenceStandsForAResult(t *testing.T) {
	var s results.Store
	v := map[string]any{"rows": []any{int64(1), int64(2)}, "name": "a"}
	standing, err := s.Put("r", v, []playbook.Select{{Path: []string{"name"}, As: "n"}, {Path: []string{"none"}, As: "x"}})
	require.NoError(t, err)
	object := standing.(map[string]any)
	require.Equal(t, map[string]any{"n": "a", "x": nil}, object["extracted"])
	require.Equal(t, int64(results.Size(v)), object["meta"].(map[string]any)["bytes"])
	got, ok := s.Get(object["ref"].(string))
	require.True(t, ok)
	require.Equal(t, v, got)
	require.Equal(t, v, s.Whole(standing))

	again, err := s.Put("r", map[string]any{"name": "a", "rows": []any{int64(1), int64(2)}}, nil)
	require.NoError(t, err)
	require.Equal(t, object["ref"], again.(map[string]any)["ref"], "equal values share an entry")

	var other results.Store
	require.Equal(t, standing, other.Whole(standing), "only its own run can resolve a reference")
	require.Equal(t, "a", s.Whole("a"))
	own := map[string]any{"kind": "own", "ref": object["ref"]}
	require.Equal(t, own, s.Whole(own), "an author's object may have a ref too")
	_, ok = other.Get(object["ref"].(string))
	require.False(t, ok)
}

// The largest values become references, and no more of them than necessary.
func TestShrinkReplacesTheLargestFirst(t *testing.T) {
	args := func() map[string]value.Value {
		return map[string]value.Value{"small": strings.Repeat("a", 10), "large": strings.Repeat("b", 4000), "middle": strings.Repeat("c", 2000)}
	}
	for _, c := range []struct {
		most     int
		fits     bool
		replaced []string
	}{
		{3000, true, []string{"large"}},
		{1000, true, []string{"large", "middle"}},
		{100, false, []string{"large", "middle", "small"}},
	} {
		var s results.Store
		got, was := args(), args()
		fits, err := s.Shrink("r", got, results.Size(got), c.most)
		require.NoError(t, err)
		require.Equal(t, c.fits, fits)
		require.Equal(t, c.fits, results.Size(got) <= c.most)
		var replaced []string
		for _, k := range []string{"large", "middle", "small"} {
			if !value.Equal(got[k], was[k]) {
				replaced = append(replaced, k)
				require.Equal(t, was[k], s.Whole(got[k]))
			}
		}
		require.Equal(t, c.replaced, replaced)
	}
}
