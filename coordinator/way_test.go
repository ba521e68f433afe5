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

// way lists the packages that a result passes on its way from the return of one call to the next call, with its event synced to the
// disk between the two. A package is passed if it executes something and can see an event or a result, because it imports package
// journal or call. The others answer a question on the way: which instant it is, which node is ready, what the bytes of a value are.
var way = []string{
	"coordinator/operation",         // makes a result of what the function has returned
	"coordinator/pool",              // hands it over to the run that has asked for the call
	"coordinator",                   // takes the turn that follows
	"coordinator/inbox",             // collects what has come in for the turn
	"reactive/decide",               // makes an event of it, and decides what follows
	"reactive",                      // applies the event to the steps
	"reactive/ledger",               // applies it to the calls
	"reactive/journal",              // encodes it
	"reactive/journal/disk",         // syncs it
	"reactive/journal/disk/records", // seals it and lists its run
}

// wayMax is how many packages an event may pass in one process.
const wayMax = 10

// TestAResultPassesFewPackages counts what is executed in a process that is built for that: see testdata/way.
func TestAResultPassesFewPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles a program")
	}
	program, counters := filepath.Join(t.TempDir(), "way"), t.TempDir()
	const ours = "github.com/sluiceflow/sluice/"
	// To count needs no fast program: it is compiled as fast as it can be.
	output(t, "go", "build", "-cover", "-covermode=atomic", "-coverpkg="+ours+"...", "-gcflags="+ours+"...=-N -l", "-ldflags=-s -w", "-o", program, "./testdata/way")
	t.Setenv("GOCOVERDIR", t.TempDir()) // for what it writes when it exits
	output(t, program, counters, t.TempDir())

	var executed []string
	percent := regexp.MustCompile(`(\S+)\s+coverage: (\S+)% `)
	for _, line := range percent.FindAllStringSubmatch(output(t, "go", "tool", "covdata", "percent", "-i", counters), -1) {
		if line[2] != "0.0" && !strings.Contains(line[1], "/testdata/") {
			executed = append(executed, line[1])
		}
	}
	var passed []string
	for line := range strings.Lines(output(t, "go", append([]string{"list", "-f", `{{.ImportPath}} {{join .Imports " "}}`}, executed...)...)) {
		if names := strings.Fields(line); slices.Contains(names, ours+"reactive/journal") || slices.Contains(names, ours+"reactive/call") {
			passed = append(passed, strings.TrimPrefix(names[0], ours))
		}
	}
	require.LessOrEqual(t, len(passed), wayMax, passed)
	require.ElementsMatch(t, way, passed)
}

func output(t *testing.T, name string, args ...string) string {
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, string(out))
	return string(out)
}
