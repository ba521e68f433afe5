package disk

import (
	"context"
	"log/slog"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

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
		require.Zero(t, s.live.Waiting())
	}
}

// The committer calls the logger, so a panic of the logger would end the process.
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
