package transfer_test

import (
	"bytes"
	"context"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// watched is a store that calls a function before and after each write.
type watched struct {
	journal.ContentStore
	at func()
}

func (w *watched) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	w.at()
	defer w.at()
	return w.ContentStore.Append(ctx, stream, after, events, head)
}

func (w *watched) AppendBehind(ctx context.Context, stream string, gap uint64, events []journal.Event, head journal.Head) (uint64, error) {
	w.at()
	defer w.at()
	return w.ContentStore.AppendBehind(ctx, stream, gap, events, head)
}

func (w *watched) PutContent(ctx context.Context, stream string, blobs [][]byte) error {
	w.at()
	defer w.at()
	return w.ContentStore.PutContent(ctx, stream, blobs)
}

// If the machine dies at any write of an import, no incomplete run seems complete, the doctor finds the folder sound, and the next import
// of the file completes it.
func TestAnImportThatIsKilledLeavesNoHalfARun(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine opens many folders")
	}
	ctx := context.Background()
	source := engine(t, memory.New())
	ids := populateEnded(t, source)
	file := export(t, source, ids...)
	end(source)
	whole := everything(t, storeOf(t, file))

	files := vfs.NewCrashableMem()
	store, err := disk.Open("data", disk.Config{FS: files})
	require.NoError(t, err)
	var left []*vfs.MemFS
	_, err = transferOf(t, &watched{store, func() { left = append(left, files.CrashClone(vfs.CrashCloneCfg{})) }}).Import(ctx, bytes.NewReader(file), "ann")
	require.NoError(t, err)
	require.NoError(t, store.Close())
	require.Greater(t, len(left), 2*len(ids))

	parts := 0
	for i, files := range left {
		if i%3 > 0 && os.Getenv("SLUICE_EXHAUSTIVE") == "" {
			continue
		}
		sound(t, files)
		store, err := disk.Open("data", disk.Config{FS: files})
		require.NoError(t, err)
		e := engine(t, store)
		for head, err := range e.Runs(ctx, "") {
			require.NoError(t, err)
			run, err := e.Run(ctx, head.Run)
			require.NoError(t, err)
			if head.Last < whole[head.Run] {
				parts++
				require.True(t, head.Open && run.Held() && run.Incomplete(), "%s at point %d", head.Run, i)
				refuses(t, e, run)
			}
		}
		_, err = importing(e, file)
		require.NoError(t, err, "at point %d", i)
		require.True(t, bytes.Equal(file, export(t, e, ids...)), "at point %d", i)
		for id := range whole {
			require.False(t, e.Incomplete(id), id)
		}
		end(e)
		require.NotZero(t, sound(t, files))
	}
	require.Positive(t, parts, "no run was half there")
}
