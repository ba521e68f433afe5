package doctor_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template/kinds"
)

// seeds is the number of stores that tests damage, each many times.
const seeds = 2

// sealed returns a record with its checksum under key.
func sealed(key, record string) string {
	table, b := crc32.MakeTable(crc32.Castagnoli), []byte(record)
	binary.BigEndian.PutUint32(b, crc32.Update(crc32.Checksum([]byte(key), table), table, b[4:]))
	return string(b)
}

// flipped returns a text with one bit changed.
func flipped(t *rapid.T, text string) string {
	b := []byte(text)
	bit := rapid.IntRange(0, 8*len(b)-1).Draw(t, "bit")
	b[bit/8] ^= 1 << (bit % 8)
	return string(b)
}

// altered returns the record of a head with other contents and a correct checksum.
func altered(t *rapid.T, key, record string) string {
	last := binary.BigEndian.Uint64([]byte(record[5:13]))
	h, err := journal.DecodeHead([]byte(record[13:]))
	require.NoError(t, err)
	switch rapid.IntRange(0, 8).Draw(t, "field") {
	case 0:
		h.Status += "?"
	case 1:
		h.Due++
	case 2:
		h.Updated--
	case 3:
		h.Started++
	case 4:
		h.Open = !h.Open
	case 5:
		h.Name = "other"
	case 6:
		h.Workflow = strings.Repeat("0", 64)
	case 7:
		h.Labels = map[string]string{"team": "other"}
	case 8:
		last = uint64(rapid.IntRange(0, int(last)-1).Draw(t, "last"))
	}
	encoded, err := journal.AppendHead(nil, &h)
	require.NoError(t, err)
	return sealed(key, record[:5]+string(binary.BigEndian.AppendUint64(nil, last))+string(encoded))
}

// breakHeads changes some of the derived records, and returns their runs.
func breakHeads(t *rapid.T, r records) map[string]bool {
	broken := map[string]bool{}
	keys := r.keys('h')
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 5, rapid.ID).Draw(t, "heads") {
		was := r[key]
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			delete(r, key)
		case 1:
			r[key] = flipped(t, was)
		case 2:
			r[key] = string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "garbage"))
		case 3:
			garbage := string(rapid.SliceOfN(rapid.Byte(), 9, 40).Draw(t, "garbage"))
			r[key] = sealed(key, "\x00\x00\x00\x00\x01"+was[5:13]+"\xff"+garbage)
		case 4:
			if !journal.IsRun(key[1:]) { // it has only a number
				r[key] = sealed(key, "\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x09")
			} else {
				r[key] = altered(t, key, was)
			}
		case 5:
			if r[key] = r[rapid.SampledFrom(keys).Draw(t, "other")]; r[key] == "" { // removed by an earlier change
				delete(r, key)
			}
		}
		if r[key] != was {
			broken[key[1:]] = true
		}
	}
	return broken
}

// The doctor finds any damage to heads and to the number of the last commit, and rebuilds the same records.
func TestDerivedRecordsAreRebuilt(t *testing.T) {
	for seed := range uint64(seeds) {
		files := populated(t, seed)
		sound := read(t, files)
		faults, report := examined(t, files, true)
		require.Empty(t, faults)
		require.True(t, report.Sound())
		require.Equal(t, len(sound.keys('h'))-1, report.Runs, "all but the rules of how long runs are kept")
		require.Greater(t, report.Events, report.Runs)
		require.Equal(t, sound, read(t, files), "a sound store does not change")
		rapid.Check(t, func(t *rapid.T) {
			sound.become(t, files)
			spoiled := maps.Clone(sound)
			broken := breakHeads(t, spoiled)
			switch rapid.IntRange(0, 4).Draw(t, "commit") {
			case 0:
				delete(spoiled, "commit")
			case 1:
				spoiled["commit"] = flipped(t, sound["commit"])
			}
			spoiled.become(t, files)

			faults, report := examined(t, files, false)
			found := map[string]bool{}
			for _, f := range faults {
				require.True(t, f.Derived, "%+v", f)
				require.Empty(t, f.Mended)
				require.NotEmpty(t, f.What)
				require.NotEmpty(t, f.Means)
				if f.Kind == doctor.Commit {
					require.NotEqual(t, sound["commit"], spoiled["commit"])
					continue
				}
				require.Equal(t, doctor.Head, f.Kind)
				found[f.Run] = true
			}
			require.Equal(t, broken, found)
			require.Equal(t, len(sound.keys('h'))-1, report.Runs, "all but the rules of how long runs are kept")
			require.Equal(t, spoiled, read(t, files), "a check without mend changes nothing")

			mended, report := examined(t, files, true)
			require.Len(t, mended, len(faults))
			require.True(t, report.Sound())
			require.Equal(t, sound, read(t, files))
			faults, _ = examined(t, files, false)
			require.Empty(t, faults)
		})
	}
}

