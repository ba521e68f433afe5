package audit

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var discard = slog.New(slog.DiscardHandler)

func opened(t *testing.T, dir string) *Log {
	t.Helper()
	l, err := Open(dir, discard)
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// all returns the names of all entries, read in parts.
func all(t *testing.T, l *Log, q Query) (names []string) {
	t.Helper()
	for {
		page, err := l.Read(t.Context(), q)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Items), q.Limit)
		for _, e := range page.Items {
			names = append(names, e.Name)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return names
		}
	}
}

func TestEntriesAreKeptOverDaysAndListedNewestFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		l := opened(t, dir)
		var want []string
		for day := range 3 {
			for i := range 7 {
				name := fmt.Sprint(day, ".", i)
				l.Note(Entry{Kind: Act, Name: name, Route: strings.Repeat("-", i*i*3000), Actor: []string{"ann", "bob"}[i%2]}) // some longer than blockBytes
				want = append([]string{name}, want...)
				time.Sleep(time.Second)
			}
			time.Sleep(24 * time.Hour)
		}
		for limit := 1; limit <= len(want)+1; limit += 3 {
			require.Equal(t, want, all(t, l, Query{Limit: limit}))
		}
		require.Len(t, all(t, l, Query{Limit: 2, Actor: "ann"}), 12)
		first, err := l.Read(t.Context(), Query{Limit: 2})
		require.NoError(t, err)
		l.Note(Entry{Kind: Act, Name: "later"})
		time.Sleep(time.Second)
		second, err := l.Read(t.Context(), Query{Limit: 2, Cursor: first.Next})
		require.NoError(t, err)
		require.Equal(t, want[2], second.Items[0].Name, "what comes meanwhile changes no later part")
		require.NoError(t, l.Close())
		l.Note(Entry{Kind: Act, Name: "too late"})

		files, err := filepath.Glob(filepath.Join(dir, Dir, "*.jsonl"))
		require.NoError(t, err)
		require.Len(t, files, 4)
		info, err := os.Stat(files[0])
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

		l = opened(t, dir)
		require.Equal(t, append([]string{"later"}, want...), all(t, l, Query{Limit: 5}))
		time.Sleep(Kept - 48*time.Hour)
		l.Note(Entry{Kind: Act, Name: "a year later"})
		time.Sleep(time.Second)
		require.Equal(t, append([]string{"a year later", "later"}, want[:14]...), all(t, l, Query{Limit: 100}), "the first day is deleted")
		require.NoError(t, l.Close())
	})
}

func TestManyEntriesAreWrittenTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := opened(t, t.TempDir())
		var noting sync.WaitGroup
		for i := range 1000 {
			noting.Go(func() { l.Note(Entry{Kind: Act, Name: fmt.Sprint(i)}) })
		}
		noting.Wait()
		require.Empty(t, all(t, l, Query{Limit: 100}), "they are gathered")
		require.NoError(t, l.Close())
		require.Len(t, all(t, l, Query{Limit: 100}), 1000, "and none is lost at the end")
	})
}

// A client that is refused again and again fills no disk.
func TestRefusalsThatComeTooFastAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := opened(t, t.TempDir())
		for range 5000 {
			l.Note(Entry{Kind: Refused})
		}
		l.Note(Entry{Kind: Act, Name: "an act"})
		time.Sleep(time.Second)
		l.Note(Entry{Kind: Refused})
		require.NoError(t, l.Close())
		page, err := l.Read(t.Context(), Query{Limit: 1000})
		require.NoError(t, err)
		require.Len(t, page.Items, refusalsMax+2)
		require.Equal(t, 5000-refusalsMax, page.Items[0].Skipped)
	})
}

// Texts from an unknown client may be as long as a header: they fill no disk either.
func TestLongTextsAreCut(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	long := strings.Repeat("é", 15_000)
	for range refusalsMax {
		l.Note(Entry{Kind: Refused, Actor: long, OnBehalfOf: long, Run: long, Step: long, Name: long, Method: long, Request: long})
	}
	require.NoError(t, l.Close())
	page, err := l.Read(t.Context(), Query{Limit: 1})
	require.NoError(t, err)
	require.Equal(t, long[:textMax]+"…", page.Items[0].Run)
	info, err := os.Stat(l.path(l.day))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(refusalsMax*10*textMax))
}

