package scenario_test

import (
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/scenario"
)

// bytesOf returns the least Options.BytesMax with which a scenario passes.
func bytesOf(t *testing.T, text string) int {
	t.Helper()
	return sort.Search(1<<20, func(most int) bool {
		return first(t, text, scenario.Options{BytesMax: most + 1}).Passed
	})
}

// The content of snapshots counts as memory, each state once.
func TestTheContentOfSnapshotsIsBounded(t *testing.T) {
	const size = 64 << 10
	text := strings.ReplaceAll(counter, "{record: {n: nat}}\n      event: [Add]", "{record: {n: nat, memo: text}}\n      event: [Add]")
	text = strings.ReplaceAll(text, "set: {n: \"{{ event.n }}\"}", `set: {n: "{{ event.n }}", memo: `+strings.Repeat("x", size)+`}`)
	require.NotEqual(t, counter, text)
	timeline := "timeline: [{at: PT0S, message: {name: Add, payload: {id: a, n: 1}}}"
	const end = "]\noperations: {ask: {never: true}}\nexpect: {cells: {\"m[a]\": {inflight: 1}}}\n"

	none := bytesOf(t, text+timeline+end)
	one := bytesOf(t, text+timeline+", {at: PT1S, snapshot: {}}"+end)
	two := bytesOf(t, text+timeline+", {at: PT1S, snapshot: {}}, {at: PT1S, snapshot: {}}"+end)
	require.Greater(t, one, none+size)
	require.Greater(t, two, one)
	require.Less(t, two, one+size/8)

	r := first(t, text+timeline+", {at: PT1S, snapshot: {}}"+end, scenario.Options{BytesMax: none + 1})
	require.Len(t, r.Differences, 1)
	require.Contains(t, r.Differences[0].Want, "bytes of all runs together")
}

// After a snapshot, a crash costs only the replay of the later events.
func TestASnapshotShortensRecovery(t *testing.T) {
	text := counter + "timeline:\n" + strings.Repeat("  - {at: PT0S, message: {name: Add, payload: {id: a, n: 1}}}\n", 100)
	crashes := strings.Repeat("  - {at: PT2S, crash: true}\n", 100) +
		"operations: {ask: {output: 1}}\nexpect: {cells: {\"m[a]\": {inflight: 0, held: 0}}}\n"
	whole, kept := text+crashes, text+"  - {at: PT1S, snapshot: {}}\n"+crashes
	require.True(t, first(t, whole, scenario.Options{}).Passed)
	bound := sort.Search(1<<24, func(most int) bool { return first(t, whole, scenario.Options{WorkMax: most + 1}).Passed })
	require.True(t, first(t, kept, scenario.Options{WorkMax: bound / 2}).Passed)
}

// A run that has ended refuses a snapshot.
func TestASnapshotMayBeRefused(t *testing.T) {
	r := first(t, counter+"timeline: [{at: PT1S, cancel: {}}, {at: PT2S, snapshot: {}}]\nexpect: {run: aborted}\n", scenario.Options{})
	require.Len(t, r.Differences, 1, r)
	require.Equal(t, "snapshot", r.Differences[0].Key)
	require.Contains(t, r.Differences[0].Got, "the run has finished")
}
