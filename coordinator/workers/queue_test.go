package workers

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// A queue has each run once, in the order in which they came, also after runs leave and come again, and takes little more memory than the
// waiting runs need.
func TestAQueueKeepsItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var q queue
		var model []string
		now := time.Unix(0, 0)
		remove := func(run string) {
			q.remove(run)
			for i := range model {
				if model[i] == run {
					model = append(model[:i:i], model[i+1:]...)
					break
				}
			}
		}
		for range rapid.IntRange(1, 500).Draw(t, "moves") {
			now = now.Add(time.Second)
			run := fmt.Sprint(rapid.IntRange(0, 30).Draw(t, "run"))
			switch rapid.IntRange(0, 4).Draw(t, "move") {
			case 0:
				remove(run)
			case 1:
				if first, any := q.first(); any {
					require.Equal(t, model[0], first.run)
					remove(first.run)
				} else {
					require.Empty(t, model)
				}
			default:
				if _, waits := q.came[run]; !waits {
					model = append(model, run)
				}
				q.add(run, now)
			}
			require.Len(t, q.came, len(model))
			require.LessOrEqual(t, len(q.runs), 2*len(model)+65)
		}
	})
}

// The waits in the heads of runs are known before the runs are loaded, the longest wait first, and a run that was expected is not counted again.
func TestRunsAreExpectedByTheirHeads(t *testing.T) {
	h := New(nil, NewKey())
	defer h.Close()
	wait := func(kind, name string) journal.Wait { return journal.Wait{Kind: kind, Name: name} }
	h.Expect([]journal.Head{
		{Run: "newer", Updated: 2e9, Waits: []journal.Wait{wait(journal.WaitWorker, "a"), wait(journal.WaitWorker, "b")}},
		{Run: "older", Updated: 1e9, Waits: []journal.Wait{wait(journal.WaitTimer, ""), wait(journal.WaitWorker, "a")}},
		{Run: "other", Updated: 1, Waits: []journal.Wait{wait(journal.WaitMessage, "a")}},
	})
	_, ok := h.Reserve("older", "a")
	require.False(t, ok)
	_, demands := h.List()
	require.Equal(t, []Demand{
		{Operation: "a", Runs: 2, Since: time.Unix(1, 0), Unserved: h.began},
		{Operation: "b", Runs: 1, Since: time.Unix(2, 0), Unserved: h.began},
	}, demands)
	h.Leave("older", []string{"a", "unknown"})
	_, demands = h.List()
	require.Equal(t, Demand{Operation: "a", Runs: 1, Since: time.Unix(2, 0), Unserved: h.began}, demands[0])
	(*Hub)(nil).Expect(nil)
}
