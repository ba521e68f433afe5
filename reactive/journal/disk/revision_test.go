package disk_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

func TestACommitChangesTheRevisionAndEndsTheWait(t *testing.T) {
	dir := t.TempDir()
	_, err := disk.Revision(dir)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorIs(t, disk.AwaitCommit(t.Context(), dir, nil, nil), fs.ErrNotExist)
	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	commit := func(run string) {
		start := journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: run}}}
		_, err := store.Append(t.Context(), run, 0, []journal.Event{start}, journal.Head{Run: run})
		require.NoError(t, err)
	}
	commit("a")
	before, err := disk.Revision(dir)
	require.NoError(t, err)
	looks := 0
	require.NoError(t, disk.AwaitCommit(t.Context(), dir, before, func() (bool, error) {
		if looks++; looks == 2 {
			commit("b")
		}
		return false, nil
	}))
	require.Equal(t, 2, looks, "nothing is new before the commit")
	require.NoError(t, disk.AwaitCommit(t.Context(), dir, nil, nil), "it is newer than nothing")
}

func TestAWaitForACommitEndsOtherwise(t *testing.T) {
	dir := t.TempDir()
	store, err := disk.Open(dir, disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	defer func() { require.NoError(t, store.Close()) }()
	now, err := disk.Revision(dir)
	require.NoError(t, err)
	require.NoError(t, disk.AwaitCommit(t.Context(), dir, now, func() (bool, error) { return true, nil }))
	wrong := errors.New("wrong")
	require.ErrorIs(t, disk.AwaitCommit(t.Context(), dir, now, func() (bool, error) { return false, wrong }), wrong)
	ctx, cancel := context.WithCancel(t.Context())
	require.ErrorIs(t, disk.AwaitCommit(ctx, dir, now, func() (bool, error) { cancel(); return false, nil }), context.Canceled)
}

func TestAMarkWithoutEndIsRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "COMMIT")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Truncate(path, 1<<40))
	_, err := disk.Revision(dir)
	require.ErrorContains(t, err, "at most 4096 are read")
}
