//go:build unix

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// tamper changes the records of a journal that no process works on.
func tamper(t *testing.T, data string, use func(db *pebble.DB) error) {
	t.Helper()
	db, err := pebble.Open(filepath.Join(data, "db"), &pebble.Options{FormatMajorVersion: pebble.FormatNewest})
	require.NoError(t, err)
	require.NoError(t, use(db))
	require.NoError(t, db.Close())
}

func eventKey(run string, first byte) []byte {
	return append([]byte("e"+run+"\x00"), 0, 0, 0, 0, 0, 0, 0, first)
}

const waiting = `
kind: Workflow
name: waiting
operations: {letter: {wait: {message: letter}}}
steps: [{operation: letter}]
`

// An incomplete run of an interrupted import is reported, although each of its records is sound.
func TestDoctorNamesRunsThatAreIncomplete(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "w.yaml", waiting)
	runToEnd(t, dir, cli.Done, "start", "w.yaml", "--id", "r", "--data", "data")
	mark := func(change func(h *holds.Holds) error) {
		store, err := disk.Open(filepath.Join(dir, "data"), disk.Config{})
		require.NoError(t, err)
		require.NoError(t, change(holds.New(store)))
		require.NoError(t, store.Close())
	}
	// The other run has no records at all.
	mark(func(h *holds.Holds) error { return h.HoldIncomplete(t.Context(), "ann", "r", "absent") })
	said, _ := runToEnd(t, dir, cli.Failed, "doctor", "--data", "data")
	require.Equal(t, "r: it is incomplete, since its import was interrupted: nothing goes on with it: import the file again, or delete run r\n"+
		"no fault: 1 run with 1 event, 1 definition or large value, and 1 run is incomplete\n", said)
	said, _ = runToEnd(t, dir, cli.Failed, "doctor", "--data", "data", "-o", "jsonl")
	require.Contains(t, said, `{"run":"r","kind":"run","what":"it is incomplete`)
	require.NotContains(t, said, "absent")
	mark(func(h *holds.Holds) error { return h.Hold(t.Context(), "ann", "r") })
	said, _ = runToEnd(t, dir, cli.Done, "doctor", "--data", "data")
	require.Contains(t, said, "sound: 1 run")
}

// Damage in one run does not delay other runs, neither before nor after it is mended.
func TestDamagedRunsDoNotDelayOthers(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	writeFile(t, dir, "w.yaml", "{kind: Workflow, name: w, operations: {one: {value: 1}}, steps: [{operation: one}]}")
	writeFile(t, dir, "waiting.yaml", waiting)
	for _, id := range []string{"a", "c"} {
		runToEnd(t, dir, cli.Done, "run", "w.yaml", "--data", "data", "--id", id)
	}
	for _, id := range []string{"b-event", "b-head", "d"} {
		p := launch(t, dir, "run", "waiting.yaml", "--data", "data", "--id", id)
		eventually(t, "the step to wait", func() bool { return strings.Contains(p.stdout.String(), "letter") })
		p.signal(2)
		require.Equal(t, cli.Interrupted, p.wait())
	}
	tamper(t, data, func(db *pebble.DB) error {
		if err := db.Set(eventKey("b-event", 1), []byte("rubbish"), pebble.Sync); err != nil {
			return err
		}
		return db.Set([]byte("hb-head"), []byte("rubbish"), pebble.Sync)
	})

	list, _ := runToEnd(t, dir, cli.Done, "runs", "--data", "data")
	for _, run := range []string{"a  .*completed", "b-event  .*parked .*damaged record.*`sluice doctor`", "b-head  .*parked .*damaged record.*`sluice doctor`", "c  .*completed", "d  .*waiting"} {
		require.Regexp(t, "(?m)^"+run, list)
	}
	for _, id := range []string{"b-event", "b-head"} {
		shown, _ := runToEnd(t, dir, cli.Done, "runs", "show", id, "--data", "data")
		require.Regexp(t, `(?m)^parked +.*damaged record.*doctor`, shown)
		_, stderr := runToEnd(t, dir, cli.Failed, "send", id, "letter", "--data", "data")
		require.Contains(t, stderr, "sluice doctor")
	}
	runToEnd(t, dir, cli.Done, "runs", "show", "c", "--data", "data")
	runToEnd(t, dir, cli.Done, "send", "d", "letter", "--data", "data")
	runToEnd(t, dir, cli.Done, "run", "--data", "data", "--resume", "d")
	runToEnd(t, dir, cli.Failed, "run", "--data", "data", "--resume", "b-head")

	faults := func(code int, args ...string) (list []map[string]any) {
		out, _ := runToEnd(t, dir, code, append([]string{"doctor", "--data", "data", "-o", "json"}, args...)...)
		require.NoError(t, json.Unmarshal([]byte(out), &list))
		return list
	}
	found := faults(cli.Failed)
	require.Len(t, found, 2)
	require.Equal(t, []any{"b-event", "event", 1.0, false}, []any{found[0]["run"], found[0]["kind"], found[0]["event"], found[0]["derived"]})
	require.Equal(t, []any{"b-head", "head", true, nil}, []any{found[1]["run"], found[1]["kind"], found[1]["derived"], found[1]["mended"]})
	out, _ := runToEnd(t, dir, cli.Failed, "doctor", "--data", "data", "--rebuild")
	require.Regexp(t, `(?m)^b-event: event 1 cannot be read: .*: the run is parked: .* shown$`, out)
	require.Regexp(t, `(?m)^b-head: the head cannot be read: .* \(the head was made anew: waiting\)$`, out)
	require.Regexp(t, `(?m)^2 faults in 5 runs .*; 1 of them mended$`, out)
	require.Len(t, faults(cli.Failed), 1)

	list, _ = runToEnd(t, dir, cli.Done, "runs", "--data", "data")
	require.Regexp(t, "(?m)^b-head  .*waiting", list)
	runToEnd(t, dir, cli.Done, "send", "b-head", "letter", "--data", "data")
	runToEnd(t, dir, cli.Done, "run", "--data", "data", "--resume", "b-head")
}

func TestTheDoctorReadsJournalsOfEarlierVersions(t *testing.T) {
	dir := t.TempDir()
	oldStore(t, dir)
	sound, _ := runToEnd(t, dir, cli.Done, "doctor", "--data", "old")
	require.Equal(t, "sound: 7 runs with 36 events, 6 definitions and large values\n", sound)
	before, _ := runToEnd(t, dir, cli.Done, "runs", "--data", "old")
	tamper(t, filepath.Join(dir, "old"), func(db *pebble.DB) error {
		for _, run := range []string{"done", "broken", "parent/child#1"} {
			if err := db.Delete([]byte("h"+run), pebble.Sync); err != nil {
				return err
			}
		}
		return nil
	})
	out, _ := runToEnd(t, dir, cli.Done, "doctor", "--data", "old", "--rebuild")
	require.Contains(t, out, "mended: 3 faults in 7 runs")
	after, _ := runToEnd(t, dir, cli.Done, "runs", "--data", "old")
	require.Equal(t, before, after)
	runToEnd(t, dir, cli.Done, "doctor", "--data", "old")
}
