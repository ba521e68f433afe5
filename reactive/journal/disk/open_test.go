package disk_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// one returns a batch of one event.
func one(value any) []journal.Event {
	return []journal.Event{{Type: journal.CallRequested, Node: "a", Attempt: 1, Value: value}}
}

func mustAppend(t testing.TB, s *disk.Store, stream string, after uint64, events []journal.Event) {
	last, err := s.Append(context.Background(), stream, after, events, journal.Head{})
	require.NoError(t, err)
	require.Equal(t, after+uint64(len(events)), last)
}

// read returns the values of a stream's events, and the error that ends it.
func read(s *disk.Store, stream string, from uint64) (values []any, err error) {
	for e, err := range s.Read(context.Background(), stream, from) {
		if err != nil {
			return values, err
		}
		values = append(values, e.Value)
	}
	return values, nil
}

func mustRead(t testing.TB, s *disk.Store, stream string) []any {
	values, err := read(s, stream, 1)
	require.NoError(t, err)
	return values
}

func TestOneProcessPerDirectory(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	s := open(t, dir, disk.Config{})
	for _, name := range []string{dir, dir + "/../" + filepath.Base(dir)} {
		_, err := disk.Open(name, disk.Config{})
		require.ErrorIs(t, err, journal.ErrLocked)
		require.ErrorContains(t, err, fmt.Sprintf("process %d, which is this one", os.Getpid()))
	}

	out, err := child("open", dir).CombinedOutput()
	require.NoError(t, err)
	require.Contains(t, string(out), fmt.Sprintf("another process has the directory open: process %d\n", os.Getpid()))

	mustAppend(t, s, "run", 0, one("x"))
	require.NoError(t, s.Close())
	s = open(t, dir, disk.Config{})
	require.Equal(t, []any{"x"}, mustRead(t, s, "run"))
	require.NoError(t, s.Close())
}

func TestOpenRefusesWhatItDoesNotKnow(t *testing.T) {
	tests := map[string]struct {
		version string
		want    error
		text    string
	}{
		"a newer directory": {"sluice journal 3\n", journal.ErrVersion, "directory of version 3, and this program reads 2; use a later version of the program"},
		"rubbish":           {"sluice jou", journal.ErrDamaged, "VERSION"},
		"nothing":           {"", journal.ErrDamaged, "VERSION"},
		"a version 0":       {"sluice journal 0\n", journal.ErrDamaged, "VERSION"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "VERSION"), []byte(test.version), 0o600))
			_, err := disk.Open(dir, disk.Config{})
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, test.text)
			entries, err := os.ReadDir(filepath.Join(dir, "db"))
			require.NoError(t, err)
			require.Empty(t, entries, "it touches nothing")
		})
	}
}

func TestOpenNeedsADirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := disk.Open(file, disk.Config{})
	require.ErrorContains(t, err, file)

	nested := filepath.Join(t.TempDir(), "a", "b", "c")
	s := open(t, nested, disk.Config{})
	require.NoError(t, s.Close())
}

// TestOpenNoticesLostCommits restores an older state of the database: everything in it is valid, but some commits are
// missing.
func TestOpenNoticesLostCommits(t *testing.T) {
	dir := t.TempDir()
	db := filepath.Join(dir, "db")
	s := open(t, dir, disk.Config{})
	mustAppend(t, s, "run", 0, one("first"))
	require.NoError(t, s.Close())
	old := filepath.Join(t.TempDir(), "old")
	require.NoError(t, os.CopyFS(old, os.DirFS(db)))
	s = open(t, dir, disk.Config{})
	mustAppend(t, s, "run", 1, one("second"))
	mustAppend(t, s, "run", 2, one("third"))
	require.NoError(t, s.Close())

	require.NoError(t, os.RemoveAll(db))
	require.NoError(t, os.CopyFS(db, os.DirFS(old)))
	_, err := disk.Open(dir, disk.Config{})
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, "db ends at commit 1, but COMMIT says that commit 3 was acknowledged")

	require.NoError(t, os.RemoveAll(db))
	_, err = disk.Open(dir, disk.Config{})
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, "holds no database, but commit 3 was acknowledged")

	require.NoError(t, os.CopyFS(db, os.DirFS(old)))
	require.NoError(t, os.Remove(filepath.Join(dir, "COMMIT")))
	s = open(t, dir, disk.Config{})
	require.Equal(t, []any{"first"}, mustRead(t, s, "run"), "removing the mark accepts the store as it is")
	require.NoError(t, s.Close())

	require.NoError(t, os.Remove(filepath.Join(dir, "VERSION")))
	_, err = disk.Open(dir, disk.Config{})
	require.ErrorIs(t, err, journal.ErrDamaged)
	require.ErrorContains(t, err, "VERSION is missing")
}

func TestPebbleIsQuiet(t *testing.T) {
	var text bytes.Buffer
	s := open(t, t.TempDir(), disk.Config{Logger: slog.New(slog.NewTextHandler(&text, nil))})
	mustAppend(t, s, "run", 0, one("x"))
	require.NoError(t, s.Close())
	require.Empty(t, text.String())
}

func Example() {
	dir, _ := os.MkdirTemp("", "journal")
	defer os.RemoveAll(dir)
	s, err := disk.Open(dir, disk.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	head := journal.Head{Run: "run-1", Name: "order", Status: "running", Open: true}
	_, err = s.Append(ctx, "run-1", 0, []journal.Event{{Type: journal.RunStarted, Value: "input"}}, head)
	fmt.Println("stored:", err == nil)
	_ = s.Close()

	s, _ = disk.Open(dir, disk.Config{})
	defer s.Close()
	for h := range s.Heads(ctx, "") {
		fmt.Println(h.Run, h.Name, h.Status, h.Last)
	}
	for e := range s.Read(ctx, "run-1", 1) {
		fmt.Println(e.Seq, e.Type, e.Value)
	}
	// Output:
	// stored: true
	// run-1 order running 1
	// 1 run.started input
}