// breakEvents changes some records of events, and returns their streams.
func breakEvents(t *rapid.T, r records) map[string]bool {
	broken := map[string]bool{}
	keys := r.keys('e')
	for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 3, rapid.ID).Draw(t, "events") {
		was := r[key]
		switch rapid.IntRange(0, 3).Draw(t, "how") {
		case 0:
			delete(r, key)
		case 1:
			r[key] = flipped(t, was)
		case 2:
			r[key] = sealed(key, "\x00\x00\x00\x00\x01"+string(rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "garbage")))
		case 3:
			other := rapid.SampledFrom(keys).Draw(t, "other")
			if r[key] = sealed(key, r[other]+"12345"); other == key {
				r[key] = r[key][:len(was)-1]
			}
		}
		if r[key] != was {
			stream, _, _ := strings.Cut(key[1:], "\x00")
			broken[stream] = true
		}
	}
	return broken
}

// Damaged events are reported and never changed; the heads of their runs are rebuilt from the remaining events, and all other runs
// stay the same.
func TestDamagedEventsAreNamedAndNeverMended(t *testing.T) {
	for seed := range uint64(seeds) {
		files := populated(t, seed)
		sound := read(t, files)
		rapid.Check(t, func(t *rapid.T) {
			sound.become(t, files)
			spoiled := maps.Clone(sound)
			broken := breakEvents(t, spoiled)
			var headless map[string]bool
			if rapid.Bool().Draw(t, "heads, too") {
				headless = breakHeads(t, spoiled)
			}
			spoiled.become(t, files)

			faults, _ := examined(t, files, true)
			contents := false
			for stream := range broken {
				contents = contents || journal.IsContent(stream)
			}
			named := map[string]bool{}
			for _, f := range faults {
				named[f.Run+f.Content], named[f.Run], named[f.Content] = true, true, true
				if f.Kind != doctor.Head && f.Run != "" {
					require.True(t, broken[f.Run] || contents, "%+v", f)
					require.Empty(t, f.Mended)
				}
				if f.Kind == doctor.Head {
					require.NotEmpty(t, f.Mended, "%+v", f)
					require.True(t, headless[f.Run] || broken[f.Run], "%+v", f)
				}
			}
			require.False(t, contents && len(faults) == 0)
			after := read(t, files)
			require.Equal(t, spoiled.only('e'), after.only('e'), "events never change")
			for _, key := range sound.keys('h') {
				if !broken[key[1:]] && !contents {
					require.Equal(t, sound[key], after[key], "%q", key)
				}
			}
			again, _ := examined(t, files, false)
			for _, f := range again {
				require.False(t, f.Derived, "%+v", f)
			}
			for stream := range broken {
				if !named[stream] {
					require.True(t, lostWhole(spoiled, stream) && (journal.IsContent(stream) || headless[stream]), "%q: %+v", stream, faults)
				}
			}
			requireOpens(t, files, broken, contents)
		})
	}
}

// A message that no step awaits may have been applied by an idle engine, or only journaled for the next one: the
// instants at which the run is due differ, and both are right.
func TestACommandMayHaveBeenAppliedOrJournaled(t *testing.T) {
	files := vfs.NewMem()
	engine := engineOn(t, files, func(journal.Head) bool { return true })
	_, err := engine.Start(t.Context(), workflows(t)[2], nil, coordinator.WithID("r"))
	require.NoError(t, err)
	require.NoError(t, engine.Shutdown(t.Context()))
	engine = engineOn(t, files, func(journal.Head) bool { return false })
	r, err := engine.Run(t.Context(), "r")
	require.NoError(t, err)
	require.NoError(t, r.Send(t.Context(), "nobody", 1))
	require.NoError(t, engine.Shutdown(t.Context()))

	noted := read(t, files)
	h, err := journal.DecodeHead([]byte(noted["hr"][13:]))
	require.NoError(t, err)
	require.NotZero(t, h.Due)
	require.Equal(t, h.Updated, h.Due)
	for _, due := range []int64{h.Due, 0, 5} {
		h.Due = due
		encoded, err := journal.AppendHead(nil, &h)
		require.NoError(t, err)
		other := maps.Clone(noted)
		other["hr"] = sealed("hr", noted["hr"][:13]+string(encoded))
		other.become(t, files)
		list(t, files)
		faults, _ := examined(t, files, false)
		require.Equal(t, due == 5, len(faults) == 1, "due %d: %v", due, faults)
	}
	mended, _ := examined(t, files, true)
	require.Len(t, mended, 1)
	require.Equal(t, noted.lasting(), read(t, files).lasting(), "an engine that loads the run at once does no harm")
}

