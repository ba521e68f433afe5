package rates

import (
	"fmt"
	"strconv"
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
}

// A client with many addresses frees none that is refused: it would have to use up the rates of nearly as many others.
func TestManyClientsFreeNoneThatIsRefused(t *testing.T) {
	r, now := New(10), time.Now()
	refused := func(who string) bool {
		for range 1000 {
			if !r.Take(who, now) {
				return true
			}
		}
		return false
	}
	require.True(t, refused("a"))
	for i := range 5 * clientsMax {
		r.Take(fmt.Sprint(i), now)
		r.Take(fmt.Sprint(i), now)
		require.LessOrEqual(t, len(r.next), clientsMax)
	}
	require.False(t, r.Take("a", now))
	for i := range clientsMax - forgottenMin - 1 {
		require.True(t, refused(fmt.Sprint("b", i)))
	}
	for i := range 5 * clientsMax {
		r.Take(fmt.Sprint(i), now)
	}
	require.False(t, r.Take("a", now), "at one instant all that are refused are equally far from being idle")

	now = now.Add(burst)
	for i := range clientsMax {
		require.True(t, r.Take(fmt.Sprint(-i), now), "all are idle")
	}
	require.LessOrEqual(t, len(r.next), clientsMax)
	require.NotContains(t, r.next, "a")
}

func BenchmarkEachClientComesOnce(b *testing.B) {
	r, now := New(10), time.Now()
	for i := range b.N {
		r.Take(strconv.Itoa(i), now.Add(time.Duration(i)))
	}
}
