package tokens

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var at = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func TestATokenIsKnownUntilItExpiresOrIsRevoked(t *testing.T) {
	dir := t.TempDir()
	keep, other := Of(dir), Of(dir)
	list, err := keep.List()
	require.NoError(t, err)
	require.Empty(t, list)
	_, ok := other.Check("", at)
	require.False(t, ok)

	ann, err := keep.Create("ann", "admin", at, time.Time{})
	require.NoError(t, err)
	bob, err := keep.Create("bob", "viewer", at, at.Add(time.Hour))
	require.NoError(t, err)
	require.NotEqual(t, ann, bob)
	require.Len(t, ann, len(prefix)+43)
	got, ok := other.Check(ann, at.Add(1000*time.Hour))
	require.True(t, ok)
	require.Equal(t, "admin", got.Role)
	_, ok = other.Check(bob, at.Add(time.Hour-1))
	require.True(t, ok)
	_, ok = other.Check(bob, at.Add(time.Hour))
	require.False(t, ok)
	for i := range 1000 {
		_, ok = other.Check(ann[:len(ann)-4]+fmt.Sprintf("%04d", i), at)
		require.False(t, ok)
	}

	data, err := os.ReadFile(filepath.Join(dir, FileName))
	require.NoError(t, err)
	require.NotContains(t, string(data), ann[len(prefix):])
	info, err := os.Stat(filepath.Join(dir, FileName))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	require.NoError(t, keep.Revoke("ann"))
	_, ok = other.Check(ann, at)
	require.False(t, ok, "what another process revokes counts at once")
	require.ErrorIs(t, keep.Revoke("ann"), ErrUnknown)
	_, err = keep.Create("bob", "viewer", at, time.Time{})
	require.ErrorIs(t, err, ErrExists)
	for _, name := range []string{"", "a b", "a\n", "ä", string(make([]byte, 200))} {
		_, err = keep.Create(name, "viewer", at, time.Time{})
		require.ErrorIs(t, err, ErrName)
	}
	list, err = keep.List()
	require.NoError(t, err)
	require.Len(t, list, 1)
	_, err = os.Stat(filepath.Join(dir, FileName+".new"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestWhatCannotBeReadLetsNoOneIn(t *testing.T) {
	dir := t.TempDir()
	keep := Of(dir)
	token, err := keep.Create("ann", "admin", at, time.Time{})
	require.NoError(t, err)
	var told []error
	keep.Damaged = func(err error) { told = append(told, err) }
	whole, err := os.ReadFile(filepath.Join(dir, FileName))
	require.NoError(t, err)
	_, ok := keep.Check(token, at)
	require.True(t, ok)
	for i, damaged := range []string{`[{"name":"ann"`, string(whole) + "x", string(whole) + "[]"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), []byte(damaged), 0o600))
		for range 3 {
			_, ok = keep.Check(token, at)
			require.False(t, ok, damaged)
		}
		require.Len(t, told, i+1)
		require.ErrorContains(t, told[i], FileName)
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), append(whole, "\n \n"...), 0o600))
	_, ok = keep.Check(token, at)
	require.True(t, ok, "it was mended")
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName), whole[:9], 0o600))
	_, err = keep.Create("bob", "viewer", at, time.Time{})
	require.ErrorContains(t, err, FileName)
	require.NoError(t, os.WriteFile(filepath.Join(dir, FileName+".new"), nil, 0o600))
	synctest.Test(t, func(t *testing.T) {
		_, err = keep.Create("bob", "viewer", at, time.Time{})
		require.ErrorIs(t, err, ErrBusy)
	})
}

func TestChangesWaitForEachOther(t *testing.T) {
	dir := t.TempDir()
	errs := make(chan error)
	for i := range 20 {
		go func() {
			_, err := Of(dir).Create(fmt.Sprint("t", i), "viewer", at, time.Time{})
			errs <- err
		}()
	}
	for range 20 {
		require.NoError(t, <-errs)
	}
	list, err := Of(dir).List()
	require.NoError(t, err)
	require.Len(t, list, 20)
}
