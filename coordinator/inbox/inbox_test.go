package inbox_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/inbox"
	"github.com/sluiceflow/sluice/coordinator/pool"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
)

func item(t journal.Type) decide.Item { return decide.Item{Event: journal.Event{Type: t}} }

func TestOnlyASleepingLoopIsWoken(t *testing.T) {
	b := inbox.New()
	b.Add(item(journal.RunPaused))
	require.Empty(t, b.Woken(), "the loop is not asleep")
	require.True(t, b.Ready())
	b.Drain()
	require.False(t, b.Ready())
	b.Deliver([]*pool.Call{{}})
	b.Add(item(journal.RunResumed))
	require.Len(t, b.Woken(), 1)
}

func TestPutBackItemsComeFirst(t *testing.T) {
	b := inbox.New()
	b.Add(item(journal.RunPaused))
	first, second := &pool.Call{}, &pool.Call{}
	b.Deliver([]*pool.Call{first})
	items, ended := b.Drain()
	b.Add(item(journal.RunResumed))
	b.Deliver([]*pool.Call{second})
	b.PutBack(items, ended)
	require.True(t, b.Holds(journal.RunPaused))
	items, ended = b.Drain()
	require.Equal(t, journal.RunPaused, items[0].Event.Type)
	require.Equal(t, journal.RunResumed, items[1].Event.Type)
	require.Same(t, first, ended[0])
	require.Same(t, second, ended[1])
}

func TestAClosedInboxTakesNothing(t *testing.T) {
	b := inbox.New()
	b.Add(item(journal.RunPaused))
	require.False(t, b.CloseIfEmpty())
	require.True(t, b.Add(item(journal.RunResumed)))
	items, _ := b.Close()
	require.Len(t, items, 2)
	require.False(t, b.Add(item(journal.RunPaused)))
	require.False(t, b.Deliver(nil))
	b = inbox.New()
	require.True(t, b.CloseIfEmpty())
	require.False(t, b.Add(item(journal.RunPaused)))
}
