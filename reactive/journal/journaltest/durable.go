package journaltest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// TestDurable tests the contract of a store that survives its process. open opens the store in a directory, creating it if it
// does not exist. TestDurable also calls it with damaged directories; it may then return an error.
func TestDurable(t *testing.T, open func(dir string) (journal.Store, error)) {
	d := durable{open: open}
	t.Run("a reopened store has everything", d.testReopen)
	t.Run("a killed store has everything that was acknowledged", d.testKill)
	for name, kill := range map[string]bool{"a closed store": false, "a killed store": true} {
		files, want := d.small(t, kill)
		for damage, how := range damages {
			t.Run(name+" with "+damage+" is complete or says that it is not", func(t *testing.T) {
				d.testDamage(t, files, want, how)
			})
		}
	}
}

type durable struct {
	open func(dir string) (journal.Store, error)
}

// contents is the expected content of a store.
type contents struct {
	streams map[string][]journal.Event
	heads   []journal.Head
	texts   map[string][]string // content by stream, if the store has any
	first   map[string]uint64   // of trimmed streams: the event behind the gap
}

// fill appends a few batches of every kind, with a large value if large is true, and adds the expected content to want. Each
// round continues the last one.
func fill(t *testing.T, s journal.Store, want *contents, round int, large bool) {
	m := model{streams: want.streams, heads: map[string]journal.Head{}}
	for _, h := range want.heads {
		m.heads[h.Run] = h
	}
	add := func(stream string, events []journal.Event, head journal.Head) {
		after := uint64(len(m.streams[stream]))
		_, ok := m.append(stream, after, events, head)
		require.True(t, ok)
		mustAppend(t, s, stream, after, events, head)
	}
	for i, n := range []int{1, 3, 2} {
		stream := fmt.Sprintf("run-%d", i)
		add(stream, batch(n, fmt.Sprint("round", round)), journal.Head{Run: stream, Status: "running", Due: int64(round)})
	}
	if large {
		events := batch(1, "")
		events[0].Value = strings.Repeat(fmt.Sprint("large", round), 6_000)
		add("run-0", events, journal.Head{})
	}
	add(journal.DefinitionStream(fmt.Sprint(round)), []journal.Event{{Type: journal.ContentStored, Value: "document"}}, journal.Head{})
	if c, ok := s.(journal.ContentStore); ok {
		fillContent(t, c, want, round, add)
	}
	want.heads = m.after("")
	for i := range want.heads {
		want.heads[i].First = want.first[want.heads[i].Run]
	}
}

// fillContent puts and sweeps content of two runs, and trims one, each before an append to that run.
func fillContent(t *testing.T, s journal.ContentStore, want *contents, round int, add func(string, []journal.Event, journal.Head)) {
	for _, run := range []string{"run-1", "run-2"} {
		add(run, batch(2, "before"), journal.Head{})
		put(t, s, run, "dropped", fmt.Sprint("kept in round ", round))
		want.texts[run] = append(want.texts[run], fmt.Sprint("kept in round ", round))
		sweep(t, s, run, want.texts[run]...)
		last := uint64(len(want.streams[run]))
		add(run, nil, journal.Head{Run: run, Status: "running", Snapshot: last})
		if run == "run-2" {
			require.NoError(t, s.Trim(t.Context(), run, last))
			want.first[run] = last
		}
		add(run, batch(1, "after"), journal.Head{})
	}
}

func newContents() contents {
	return contents{map[string][]journal.Event{}, []journal.Head{}, map[string][]string{}, map[string]uint64{}}
}

// check compares a store with the expected content. It returns the error that the store reports, if any; all results before the
// error must be right.
func (want *contents) check(t require.TestingT, s journal.Store) error {
	list, err := heads(s, "")
	require.LessOrEqual(t, len(list), len(want.heads))
	requireSame(t, want.heads[:len(list)], list, "heads")
	if err == nil {
		require.Len(t, list, len(want.heads), "heads are missing, and no error says so")
	}
	if c, ok := s.(journal.ContentStore); ok {
		err = errors.Join(err, want.checkContent(t, c))
	}
	for stream, all := range want.streams {
		first := max(want.first[stream], 1)
		all = all[first-1:]
		events, readErr := read(s, stream, first)
		require.LessOrEqual(t, len(events), len(all), stream)
		requireSame(t, all[:len(events)], events, stream)
		if readErr == nil {
			require.Len(t, events, len(all), "events of %s are missing, and no error says so", stream)
		} else {
			err = readErr
		}
	}
	return err
}

