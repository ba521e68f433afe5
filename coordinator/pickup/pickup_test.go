package pickup_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/coordinator/pickup"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

func TestRunsArePickedUpWithTheirChildren(t *testing.T) {
	asked := 0
	r := pickup.New(func(head journal.Head) bool { asked++; return head.Run == "a" }, holds.New(memory.New()))
	require.False(t, r.Has("a"))
	require.True(t, r.Choose(journal.Head{Run: "a"}))
	require.False(t, r.Choose(journal.Head{Run: "b"}))
	require.Equal(t, 2, asked)
	require.True(t, r.Choose(journal.Head{Run: "a/s#1/t#2"}), "wants is not called for the child of a run that goes on")
	require.Equal(t, 2, asked)
	require.False(t, r.Has("b/s#1"))
	r.Add("b")
	require.True(t, r.Has("b/s#1"))
}

func TestAllRunsArePickedUpByDefault(t *testing.T) {
	r := pickup.New(nil, holds.New(memory.New()))
	require.True(t, r.Has("a"))
	require.True(t, r.Choose(journal.Head{Run: "a"}))
}
