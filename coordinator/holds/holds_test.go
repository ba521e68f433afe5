package holds_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// After each of its steps, each of two users of one store has the runs that it has held, and a new user that reads the store has all.
func TestWhatIsHeldFollowsFromTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ctx, store := context.Background(), memory.New()
		var users [2]*holds.Holds
		for i := range users {
			users[i] = holds.New(store)
			require.NoError(t, users[i].Read(ctx))
		}
		model := map[string]int{} // 0: free, 1: held, 2: incomplete
		runs := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 1, 3)
		for range rapid.IntRange(1, 10).Draw(t, "steps") {
			user, ids := users[rapid.IntRange(0, 1).Draw(t, "user")], runs.Draw(t, "runs")
			as := rapid.IntRange(0, 2).Draw(t, "as")
			mark := []func(context.Context, string, ...string) error{user.Lift, user.Hold, user.HoldIncomplete}[as]
			require.NoError(t, mark(ctx, "ann", ids...))
			for _, id := range ids {
				require.Equal(t, as > 0, user.Has(id))
				require.Equal(t, as == 2, errors.Is(user.Check(id+"/step#1"), holds.ErrIncomplete))
				model[id] = as
			}
		}
		again := holds.New(store)
		require.NoError(t, again.Read(ctx))
		for _, id := range []string{"a", "b", "c"} {
			require.Equal(t, model[id] > 0, again.Has(id), id)
			require.Equal(t, model[id] == 2, again.Incomplete(id), id)
		}
	})
}