// checkContent is like check, for content and for trimmed events.
func (want *contents) checkContent(t require.TestingT, s journal.ContentStore) (err error) {
	for stream, texts := range want.texts {
		for _, text := range texts {
			content, readErr := s.Content(context.Background(), stream, hash(text))
			if err = errors.Join(err, readErr); readErr == nil {
				require.Equal(t, text, string(content))
			}
			require.NotErrorIs(t, readErr, journal.ErrNotFound, "content is missing, and no error says so")
		}
		_, swept := s.Content(context.Background(), stream, hash("dropped"))
		require.Error(t, swept)
	}
	for stream, first := range want.first {
		events, readErr := read(s, stream, 1)
		requireSame(t, want.streams[stream][:len(events)], events, stream)
		require.LessOrEqual(t, len(events), 1)
		require.Error(t, readErr, "events are missing, and no error says so")
		if errors.Is(readErr, journal.ErrTrimmed) {
			requireTrimmedError(t, readErr, first)
			require.Len(t, events, 1)
		} else {
			err = errors.Join(err, readErr)
		}
	}
	return err
}

// requireSame is require.Equal, but fast for equal values, which are usual.
func requireSame[T any](t require.TestingT, want, got []T, what string) {
	if !reflect.DeepEqual(want, got) {
		require.Equal(t, want, got, what)
	}
}

func (d durable) testReopen(t *testing.T) {
	dir, want := TempDir(t), newContents()
	for round := range 4 {
		s, err := d.open(dir)
		require.NoError(t, err)
		require.NoError(t, want.check(t, s))
		fill(t, s, &want, round, true)
		require.NoError(t, want.check(t, s))
		require.NoError(t, s.Close())
	}
	s, err := d.open(dir)
	require.NoError(t, err)
	require.NoError(t, want.check(t, s))
	require.NoError(t, s.Close())
}

// testKill copies the directory of an open store: a killed process leaves the same files.
func (d durable) testKill(t *testing.T) {
	dir, want := TempDir(t), newContents()
	s, err := d.open(dir)
	require.NoError(t, err)
	for round := range 4 {
		fill(t, s, &want, round, true)
		left := TempDir(t)
		load(t, dir).write(t, left)
		for range 2 { // recovery itself must leave a recoverable store
			survivor, err := d.open(left)
			require.NoError(t, err)
			require.NoError(t, want.check(t, survivor))
			require.NoError(t, survivor.Close())
		}
	}
	require.NoError(t, s.Close())
}

// files maps paths to the contents of the files in a directory.
type files map[string][]byte

// load reads the files of a directory. An open store may remove a file meanwhile; load then reads all files again.
func load(t require.TestingT, dir string) files {
	for {
		found, err := readFiles(dir)
		if !errors.Is(err, fs.ErrNotExist) {
			require.NoError(t, err)
			return found
		}
	}
}

func readFiles(dir string) (files, error) {
	found := files{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			found[name], err = os.ReadFile(path)
		}
		return err
	})
	return found, err
}

func (f files) write(t require.TestingT, dir string) {
	for name, content := range f {
		if content == nil {
			continue
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, bytes.TrimRight(content, "\x00"), 0o600))
		require.NoError(t, os.Truncate(path, int64(len(content)))) // unwritten zeros take no room
	}
}

// small makes a store of a few records, closes it or simulates the death of its process, and returns its files.
func (d durable) small(t *testing.T, kill bool) (files, *contents) {
	dir, want := TempDir(t), newContents()
	s, err := d.open(dir)
	require.NoError(t, err)
	fill(t, s, &want, 0, false)
	if kill {
		defer func() { require.NoError(t, s.Close()) }()
	} else {
		require.NoError(t, s.Close())
	}
	return load(t, dir), &want
}

