package doctor_test

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// contents holds the files of a store, by path.
type contents map[string]string

func load(t require.TestingT, files vfs.FS) contents {
	all := contents{}
	for _, dir := range []string{"data", "data/db"} {
		names, err := files.List(dir)
		require.NoError(t, err)
		for _, name := range names {
			path := dir + "/" + name
			if about, err := files.Stat(path); err != nil || about.IsDir() {
				continue
			}
			f, err := files.Open(path)
			require.NoError(t, err)
			text, err := io.ReadAll(f)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			all[path] = string(text)
		}
	}
	return all
}

func (c contents) write(t require.TestingT) *vfs.MemFS {
	files := vfs.NewMem()
	require.NoError(t, files.MkdirAll("data/db", 0o700))
	for path, text := range c {
		f, err := files.Create(path, vfs.WriteCategoryUnspecified)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	return files
}

// everything returns all heads and events of a store.
func everything(t require.TestingT, files vfs.FS) (heads []journal.Head, events map[string][]journal.Event) {
	s, err := disk.Open("data", disk.Config{FS: files, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	events = map[string][]journal.Event{}
	for head, err := range s.Heads(context.Background(), "") {
		require.NoError(t, err)
		heads = append(heads, head)
		for e, err := range s.Read(context.Background(), head.Run, 1) {
			require.NoError(t, err)
			events[head.Run] = append(events[head.Run], e)
		}
	}
	require.NoError(t, s.Close())
	return heads, events
}

// After a change of any bit in a file, the process does not crash, and a store that is sound by the doctor reads the same as before.
func TestASoundStoreReadsAsBefore(t *testing.T) {
	files := populated(t, 1)
	original := load(t, files)
	heads, events := everything(t, files)
	paths := slices.Sorted(maps.Keys(original))
	rapid.Check(t, func(t *rapid.T) {
		damaged := maps.Clone(original)
		path := rapid.SampledFrom(paths).Draw(t, "file")
		if damaged[path] == "" {
			return
		}
		damaged[path] = flipped(t, damaged[path])
		for _, mend := range []bool{false, true} {
			files := damaged.write(t)
			raw, err := disk.OpenRaw("data", mend, disk.Config{FS: files})
			if err != nil {
				continue
			}
			report, err := doctor.Check(context.Background(), raw, doctor.How{Mend: mend}, func(doctor.Fault) error { return nil })
			_ = raw.Close() // may report the damage again
			if err == nil && report.Sound() {
				h, e := everything(t, files)
				require.Equal(t, heads, h)
				require.Equal(t, events, e)
			}
		}
	})
}
