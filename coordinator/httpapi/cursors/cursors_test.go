package cursors

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACursorIsOfOneList(t *testing.T) {
	list := Of("/v1/workflows", url.Values{"begins": {"a"}, "limit": {"1"}})
	next := list.At("order")
	place, ok := Of("/v1/workflows", url.Values{"begins": {"a"}, "limit": {"2"}, "cursor": {next}}).Place(next)
	require.True(t, ok)
	require.Equal(t, "order", place)
	for _, other := range []List{Of("/v1/workflows", url.Values{"begins": {"b"}}), Of("/v1/workflows", nil), Of("/v1/audit", url.Values{"begins": {"a"}})} {
		_, ok = other.Place(next)
		require.False(t, ok)
	}
	for _, madeUp := range []string{"order", "zzz", next[:5], next + "=", "\x00", "-1"} {
		_, ok = list.Place(madeUp)
		require.False(t, ok, madeUp)
	}
	place, ok = list.Place("")
	require.True(t, ok)
	require.Empty(t, place)
	require.Empty(t, list.At(""))
}
