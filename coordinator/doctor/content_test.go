package doctor_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// trimmed returns the chosen store, in which run `r` keeps content and has lost event 3 to a snapshot.
func trimmed(t *testing.T) *vfs.MemFS {
	ctx, files := context.Background(), chosen(t)
	s, err := disk.Open("data", disk.Config{FS: files})
	require.NoError(t, err)
	head, err := s.Head(ctx, "r")
	require.NoError(t, err)
	head.Snapshot = 4
	_, err = s.Append(ctx, "r", head.Last, nil, head)
	require.NoError(t, err)
	require.NoError(t, s.PutContent(ctx, "r", [][]byte{[]byte("one"), []byte("two")}))
	require.NoError(t, s.Trim(ctx, "r", 4))
	require.NoError(t, s.Close())
	return files
}

func TestContentAndTrimsAreChecked(t *testing.T) {
	files := trimmed(t)
	sound := read(t, files)
	one := sha256.Sum256([]byte("one"))
	key := "br\x00" + string(one[:])
	alone := "bnobody\x00" + string(one[:])
	tests := map[string]struct {
		spoil  func(r records)
		faults []string
		left   int
	}{
		"nothing": {func(records) {}, nil, 0},
		"content is changed": {
			func(r records) { r[key] = r[key][:7] + "E" },
			[]string{fmt.Sprintf("r content 0 %x damaged record: its checksum is wrong", one)}, 1},
		"content is another's": {
			func(r records) { r[key] = sealed(key, r[key][:5]+"two") },
			[]string{fmt.Sprintf("r content 0 %x damaged record: it has another hash", one)}, 1},
		"content of no run": {
			func(r records) { r[alone] = sealed(alone, r[key]) },
			[]string{fmt.Sprintf("nobody content 0 %x it is content of a run without events", one)}, 1},
		"an event behind the gap is gone": {
			func(r records) { delete(r, eventKey("r", 4)) }, []string{"r event 4  event 4 is missing"}, 1},
		"the start is gone": {
			func(r records) { delete(r, eventKey("r", 1)) }, []string{"r event 1  events 1 to 3 are missing"}, 1},
		"the head is gone, and the gap with it": {
			func(r records) { delete(r, "hr") }, []string{"r event 3  event 3 is missing", "r head 0  the head is missing"}, 1},
		"the head has another end": {
			func(r records) { r["hr"] = sealed("hr", r["hr"][:12]+"\x04"+r["hr"][13:]) },
			[]string{"r head 0  the head differs from the events: last event 4, not 5"}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spoiled := read(t, files)
			defer sound.become(t, files)
			test.spoil(spoiled)
			spoiled.become(t, files)
			faults, _ := examined(t, files, false)
			require.Len(t, faults, len(test.faults), "%+v", faults)
			for i, f := range faults {
				got := fmt.Sprint(f.Run, " ", f.Kind, " ", f.Event, " ", f.Content, " ", f.What)
				require.True(t, strings.HasPrefix(got, test.faults[i]), got)
				require.NotEmpty(t, f.Means)
			}
			_, report := examined(t, files, true)
			require.Equal(t, test.left == 0, report.Sound())
			faults, _ = examined(t, files, false)
			require.Len(t, faults, test.left, "%+v", faults)
			if test.left == 0 {
				require.Equal(t, sound.lasting(), read(t, files).lasting(), "what was mended is as before, with its gap")
			}
		})
	}
	_, report := examined(t, files, false)
	require.Equal(t, doctor.Report{Runs: report.Runs, Events: report.Events, Contents: contentsOf(sound)}, report)
}

// contentsOf counts the records of content and the streams of definitions and large values.
func contentsOf(r records) int {
	n := len(r.keys('b'))
	for _, key := range r.keys('e') {
		if strings.HasPrefix(key, "edef/") || strings.HasPrefix(key, "eblob/") {
			n++
		}
	}
	return n
}
