package measures

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/workers"
)

// Documents may name operations without end: the series of a process are bounded, and those that there are stay.
func TestOperationsHaveFewSeries(t *testing.T) {
	c := &workerCollector{shown: map[string]bool{}}
	demands := func(from, n int) (list []workers.Demand) {
		for i := range n {
			list = append(list, workers.Demand{Operation: fmt.Sprint("op-", from+i), Runs: i, Calls: 1, Unserved: time.Unix(1, 0)})
		}
		return list
	}
	require.Len(t, c.loads(demands(0, operationsMax)), operationsMax)
	require.Equal(t, []load{{"op-1", 2, 1}, {"op-0", 1, 1}}, c.loads(demands(0, 2)))
	require.Equal(t, []load{{others, 3, 1}}, c.loads(demands(1000, 2)))
	served := workers.Demand{Operation: "served", Runs: 7}
	require.Equal(t, []load{{"op-0", 1, 1}, {others, 7, 0}}, c.loads(append(demands(0, 1), served)))

	c = &workerCollector{shown: map[string]bool{}}
	list := c.loads(demands(0, 3*operationsMax))
	require.Len(t, list, operationsMax+1)
	require.Equal(t, load{"op-299", 300, 1}, list[0], "the longest queues first")
	all := 0
	for _, l := range list {
		all += l.queue
	}
	require.Equal(t, 300*301/2, all)
}
