package directory_test

import (
	"bytes"
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

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/internal/readfile"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// fixture is a directory in a file that a test rewrites. Tests use it in a synctest bubble, whose time begins in the year 2000, so
// they set the times of files themselves.
type fixture struct {
	t    *testing.T
	path string
	log  bytes.Buffer
	d    *directory.File
}

const checkEvery = 10 * time.Second

// watched opens a file with one passport for the capability c, written long ago.
func watched(t *testing.T) *fixture {
	f := &fixture{t: t, path: filepath.Join(t.TempDir(), "directory.yaml")}
	f.write(offer("pa"), time.Hour)
	d, err := directory.Open(f.path, directory.Config{CheckEvery: checkEvery, Logger: slog.New(slog.NewTextHandler(&f.log, nil))})
	require.NoError(t, err)
	f.d = d
	f.requireHolder("pa")
	return f
}

// offer returns the text of a directory in which one participant offers c.
func offer(participant string) string {
	return fmt.Sprintf("participants: {%s: {}}\ncapabilities: {c: [{participant: %s}]}\n", participant, participant)
}

// write rewrites the file in place, and sets its age.
func (f *fixture) write(text string, age time.Duration) {
	require.NoError(f.t, os.WriteFile(f.path, []byte(text), 0o600))
	f.setAge(age)
}

func (f *fixture) setAge(age time.Duration) {
	at := time.Now().Add(-age)
	require.NoError(f.t, os.Chtimes(f.path, at, at))
}

func (f *fixture) requireHolder(id string) {
	f.t.Helper()
	target := &template.Target{Resolve: template.ResolveCapability, CapabilityID: "c"}
	require.Equal(f.t, []string{id}, directory.Resolve(f.d, target, time.Now()))
	_, ok := f.d.Participant(id)
	require.True(f.t, ok)
}

// logged returns the number of times that a text was logged.
func (f *fixture) logged(text string) int { return strings.Count(f.log.String(), text) }

func TestAChangedFileIsReadAtTheNextCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watched(t)
		f.write(offer("pb"), time.Minute)
		f.requireHolder("pa")
		time.Sleep(checkEvery - 1)
		f.requireHolder("pa")
		time.Sleep(time.Nanosecond)
		f.requireHolder("pb")
		require.Equal(t, 1, f.logged("read again"))

		// The next check is due CheckEvery after this one.
		f.write(offer("pc"), time.Minute)
		f.requireHolder("pb")
		time.Sleep(3 * checkEvery)
		f.requireHolder("pc")
	})
}

func TestAFileThatIsRenamedOverTheOldOneIsAnotherVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watched(t)
		info, err := os.Stat(f.path)
		require.NoError(t, err)
		next := f.path + ".next"
		require.NoError(t, os.WriteFile(next, []byte(offer("pb")), 0o600))
		require.NoError(t, os.Chtimes(next, info.ModTime(), info.ModTime()))
		require.NoError(t, os.Rename(next, f.path))
		time.Sleep(checkEvery)
		f.requireHolder("pb")
	})
}

// A changed file with the same time and size is not read again.
func TestAFileWithTheSameTimeAndSizeIsNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watched(t)
		f.write(offer("pb"), time.Hour)
		time.Sleep(checkEvery)
		before := time.Now().Add(-time.Hour - checkEvery)
		require.NoError(t, os.Chtimes(f.path, before, before))
		f.requireHolder("pa")
	})
}

// A file that had just been written when it was read is read again: a second change in the same tick has the same time.
func TestAFileThatWasJustWrittenIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watched(t)
		time.Sleep(checkEvery)
		f.write(offer("pb"), time.Second)
		written := time.Now().Add(-time.Second)
		f.requireHolder("pb")
		require.NoError(t, os.WriteFile(f.path, []byte(offer("pc")), 0o600))
		require.NoError(t, os.Chtimes(f.path, written, written))
		time.Sleep(checkEvery)
		f.requireHolder("pc")
		require.Equal(t, 2, f.logged("read again"))
	})
}

func TestATouchedFileIsTheSameVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watched(t)
		f.setAge(time.Minute)
		time.Sleep(checkEvery)
		f.requireHolder("pa")
		require.Empty(t, f.log.String())
	})
}