// damages are the ways of damaging one file. places returns the places to damage, and struck the content damaged at a place;
// nil: the file is removed.
var damages = map[string]damage{
	"a flipped byte": {
		step:   11, // so that the bit differs from byte to byte
		places: places,
		struck: func(content []byte, i int) []byte {
			content = slices.Clone(content)
			content[i] ^= 1 << (i % 8)
			return content
		},
	},
	"a truncated file": {
		step:   11,
		places: places,
		struck: func(content []byte, i int) []byte { return content[:i:i] },
	},
	"a missing file": {
		step:   1,
		places: func([]byte, int) []int { return []int{0} },
		struck: func([]byte, int) []byte { return nil },
	},
}

type damage struct {
	step   int // an ordinary test run damages every step-th place
	places func(content []byte, step int) []int
	struck func(content []byte, i int) []byte
}

// A store may preallocate a MiB of zeros or more behind its written bytes. Damaging each zero would take hours and test nothing new.
// The zeros at the place of the next record are damaged as densely as the written part.
const (
	nextRecord = 64       // zeros behind the written part that are treated like that part
	zeros      = 32 << 10 // one of so many other zeros is damaged: the first of each block of a log
	zerosAll   = 61       // the same with SLUICE_EXHAUSTIVE=1
)

// places returns the places to damage in a file: every step-th written byte, a few of the zeros behind the written part, and
// the last byte.
func places(content []byte, step int) []int {
	length := len(content)
	written := min(len(bytes.TrimRight(content, "\x00"))+nextRecord, length)
	var found []int
	for i := 0; i < written; i += step {
		found = append(found, i)
	}
	sparse := zeros
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		sparse = zerosAll
	}
	for i := (written + sparse - 1) / sparse * sparse; i < length; i += sparse {
		found = append(found, i)
	}
	if last := length - 1; last >= written && found[len(found)-1] != last {
		found = append(found, last)
	}
	return found
}

// testDamage opens the store once for each damaged place of each of its files.
func (d durable) testDamage(t *testing.T, original files, want *contents, how damage) {
	step := Step(how.step)
	var reported, harmless atomic.Int64
	for _, name := range slices.Sorted(maps.Keys(original)) {
		content := original[name]
		where := how.places(content, step)
		var next atomic.Int64
		var wg sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				dir := TempDir(t)
				for {
					n := int(next.Add(1) - 1)
					if n >= len(where) || t.Failed() {
						return
					}
					i, damaged := where[n], maps.Clone(original)
					damaged[name] = how.struck(content, i)
					if d.opened(t, dir, damaged, want, fmt.Sprintf("%s at %d of %d", name, i, len(content))) {
						harmless.Add(1)
					} else {
						reported.Add(1)
					}
				}
			})
		}
		wg.Wait()
	}
	t.Logf("%d reported, %d harmless", reported.Load(), harmless.Load())
	require.Positive(t, reported.Load(), "no damage was ever noticed")
}

// opened reports whether a damaged store is complete.
func (d durable) opened(t *testing.T, dir string, damaged files, want *contents, what string) bool {
	require.NoError(t, os.RemoveAll(dir))
	damaged.write(t, dir)
	s, err := d.open(dir)
	if err != nil {
		return false
	}
	failed := t.Failed()
	err = want.check(t, s)
	if t.Failed() && !failed {
		t.Log(what)
	}
	_ = s.Close() // may return another error
	return err == nil
}

// Step returns the stride of a test with thousands of cases: ordinary, 61 with -short, or 1 if the environment variable
// SLUICE_EXHAUSTIVE is set.
func Step(ordinary int) int {
	switch {
	case os.Getenv("SLUICE_EXHAUSTIVE") != "":
		return 1
	case testing.Short():
		return 61
	}
	return ordinary
}

// TempDir returns a directory for one test, in memory if possible, because these tests open thousands of stores, and test
// files, not disks.
func TempDir(t *testing.T) string {
	const memory = "/dev/shm"
	if _, err := os.Stat(memory); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(memory, "journaltest")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}
