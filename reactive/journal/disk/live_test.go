package disk

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLiveForgetsWhatIsOldAndNothingElse(t *testing.T) {
	const limit = 10
	l := newLive(limit)
	for i := range 1000 {
		l.remember(fmt.Sprint(i), &tip{last: uint64(i)})
		require.NotNil(t, l.tip("0"), "what is used is kept")
		for j := max(i-limit+2, 0); j <= i; j++ {
			generation := l.young[fmt.Sprint(j)]
			if generation == nil {
				generation = l.old[fmt.Sprint(j)]
			}
			require.NotNil(t, generation, "stream %d is younger than %d others", j, limit)
		}
		require.LessOrEqual(t, len(l.young)+len(l.old), 2*limit)
	}
	require.Nil(t, l.tip("1"))
}

func TestLiveKeepsNoWaiterWhoLeft(t *testing.T) {
	l := newLive(10)
	first, leaveFirst := l.wait("run")
	second, leaveSecond := l.wait("run")
	require.Equal(t, first, second)
	leaveFirst()
	require.Len(t, l.waiting, 1)
	l.synced([]move{{stream: "run", tip: new(tip), last: 1}})
	<-second
	require.Empty(t, l.waiting)
	third, leaveThird := l.wait("run")
	leaveSecond() // late: it must not take the place of who waits now
	require.Len(t, l.waiting, 1)
	leaveThird()
	require.Empty(t, l.waiting)
	require.NotEqual(t, second, third)
}
