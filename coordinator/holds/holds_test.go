package holds_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// Two users of one store, and one that reads it anew, agree on what is held after every step.
func TestWhatIsHeldFollowsFromTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx, store := context.Background(), memory.New()
		var users [2]*holds.Holds
		for i := range users {
			users[i] = holds.New(store)
			require.NoError(t, users[i].Read(ctx))
		}
		model := map[string]bool{}
		runs := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3)
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			user, ids := users[rapid.IntRange(0, 1).Draw(t, "user")], runs.Draw(t, "runs")
			hold := rapid.Bool().Draw(t, "hold")
			if hold {
				require.NoError(t, user.Hold(ctx, "ann", ids...))
			} else {
				require.NoError(t, user.Lift(ctx, "ann", ids...))
			}
			for _, id := range ids {
				require.Equal(t, hold, user.Has(id))
				model[id] = hold
			}
		}
		again := holds.New(store)
		require.NoError(t, again.Read(ctx))
		for _, id := range []string{"a", "b", "c"} {
			require.Equal(t, model[id], again.Has(id), id)
		}
	})
}
