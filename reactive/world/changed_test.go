package world_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// TestTheEndOfAWorldChangesThoseThatWait: the end of a world changes the waiting cells, each once, in memory or not, and no others.
func TestTheEndOfAWorldChangesThoseThatWait(t *testing.T) {
	d := drive(t, narrowWorld).forgetful()
	for i := range 40 {
		require.NoError(t, d.send("Add", map[string]any{"id": fmt.Sprint(i)}, ""))
	}
	d.snapshot()
	for i := range 37 {
		require.NoError(t, d.take(journal.Event{Type: journal.NodeAborted, Node: fmt.Sprintf("sum[%d]", i), Detail: &journal.Detail{Reason: "enough"}}))
	}
	d.snapshot()
	d.world().Track()
	require.NoError(t, d.take(journal.Event{Type: journal.CellPaused, Node: "sum[37]"}))
	require.Len(t, d.world().Changed(), 1)
	changed := map[string]world.Status{}
	d.root.Apply(&journal.Event{Seq: d.root.Seq() + 1, Type: journal.RunCancelled, At: d.now, Detail: &journal.Detail{}})
	for _, c := range d.world().Changed() {
		changed[c.Address] = c.Status
	}
	require.Equal(t, map[string]world.Status{"sum[37]": world.Running, "sum[38]": world.Running, "sum[39]": world.Running}, changed)
	require.Len(t, d.world().Changed(), 3)
}
