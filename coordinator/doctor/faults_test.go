package doctor_test

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// chosen returns a store with four runs: `r` has records of events 1 to 2, 3, 4 and 5, `big` has a large value, `done` has
// finished, and `above` has a child.
func chosen(t *testing.T) *vfs.MemFS {
	files, list := vfs.NewMem(), workflows(t)
	nobody := func(journal.Head) bool { return false }
	engine := engineOn(t, files, func(journal.Head) bool { return true })
	var ended *coordinator.Run
	for id, w := range map[string]int{"r": 2, "big": 5, "done": 0} {
		run, err := engine.Start(t.Context(), list[w], 0, coordinator.WithID(id))
		require.NoError(t, err)
		if id == "done" {
			ended = run
		}
	}
	_, err := ended.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, engine.Shutdown(t.Context()))
	engine = engineOn(t, files, nobody)
	r, err := engine.Run(t.Context(), "r")
	require.NoError(t, err)
	for range 3 {
		require.NoError(t, r.Send(t.Context(), "nobody", 1))
	}
	_, err = engine.Start(t.Context(), list[len(list)-1], 0, coordinator.WithID("above"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { _, err := engine.Run(t.Context(), "above/below#1"); return err == nil }, time.Minute, time.Millisecond)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, engine.Shutdown(gone))
	return files
}

func eventKey(run string, seq byte) string {
	return "e" + run + "\x00\x00\x00\x00\x00\x00\x00\x00" + string([]byte{seq})
}

