package coordinator_test

import (
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A package is on a way if between the two ends of the way at least one of its statements is executed, in any goroutine, and if it knows
// the types of events or results: it imports package journal or call outside of tests. Other executed packages are not counted, even if
// they receive a part of the event: tally gets its type as a number, decoded and value its value, shield the bytes of its record. They
// answer a question on the way: the current instant, the ready node, the encoding of a value. A package that avoided the import, by
// taking a number or an interface, would not be counted either.

// resultWay lists the packages on the way of a result from the return of one call to the beginning of the next call, with its event synced
// to the disk between the two.
var resultWay = []string{
	"coordinator/operation",         // makes a result of the values that the function has returned
	"coordinator/pool",              // hands it over to the run that has asked for the call
	"coordinator",                   // takes the turn that follows
	"coordinator/inbox",             // collects the results and the other items for the turn
	"reactive/decide",               // makes an event of it, and decides the consequences
	"reactive",                      // applies the event to the steps
	"reactive/ledger",               // applies it to the calls
	"reactive/journal",              // encodes it
	"reactive/journal/disk",         // syncs it
	"reactive/journal/disk/records", // seals it and lists its run
}

// beforeTheInbox lists the further packages on the way of a message, from the call of Send to the beginning of the call that follows.
var beforeTheInbox = []string{
	"coordinator/commands",  // makes an event of the message
	"coordinator/retention", // lets it pass unless the run is being deleted
	"coordinator/holds",     // checks whether the run is held
	"coordinator/pickup",    // refuses it if so
}

// besideTheTurn lists the packages that meanwhile check whether a step waits for the message, to log a message that no step awaits.
var besideTheTurn = []string{"coordinator/lists", "coordinator/reader", "coordinator/registry", "reactive/inspect"}

// wayMax bounds the packages that a result passes in one process.
const wayMax = 10

// TestAResultPassesFewPackages counts the packages that are executed in processes built for that: see testdata/way.
func TestAResultPassesFewPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a program")
	}
	program := filepath.Join(t.TempDir(), "way")
	// Counting needs no fast program, so the build is fast instead.
	output(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+ours+"...", "-gcflags="+ours+"...=-N -l", "-ldflags=-s -w", "-o", program, "./testdata/way")
	t.Setenv("GOCOVERDIR", t.TempDir()) // for the coverage that it writes when it exits

	passed := passes(t, program, "result")
	require.LessOrEqual(t, len(passed), wayMax, passed)
	require.ElementsMatch(t, resultWay, passed)

	passed = passes(t, program, "message")
	require.Subset(t, slices.Concat(resultWay, beforeTheInbox, besideTheTurn), passed)
	require.Subset(t, passed, slices.Concat(resultWay, beforeTheInbox))
}

const ours = "github.com/sluiceflow/sluice/"

// passes returns the packages on a way of the program.
func passes(t *testing.T, program, way string) (passed []string) {
	counters := t.TempDir()
	output(t, program, way, counters, t.TempDir())
	var executed []string
	percent := regexp.MustCompile(`(\S+)\s+coverage: (\S+)% `)
	for _, line := range percent.FindAllStringSubmatch(output(t, "go", "tool", "covdata", "percent", "-i", counters), -1) {
		if line[2] != "0.0" && !strings.Contains(line[1], "/testdata/") {
			executed = append(executed, line[1])
		}
	}
	for line := range strings.Lines(output(t, "go", append([]string{"list", "-f", `{{.ImportPath}} {{join .Imports " "}}`}, executed...)...)) {
		if names := strings.Fields(line); slices.Contains(names, ours+"reactive/journal") || slices.Contains(names, ours+"reactive/call") {
			passed = append(passed, strings.TrimPrefix(names[0], ours))
		}
	}
	return passed
}

func output(t *testing.T, name string, args ...string) string {
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}
