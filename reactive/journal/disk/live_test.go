package disk

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

func TestLiveForgetsWhatIsOldAndNothingElse(t *testing.T) {
	const limit = 10
	l := newLive(limit)
	for i := range 1000 {
		l.remember(fmt.Sprint(i), &tip{last: uint64(i)})
		require.NotNil(t, l.tip("0"), "streams in use are remembered")
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
	leaveSecond() // late: it must not take the place of the reader that waits now
	require.Len(t, l.waiting, 1)
	leaveThird()
	require.Empty(t, l.waiting)
	require.NotEqual(t, second, third)
}

// A reader may leave in any way, even by a panic or by ending its goroutine.
func TestTailKeepsNoWaiterWhoLeft(t *testing.T) {
	s, err := Open(t.TempDir(), Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	_, err = s.Append(t.Context(), "run", 0, []journal.Event{{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "run"}}}}, journal.Head{})
	require.NoError(t, err)
	for _, leave := range []func(){func() { panic("enough") }, runtime.Goexit} {
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			defer func() { _ = recover() }()
			for range s.Tail(t.Context(), "run", 1) {
				leave()
			}
		}()
		<-gone
		s.live.mu.Lock()
		require.Empty(t, s.live.waiting)
		s.live.mu.Unlock()
	}
}

// The committer calls the logger, whose panic would end the process.
func TestALoggerThatPanicsIsSurvived(t *testing.T) {
	s, err := Open(t.TempDir(), Config{Logger: slog.New(panicking{})})
	require.NoError(t, err)
	s.turnReadOnly(journal.ErrReadOnly)
	_, err = s.Append(t.Context(), "run", 0, []journal.Event{{Type: journal.RunStarted}}, journal.Head{})
	require.ErrorIs(t, err, journal.ErrReadOnly)
	require.NoError(t, s.Close())
}

type panicking struct{ slog.Handler }

func (panicking) Enabled(context.Context, slog.Level) bool { panic("no log") }
