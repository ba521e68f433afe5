package cells_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/world"
)

func TestConditions(t *testing.T) {
	order := &cells.State{Address: "order[a]", Machine: "order", Key: "a", Status: world.Waiting, State: map[string]any{"cents": int64(500), "txn": nil}}
	empty := &cells.State{Address: "order[b]", Machine: "order", Key: "b", Status: world.Running, Paused: true}
	for text, want := range map[string][2]bool{
		"{{ state.cents > 100 }}": {true, false},
		"state.cents > 100":       {true, false},
		"state == null":           {false, true},
		"state.txn":               {false, false},
		`status == "waiting" && cell.status == status`:  {true, false},
		`cell.paused || cell.key == "a" && key == "a"`:  {true, true},
		`cell.machine == "order" && !(status == "zzz")`: {true, true},
	} {
		c, err := cells.ParseCondition(text)
		require.NoError(t, err, text)
		for i, s := range []*cells.State{order, empty} {
			yes, err := c.Holds(s)
			require.NoError(t, err, text)
			require.Equal(t, want[i], yes, "%s of %s", text, s.Address)
		}
	}
	for text, fault := range map[string]string{
		"state.cents":       "it must be true or false, not 500",
		"state.cents.x > 1": `there is no "x"`,
		`state.cents > "x"`: "cannot",
	} {
		c, err := cells.ParseCondition(text)
		require.NoError(t, err, text)
		_, err = c.Holds(order)
		require.ErrorContains(t, err, fault)
		yes, err := c.Holds(empty)
		require.NoError(t, err, "a cell without state")
		require.False(t, yes)
	}
	for text, fault := range map[string]string{
		"stat.cents":             `unknown name "stat" (did you mean "state"?)`,
		"state ==":               "condition",
		"true":                   "it reads nothing of the cell",
		"":                       "condition",
		"steps.x.output":         "",
		"{{ status }} {{ key }}": "",
	} {
		c, err := cells.ParseCondition(text)
		if err == nil {
			_, err = c.Holds(order)
		}
		require.ErrorContains(t, err, fault, text)
	}
}
