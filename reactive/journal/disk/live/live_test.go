package live

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLiveForgetsWhatIsOldAndNothingElse(t *testing.T) {
	const limit = 10
	l := New(limit)
	for i := range 1000 {
		l.Remember(fmt.Sprint(i), &Tip{Last: uint64(i)})
		require.NotNil(t, l.Tip("0"), "streams in use are remembered")
		for j := max(i-limit+2, 0); j <= i; j++ {
			generation := l.young[fmt.Sprint(j)]
			if generation == nil {
				generation = l.old[fmt.Sprint(j)]
			}
			require.NotNil(t, generation, "stream %d is younger than %d others", j, limit)
		}
		require.LessOrEqual(t, len(l.young)+len(l.old), 2*limit)
	}
	require.Nil(t, l.Tip("1"))
}

func TestLiveKeepsNoWaiterWhoLeft(t *testing.T) {
	l := New(10)
	first, leaveFirst := l.Wait("run")
	second, leaveSecond := l.Wait("run")
	require.Equal(t, first, second)
	leaveFirst()
	require.Len(t, l.waiting, 1)
	l.Synced([]Move{{Stream: "run", Tip: new(Tip), Last: 1}})
	<-second
	require.Empty(t, l.waiting)
	third, leaveThird := l.Wait("run")
	leaveSecond() // late: it must not take the place of the reader that waits now
	require.Len(t, l.waiting, 1)
	leaveThird()
	require.Empty(t, l.waiting)
	require.NotEqual(t, second, third)
}
