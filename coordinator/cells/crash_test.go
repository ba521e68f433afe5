package cells_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// crash is the disk of a machine that died during a life, with the acknowledgments and the keys of calls until then.
type crash struct {
	files *vfs.MemFS
	ack   *taken
	keys  map[string]string
	op    string
}

// crashes leads a life and returns a crash before each write, with a share of the unsynced data.
func crashes(t *testing.T, percent int) []crash {
	var mu sync.Mutex
	var list []crash
	k, ack := newTill(nil), &taken{sent: map[string]uint64{}}
	rng := rand.New(rand.NewPCG(1, uint64(percent)))
	files := vfs.NewCrashableMem()
	store, err := disk.Open("data", disk.Config{FreeFloorBytes: -1, FS: errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			mu.Lock()
			defer mu.Unlock()
			c := crash{ack: ack.copied(), keys: k.known(), op: fmt.Sprintf("%v of %s", op.Kind, op.Path)} // before the copy: it must be in it
			c.files = files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
			list = append(list, c)
		}
		return nil
	}))})
	require.NoError(t, err)
	e := k.open(t, store)
	run := lead(t, e, ack)
	requireWhole(t, run, ack, k)
	require.NoError(t, e.Shutdown(context.Background()))
	return list
}

// TestAWorldSurvivesACrashAtAnyWrite leads the life of a world, and leads it again from the disk that a crash at each write has
// left: nothing that was acknowledged is lost or taken twice, no call is made under another identity, and all cells end in the
// same states. An ordinary run tries a tenth of the crashes.
func TestAWorldSurvivesACrashAtAnyWrite(t *testing.T) {
	step := 10
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		step = 1
	}
	tried := 0
	for _, percent := range []int{0, 50, 100} {
		list := crashes(t, percent)
		for i := tried % step; i < len(list); i += step {
			c := list[i]
			tried++
			ok := t.Run(fmt.Sprintf("crash %d of %d at %s with %d %%", i, len(list), c.op, percent), func(t *testing.T) {
				store, err := disk.Open("data", disk.Config{FS: c.files, FreeFloorBytes: -1})
				require.NoError(t, err)
				if head, err := store.Head(t.Context(), "w"); err == nil {
					require.GreaterOrEqual(t, head.Snapshot, c.ack.snapshot)
				} else {
					require.Empty(t, c.ack.sent)
				}
				k := newTill(c.keys)
				e := k.open(t, store)
				run := lead(t, e, c.ack)
				requireWhole(t, run, c.ack, k)
				require.NoError(t, e.Shutdown(context.Background()))
			})
			if !ok {
				return
			}
		}
	}
	t.Logf("%d crashes", tried)
	require.Greater(t, tried, 20)
}
