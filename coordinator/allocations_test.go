package coordinator_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
)

// From its request to its result, a step in memory takes one allocation, its call; all others are shared by many steps.
func TestAStepAllocatesItsCallAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector drops pooled objects")
	}
	const steps, most = 20_000, 1.3
	w := layered(steps, 200)
	e := newEngine(t, coordinator.Config{})
	require.NoError(t, e.Register(w))
	run(t, e, w, nil) // compiles the workflow, and fills pools
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	require.Equal(t, reactive.RunCompleted, run(t, e, w, nil).Status)
	runtime.ReadMemStats(&after)
	require.LessOrEqual(t, float64(after.Mallocs-before.Mallocs)/steps, most)
}