func TestABrokenVersionKeepsTheOldOneAndIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watched(t)
		for _, age := range []time.Duration{time.Second, time.Minute, time.Hour} { // a young file is read at each check
			f.write("particpants: {}\n", age)
			for range 3 {
				time.Sleep(checkEvery)
				f.requireHolder("pa")
			}
		}
		require.Equal(t, 1, f.logged("cannot be read"))
		require.Equal(t, 1, f.logged("directory.yaml:1:1: particpants: unknown key"))

		f.write("capabilities: [\n", time.Minute)
		time.Sleep(checkEvery)
		f.requireHolder("pa")
		require.Equal(t, 2, f.logged("cannot be read"), "another fault is logged")

		f.write(offer("pb"), time.Minute)
		time.Sleep(checkEvery)
		f.requireHolder("pb")
		require.Equal(t, 1, f.logged("read again"))
	})
}

func TestAMissingFileKeepsThePreviousVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := watched(t)
		require.NoError(t, os.Remove(f.path))
		for range 3 {
			time.Sleep(checkEvery)
			f.requireHolder("pa")
		}
		require.Equal(t, 1, f.logged("cannot be read"))
		f.write(offer("pa"), time.Minute)
		time.Sleep(checkEvery)
		f.requireHolder("pa")
		require.Equal(t, 1, f.logged("read again"))

		require.NoError(t, os.Remove(f.path))
		time.Sleep(checkEvery)
		f.requireHolder("pa")
		require.Equal(t, 2, f.logged("cannot be read"), "missing for a second time")
	})
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	for _, c := range []struct{ name, text, want string }{
		{"unknown key", "participant: {}\n", `unknown key "participant" (did you mean "participants"?)`},
		{"a passport without a participant", "capabilities: {c: [{}]}\n", `:1:20: capabilities.c[0].participant: participant is missing`},
		{"two documents", "participants: {}\n---\nparticipants: {}\n", ":3:1: a second document in the file of a directory"},
		{"nothing", "", "no document"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(folder, "directory.yaml")
			require.NoError(t, os.WriteFile(path, []byte(c.text), 0o600))
			_, err := directory.Open(path, directory.Config{})
			require.ErrorContains(t, err, c.want)
			var faults document.Errors
			require.ErrorAs(t, err, &faults)
		})
	}
	_, err := directory.Open(filepath.Join(folder, "none.yaml"), directory.Config{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = directory.Open(folder, directory.Config{})
	require.ErrorContains(t, err, "is a folder, not a regular file")
	large := filepath.Join(folder, "large.yaml")
	require.NoError(t, os.WriteFile(large, []byte("x-note: "+strings.Repeat("a", 1<<20)), 0o600))
	_, err = directory.Open(large, directory.Config{})
	require.ErrorIs(t, err, readfile.ErrTooLarge)
}

// Concurrent users of a changing file always see a whole version, and in the end the last one.
func TestManyMayUseAFileWhileItChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "directory.yaml")
	replace := func(i int) {
		next := path + ".next"
		require.NoError(t, os.WriteFile(next, []byte(offer(fmt.Sprintf("p%d", i))), 0o600))
		require.NoError(t, os.Rename(next, path))
	}
	replace(0)
	d, err := directory.Open(path, directory.Config{CheckEvery: 1, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	target := &template.Target{Resolve: template.ResolveCapability, CapabilityID: "c"}
	var users sync.WaitGroup
	for range 4 {
		users.Go(func() {
			for range 500 {
				if got := directory.Resolve(d, target, start); len(got) != 1 {
					t.Errorf("Resolve = %v, want one participant", got)
				}
			}
		})
	}
	for i := range 20 {
		replace(i)
	}
	users.Wait()
	require.Equal(t, []string{"p19"}, directory.Resolve(d, target, start))
}

func BenchmarkFile(b *testing.B) {
	path := filepath.Join(b.TempDir(), "directory.yaml")
	require.NoError(b, os.WriteFile(path, []byte(offer("pa")), 0o600))
	for _, c := range []struct {
		name  string
		every time.Duration
	}{{"between looks", time.Hour}, {"looking each time", 1}} {
		b.Run(c.name, func(b *testing.B) {
			at := time.Now().Add(-time.Hour)
			require.NoError(b, os.Chtimes(path, at, at))
			d, err := directory.Open(path, directory.Config{CheckEvery: c.every})
			require.NoError(b, err)
			require.Len(b, d.Passports("c"), 1)
			b.ReportAllocs()
			for b.Loop() {
				d.Passports("c")
			}
		})
	}
}
