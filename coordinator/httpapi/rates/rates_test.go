package rates

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRatesAreLimited(t *testing.T) {
	r, now := New(10), time.Now()
	for range 100 {
		require.True(t, r.Take("a", now))
	}
	require.False(t, r.Take("a", now))
	require.True(t, r.Take("b", now))
	require.False(t, r.Take("a", now.Add(99*time.Millisecond)))
	require.True(t, r.Take("a", now.Add(100*time.Millisecond)))
	for i := range clientsMax {
		r.Take(fmt.Sprint(i), now)
	}
	require.LessOrEqual(t, len(r.next), clientsMax)
}