func TestWhatACrashLeavesOfALineIsCutOff(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	l.Note(Entry{Kind: Act, Name: "whole"})
	require.NoError(t, l.Close())
	path := l.path(l.day)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(append([]byte{}, whole...), whole[:20]...), 0o600))
	require.Equal(t, []string{"whole"}, all(t, l, Query{Limit: 1}), "a line that has not ended is no entry")
	l = opened(t, dir)
	l.Note(Entry{Kind: Act, Name: "next"})
	require.NoError(t, l.Close())
	require.Equal(t, []string{"next", "whole"}, all(t, l, Query{Limit: 1}))

	damaged := strings.Replace(string(whole), `"kind"`, `"k`+"\x00"+`nd"`, 1)
	require.NoError(t, os.WriteFile(path, []byte(damaged+string(whole)), 0o600))
	page, err := l.Read(t.Context(), Query{Limit: 5, Kind: Act})
	require.NoError(t, err)
	require.Equal(t, Damaged, page.Items[1].Kind, "damage is never left out")
	found, err := Check(dir)
	require.NoError(t, err)
	require.Equal(t, []string{"line 1 of audit/" + l.day + ".jsonl cannot be read"}, found)
}

func TestAnAuditIsCopiedAsItIs(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	require.NoError(t, Copy(dir, to), "there is none")
	found, err := Check(to)
	require.NoError(t, err)
	require.Empty(t, found)
	l := opened(t, dir)
	l.Note(Entry{Kind: Act, Name: "copied"})
	require.NoError(t, l.Close())
	file, err := os.OpenFile(l.path(l.day), os.O_WRONLY|os.O_APPEND, 0)
	require.NoError(t, err)
	_, err = file.WriteString(`{"at":`)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.NoError(t, Copy(dir, to))
	found, err = Check(to)
	require.NoError(t, err)
	require.Empty(t, found)
	copied := opened(t, to)
	require.NoError(t, copied.Close())
	require.Equal(t, []string{"copied"}, all(t, copied, Query{Limit: 1}))
}

func TestCursorsAreThoseOfTheList(t *testing.T) {
	l := opened(t, t.TempDir())
	l.Note(Entry{Kind: Act})
	l.Note(Entry{Kind: Act})
	require.NoError(t, l.Close())
	page, err := l.Read(t.Context(), Query{Limit: 1})
	require.NoError(t, err)
	require.NotEmpty(t, page.Next)
	for _, cursor := range []string{"x", "-", "-1", l.day, l.day + "-", l.day + "-x", l.day + "--1", l.day + "-7", l.day + "-99999", "../x-0", l.day + "-99999999999999999999"} {
		_, err := l.Read(t.Context(), Query{Limit: 1, Cursor: cursor})
		require.ErrorIs(t, err, ErrCursor, cursor)
	}
}

// A full disk loses entries, which is logged, and stops nothing.
func TestAnAuditThatCannotBeWrittenSaysSo(t *testing.T) {
	dir := t.TempDir()
	l := opened(t, dir)
	require.NoError(t, os.RemoveAll(filepath.Join(dir, Dir)))
	l.closeFile()
	l.Note(Entry{Kind: Act})
	require.Error(t, l.Close())
}

func TestRequestsThatChangeNothingAreNotRecorded(t *testing.T) {
	for _, one := range []struct {
		method, route string
		commands      bool
		status        int
		kind          string
	}{
		{"GET", "/v1/runs", false, 200, ""}, {"GET", "/v1/runs", false, 404, ""}, {"GET", "/v1/runs", false, 401, Refused},
		{"GET", "/v1/audit", true, 200, ""}, {"POST", "/v1/check", true, 200, ""}, {"POST", "/v1/worker/take", false, 200, ""},
		{"POST", "/v1/worker/take", false, 403, Refused}, {"POST", "/v1/runs", true, 201, Act}, {"POST", "/v1/runs", true, 409, Act},
		{"DELETE", "/v1/runs/{run}", true, 200, Act}, {"POST", "/v1/session", false, 200, Login}, {"POST", "/v1/session", false, 401, Refused},
		{"GET", "/login", false, 303, Login}, {"DELETE", "/v1/session", false, 200, Logout}, {"POST", "/v1/runs", true, 429, Act},
	} {
		require.Equal(t, one.kind, KindOf(one.method, one.route, one.commands, one.status), "%+v", one)
	}
}