// list makes the lists of a store anew.
func list(t require.TestingT, files vfs.FS) {
	raw, err := disk.OpenRaw("data", true, disk.Config{FS: files})
	require.NoError(t, err)
	require.NoError(t, raw.Rebuild(context.Background()))
	require.NoError(t, raw.Close())
}

// lostWhole reports whether nothing is left of a stream's events.
func lostWhole(r records, stream string) bool {
	for _, key := range r.keys('e') {
		if strings.HasPrefix(key, "e"+stream+"\x00") {
			return false
		}
	}
	return true
}

// requireOpens opens a store with an engine, and reads every run.
func requireOpens(t *rapid.T, files vfs.FS, broken map[string]bool, contents bool) {
	e := engineOn(t, files, func(journal.Head) bool { return false })
	defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
	for head, err := range e.Runs(t.Context(), "") {
		require.NoError(t, err)
		run, err := e.Run(t.Context(), head.Run)
		require.NoError(t, err)
		if state, err := run.State(t.Context()); !broken[head.Run] && !contents {
			require.NoError(t, err)
			require.NoError(t, state.Parked)
			require.Equal(t, head.Status, string(state.Status))
		}
	}
}

// A head of an earlier version does not name the step of the timer that the run waits for.
func TestAHeadMayLackTheStepOfATimer(t *testing.T) {
	files := vfs.NewMem()
	engine := engineOn(t, files, func(journal.Head) bool { return true })
	_, err := engine.Start(t.Context(), workflows(t)[3], nil, coordinator.WithID("r"))
	require.NoError(t, err)
	for waits := 0; waits == 0; { // until it sleeps
		for head, err := range engine.Runs(t.Context(), "") {
			require.NoError(t, err)
			waits = len(head.Waits)
		}
	}
	require.NoError(t, engine.Shutdown(t.Context()))

	now := read(t, files)
	h, err := journal.DecodeHead([]byte(now["hr"][13:]))
	require.NoError(t, err)
	for step, sound := range map[string]bool{"night": true, "": true, "other": false} {
		require.Equal(t, journal.WaitTimer, h.Waits[0].Kind)
		h.Waits[0].Step = step
		encoded, err := journal.AppendHead(nil, &h)
		require.NoError(t, err)
		other := maps.Clone(now)
		other["hr"] = sealed("hr", now["hr"][:13]+string(encoded))
		other.become(t, files)
		list(t, files)
		faults, _ := examined(t, files, false)
		require.Equal(t, sound, len(faults) == 0, "step %q: %v", step, faults)
	}
}

// No event shows that a run waits for a worker: a head with a ready step may or may not record it.
func TestAHeadMaySayThatARunWaitsForAWorker(t *testing.T) {
	files := vfs.NewMem()
	store, err := disk.Open("data", disk.Config{FS: files})
	require.NoError(t, err)
	engine, err := coordinator.New(t.Context(), store, coordinator.Config{Workers: workers.NewKey()})
	require.NoError(t, err)
	w, err := kinds.ParseStored([]byte(`{"kind":"Workflow","name":"w","steps":[{"operation":"bill"},{"operation":"ship"}]}`))
	require.NoError(t, err)
	_, err = engine.Start(t.Context(), w, nil, coordinator.WithID("r"))
	require.NoError(t, err)
	var h journal.Head
	for len(h.Waits) == 0 {
		for head, err := range engine.Runs(t.Context(), "") {
			require.NoError(t, err)
			h = head
		}
	}
	require.Equal(t, []journal.Wait{{Kind: journal.WaitWorker, Name: "bill", Step: "bill"}}, h.Waits)
	require.NoError(t, engine.Shutdown(t.Context()))

	now := read(t, files)
	h, err = journal.DecodeHead([]byte(now["hr"][13:]))
	require.NoError(t, err)
	for _, test := range []struct {
		waits []journal.Wait
		sound bool
	}{
		{h.Waits, true},
		{nil, true},
		{[]journal.Wait{{Kind: journal.WaitWorker, Name: "ship", Step: "bill"}}, false},
		{[]journal.Wait{{Kind: journal.WaitWorker, Name: "ship", Step: "ship"}}, false},
		{[]journal.Wait{{Kind: journal.WaitPerson, Step: "bill"}}, false},
	} {
		h.Waits = test.waits
		encoded, err := journal.AppendHead(nil, &h)
		require.NoError(t, err)
		other := maps.Clone(now)
		other["hr"] = sealed("hr", now["hr"][:13]+string(encoded))
		other.become(t, files)
		list(t, files)
		faults, _ := examined(t, files, false)
		require.Equal(t, test.sound, len(faults) == 0, "%v: %v", test.waits, faults)
	}
}