func TestEachFaultIsReportedOnce(t *testing.T) {
	files := chosen(t)
	sound := read(t, files)
	var blob, below string
	for _, key := range sound.keys('e') {
		stream, _, _ := strings.Cut(key[1:], "\x00")
		switch {
		case strings.HasPrefix(stream, "blob/"):
			blob = stream
		case strings.HasPrefix(stream, "def/") && strings.Contains(sound[key], "below") && !strings.Contains(sound[key], "above"):
			below = stream
		}
	}
	require.NotEmpty(t, blob)
	require.NotEmpty(t, below)
	swap := func(r records, key, other string) { r[key] = sealed(key, r[other]) }
	tests := map[string]struct {
		spoil  func(r records)
		faults []string // run or content, kind, event, and the beginning of Fault.What
		left   int      // faults that remain after --rebuild
	}{
		"nothing": {func(records) {}, nil, 0},
		"a record that cannot be read, with others behind it": {
			func(r records) { r[eventKey("r", 3)] = "rubbish" }, []string{"r event 3 event 3 cannot be read: damaged record"}, 1},
		"the first record cannot be read": {
			func(r records) { r[eventKey("r", 1)] = "rubbish" }, []string{"r event 1 event 1 cannot be read: damaged record"}, 1},
		"the last event of a finished run cannot be read, and its head has the end": {
			func(r records) { r[eventKey("done", 1)] = "rubbish" }, []string{"done event 1 event 1 cannot be read: damaged record"}, 1},
		"the last record cannot be read, and there is no head": {
			func(r records) { r[eventKey("r", 5)] = "rubbish"; delete(r, "hr") },
			[]string{"r event 5 event 5 cannot be read: damaged record", "r head 0 the head is missing"}, 1},
		"records in the middle are gone": {
			func(r records) { delete(r, eventKey("r", 3)); delete(r, eventKey("r", 4)) },
			[]string{"r event 3 events 3 to 4 are missing"}, 1},
		"the last records are gone": {
			func(r records) { delete(r, eventKey("r", 4)); delete(r, eventKey("r", 5)) },
			[]string{"r event 4 events 4 to 5 are missing"}, 1},
		"all records are gone": {
			func(r records) {
				for _, seq := range []byte{1, 3, 4, 5} {
					delete(r, eventKey("r", seq))
				}
			}, []string{"r event 1 events 1 to 5 are missing"}, 1},
		"all records are gone, and the head is rubbish": {
			func(r records) {
				for _, seq := range []byte{1, 3, 4, 5} {
					delete(r, eventKey("r", seq))
				}
				r["hr"] = "rubbish"
			}, []string{"r head 0 it has a head, but no events"}, 0},
		"a record with the numbers of another": {
			func(r records) { swap(r, eventKey("r", 4), eventKey("r", 3)) },
			[]string{"r event 4 event 4 cannot be read: damaged record: event 3 stands where 4 belongs"}, 1},
		"a record too many": {
			func(r records) { key := eventKey("r", 2); r[key] = sealed(key, r[eventKey("r", 3)]) },
			[]string{"r event 3 a record that begins with event 2 follows event 2"}, 1},
		"a record without events": {
			func(r records) { key := eventKey("r", 6); r[key] = sealed(key, "\x00\x00\x00\x00\x01") },
			[]string{"r event 6 event 6 cannot be read: damaged record: it holds no event"}, 1},
		"the start of another run": {
			func(r records) { swap(r, eventKey("r", 1), eventKey("big", 1)) },
			[]string{"r event 1 the journal does not begin with the start of this run"}, 1},
		"a large value is gone": {
			func(r records) { delete(r, "e"+blob+"\x00\x00\x00\x00\x00\x00\x00\x00\x01") },
			[]string{"big event 3 event 3 cannot be read: decode event 3: fetch value: damaged record: " + blob + " is missing"}, 1},
		"a large value to which no event refers is damaged": {
			func(r records) { r["eblob/abc\x00\x00\x00\x00\x00\x00\x00\x00\x01"] = "rubbish" },
			[]string{"blob/abc content 0 damaged record: its checksum is wrong"}, 1},
		"a large value under another's name": {
			func(r records) {
				key := "eblob/abc\x00\x00\x00\x00\x00\x00\x00\x00\x01"
				swap(r, key, "e"+blob+"\x00\x00\x00\x00\x00\x00\x00\x00\x01")
			}, []string{"blob/abc content 0 damaged record: the content does not match its hash"}, 1},
		"the definition of a child is gone": {
			func(r records) { delete(r, "e"+below+"\x00\x00\x00\x00\x00\x00\x00\x00\x01") },
			[]string{"above content 1 the definition " + below[4:], "above/below#1 content 1 the definition " + below[4:]}, 2},
		"a head for content": {
			func(r records) { r["h"+below] = "rubbish" }, []string{below + " head 0 there is a head, but content has none"}, 0},
		"a head says another instant": {
			func(r records) {
				h, err := journal.DecodeHead([]byte(r["hbig"][13:]))
				require.NoError(t, err)
				h.Due = 5
				encoded, err := journal.AppendHead(nil, &h)
				require.NoError(t, err)
				r["hbig"] = sealed("hbig", r["hbig"][:13]+string(encoded))
			}, []string{"big head 0 the head differs from the events: due 1970-01-01T00:00:00.000000005Z, not never"}, 0},
		"a list lacks a run": {
			func(r records) { delete(r, r.keys('i')[0]) }, []string{" index 0 damaged record: run "}, 0},
		"a list has a run too many": {
			func(r records) { r[r.keys('i')[0]+"?"] = "" }, []string{" index 0 damaged record: the lists have "}, 0},
		"the lists are gone": {
			func(r records) { maps.DeleteFunc(r, func(key, _ string) bool { return key[0] == 'i' }) },
			[]string{" index 0 damaged record: run "}, 0},
		"a list lacks a run, and the head of another is gone": {
			func(r records) { delete(r, r.keys('i')[0]); delete(r, "hbig") }, []string{"big head 0 the head is missing"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spoiled := maps.Clone(sound)
			test.spoil(spoiled)
			spoiled.become(t, files)
			faults, _ := examined(t, files, true)
			require.Len(t, faults, len(test.faults), "%+v", faults)
			for i, want := range test.faults {
				f := faults[i]
				of := f.Run
				if of == "" {
					of = f.Content
				}
				got := fmt.Sprintf("%s %s %d %s", of, f.Kind, f.Event, f.What)
				require.True(t, strings.HasPrefix(got, want), got)
			}
			after := read(t, files)
			require.Equal(t, spoiled.only('e'), after.only('e'))
			if maps.Equal(sound.only('h'), after.only('h')) {
				require.Equal(t, sound.only('i'), after.only('i'))
			}
			left, _ := examined(t, files, false)
			require.Len(t, left, test.left, "%+v", left)
		})
	}
}
