package records

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

func TestLiveForgetsWhatIsOldAndNothingElse(t *testing.T) {
	const limit = 10
	l := NewLive(limit)
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
	l := NewLive(10)
	first, leaveFirst := l.Wait("run")
	second, leaveSecond := l.Wait("run")
	require.Equal(t, first, second)
	leaveFirst()
	require.Len(t, l.waiting, 1)
	l.Synced([]Move{{Stream: "run", Tip: new(Tip), Last: 1}})
	<-second
	require.Empty(t, l.waiting)
	third, leaveThird := l.Wait("run")
	leaveSecond() // late: it must not remove the reader that waits now
	require.Len(t, l.waiting, 1)
	leaveThird()
	require.Empty(t, l.waiting)
	require.NotEqual(t, second, third)
}

// The tip of a stream that begins anew is empty: its first events do not count as durable because of the events of the old
// stream.
func TestARenewedStreamHasNothingDurable(t *testing.T) {
	db, err := pebble.Open("", &pebble.Options{FS: vfs.NewMem()})
	require.NoError(t, err)
	defer db.Close()
	l := NewLive(8)
	old := &Tip{Last: 5, Durable: 5, Deleted: &journal.DeletedError{}}
	l.Remember("s", old)
	tip := l.Renew("s")
	require.Equal(t, &Tip{}, tip)
	require.Same(t, tip, l.Tip("s"))
	l.Accept(Move{Stream: "s", Tip: tip, Last: 1}, nil)
	it, durable, err := l.View(db, "s")
	require.NoError(t, err)
	require.NoError(t, it.Close())
	require.Zero(t, durable, "the commit is in flight")
}
