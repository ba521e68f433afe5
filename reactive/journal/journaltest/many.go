package journaltest

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Many fills a store with runs of one event each, for tests and benchmarks of large folders. The last open of them are open and wait
// for a person. Every run has a label team with one of a hundred texts, and one of a thousand has failed. A million runs take less
// than a minute, since many writers share each sync.
func Many(t testing.TB, s journal.Store, runs, open int) {
	const writers = 512
	var next atomic.Int64
	var all sync.WaitGroup
	var failed atomic.Pointer[error]
	events := batch(1, "")
	for range writers {
		all.Go(func() {
			for i := int(next.Add(1) - 1); i < runs && failed.Load() == nil; i = int(next.Add(1) - 1) {
				h := headOf(i, i >= runs-open)
				if _, err := s.Append(context.Background(), h.Run, 0, events, h); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		require.NoError(t, *err)
	}
}

func headOf(i int, open bool) journal.Head {
	h := journal.Head{
		Run: fmt.Sprintf("run-%07d", i), Workflow: "cafe", Name: fmt.Sprint("workflow ", i%10), Status: "completed", Started: int64(i + 1),
		Updated: int64(i + 2), Ended: int64(i + 2), Kind: "Workflow", Done: 3, Total: 3, Labels: map[string]string{"team": fmt.Sprint(i % 100)},
	}
	switch {
	case open:
		h.Status, h.Open, h.Ended, h.Done = "waiting", true, 0, 1
		h.Waits = []journal.Wait{{Kind: journal.WaitPerson, Name: "ann", Step: "approve"}}
	case i%1000 == 0:
		h.Status, h.Code, h.Failed = "failed", "timeout", 1
	}
	return h
}
