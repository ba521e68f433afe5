package progress_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

var update = flag.Bool("update", false, "rewrite the drawings in testdata")

// film makes the updates of an invented run, and draws the run.
type film struct {
	t      testing.TB
	tree   *progress.Tree
	at     time.Duration // since the start of the run
	status map[string]reactive.Status
}

func newFilm(t testing.TB, text string) *film {
	checked, err := template.Load("test.yaml", []byte("kind: Workflow\n"+text), template.Known{Lenient: true})
	require.NoError(t, err)
	f := &film{t: t, tree: progress.New(checked.Workflow), status: map[string]reactive.Status{}}
	require.NoError(t, f.tree.Check())
	return f
}

// epoch is the start of runs: not zero, which means never.
const epoch = int64(1_000_000_000_000)

func (f *film) now() int64 { return epoch + int64(f.at) }

func (f *film) event(e journal.Event, status reactive.RunStatus, changes ...coordinator.StepChange) {
	e.At = f.now()
	f.tree.Apply(&coordinator.Update{Event: e, Changes: changes, Status: status})
}

func (f *film) start() { f.event(journal.Event{Type: journal.RunStarted}, reactive.RunRunning) }

func (f *film) end(status reactive.RunStatus) {
	f.event(journal.Event{Type: journal.RunFinished}, status)
}

// to changes the status of steps, after a delay.
func (f *film) to(status reactive.Status, after time.Duration, steps ...string) {
	f.at += after
	for _, step := range steps {
		f.change(coordinator.StepChange{Step: step, To: status, Attempt: 1})
	}
}

// fail makes a step fail, after a delay; if pending, a retry follows.
func (f *film) fail(step string, attempt int32, pending bool, after time.Duration, message string) {
	f.at += after
	f.change(coordinator.StepChange{
		Step: step, To: reactive.Failed, Attempt: attempt, Pending: pending,
		Failure: &journal.Failure{Code: "exit", Message: message},
	})
}

// change applies a change from the step's current status.
func (f *film) change(c coordinator.StepChange) {
	from, known := f.status[c.Step]
	if !known && !strings.Contains(c.Step, "[") {
		from = reactive.Idle
	}
	c.From, f.status[c.Step] = from, c.To
	f.event(journal.Event{Type: journal.CallRequested}, reactive.RunRunning, c)
}

func (f *film) draw(width, height int) string {
	return f.tree.Draw(progress.Frame{Width: width, Height: height, Now: f.now()})
}

// expect compares drawings in several sizes with those in testdata.
func (f *film) expect(name string) {
	f.t.Helper()
	require.NoError(f.t, f.tree.Check())
	var b strings.Builder
	for _, size := range [][2]int{{80, 24}, {48, 9}, {200, 50}} {
		drawn := f.draw(size[0], size[1])
		lines := strings.Split(drawn, "\n")
		require.LessOrEqual(f.t, len(lines), size[1])
		for _, line := range lines {
			require.LessOrEqual(f.t, ansi.StringWidth(line), size[0], "%q", line)
			require.Equal(f.t, strings.TrimRight(line, " "), line, "a line ends in spaces")
		}
		fmt.Fprintf(&b, "-- %dx%d --\n%s\n", size[0], size[1], drawn)
	}
	file := filepath.Join("testdata", name+".txt")
	if *update {
		require.NoError(f.t, os.WriteFile(file, []byte(b.String()), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(f.t, err)
	require.Equal(f.t, string(want), b.String(), "run with -update to accept")
}

const release = `
name: release
steps:
  - {operation: find}
  - parallel:
      max_concurrency: 3
      steps:
        - map: {id: hashes, over: "{{ steps.find.output }}", steps: [{operation: hash, input: "{{ item }}"}]}
        - {operation: lint}
        - {operation: build}
  - conditional:
      id: ready
      test: "{{ steps.hashes.status == 'completed' }}"
      then: [{operation: sign}, {operation: publish}]
      else: [{operation: notify}]
`

func TestDrawBeforeTheStart(t *testing.T) { newFilm(t, release).expect("before") }

func TestDrawUnderWay(t *testing.T) {
	f := newFilm(t, release)
	f.start()
	f.to(reactive.Running, 0, "find")
	f.to(reactive.Completed, 512*time.Millisecond, "find")
	f.to(reactive.Idle, 0, "hash[0]", "hash[1]", "hash[2]", "hash[3]", "hash[4]", "hash[5]", "hash[6]")
	f.to(reactive.Running, time.Millisecond, "hashes", "hash[0]", "hash[1]", "lint", "build")
	f.to(reactive.Completed, 90*time.Millisecond, "hash[0]")
	f.fail("hash[1]", 1, false, 30*time.Millisecond, "exit status 3: \x1b[31mno such\nfile\x1b[0m")
	f.fail("build", 1, true, 80*time.Second, "exit status 1: it rains")
	f.to(reactive.Running, time.Second, "hash[2]", "hash[3]", "build")
	f.change(coordinator.StepChange{Step: "build", To: reactive.Running, Attempt: 2})
	f.fail("build", 2, true, 0, "exit status 1: it rains")
	f.at += 3 * time.Second
	f.expect("underway")
}

func TestDrawTheEnd(t *testing.T) {
	f := newFilm(t, release)
	f.start()
	f.to(reactive.Completed, time.Second, "find", "lint")
	f.to(reactive.Running, 0, "hashes", "build")
	var items []string
	for i := range 30 {
		items = append(items, fmt.Sprintf("hash[%d]", i))
	}
	f.to(reactive.Running, 0, items...)
	for i, key := range items {
		if i%3 == 0 {
			f.fail(key, 1, false, time.Second, fmt.Sprintf("exit status %d", i))
		} else {
			f.to(reactive.Completed, 0, key)
		}
	}
	f.fail("hashes", 0, false, 0, "exit status 0")
	f.to(reactive.Completed, 0, "build", "ready")
	f.to(reactive.Skipped, 0, "sign", "publish")
	f.to(reactive.Completed, 0, "notify")
	f.end(reactive.RunCompleted)
	f.expect("end")

	list, more := f.tree.Failures()
	require.Len(t, list, 10, "the items; the map has not failed by itself")
	require.Zero(t, more)
}

func TestDrawFolded(t *testing.T) {
	var b strings.Builder
	b.WriteString("name: wide\nsteps:\n")
	for g := range 3 {
		b.WriteString("  - parallel:\n      steps:\n")
		for i := range 40 {
			fmt.Fprintf(&b, "        - {operation: work, id: g%d-%d}\n", g, i)
		}
	}
	f := newFilm(t, b.String())
	f.start()
	for i := range 40 {
		f.to(reactive.Completed, time.Second, fmt.Sprintf("g0-%d", i))
	}
	for i := range 40 {
		f.to(reactive.Running, 0, fmt.Sprintf("g1-%d", i))
		if i%2 == 0 {
			f.to(reactive.Completed, time.Second, fmt.Sprintf("g1-%d", i))
		}
	}
	f.fail("g1-21", 1, false, 0, "exit status 1")
	f.expect("folded")
}

func TestDrawMapsInMaps(t *testing.T) {
	f := newFilm(t, `
name: nested
steps:
  - map:
      id: outer
      over: [1, 2]
      steps:
        - {operation: fetch}
        - map: {id: inner, over: [1, 2], steps: [{operation: check}]}
        - {conditional: {test: fetch, then: [{operation: store}]}}
`)
	f.start()
	f.to(reactive.Running, 0, "outer")
	f.to(reactive.Idle, 0, "fetch[0]", "fetch[1]", "store[0]", "store[1]")
	f.to(reactive.Running, 0, "fetch[0]", "fetch[1]")
	f.to(reactive.Completed, time.Second, "fetch[0]", "fetch[1]")
	f.to(reactive.Running, 0, "inner[0]", "inner[1]", "check[0][0]", "check[0][1]", "check[1][0]", "check[1][1]")
	f.fail("check[0][1]", 3, false, 200*time.Millisecond, "exit status 1")
	f.to(reactive.Completed, 0, "check[0][0]", "check[1][0]")
	f.fail("inner[0]", 0, false, 0, "exit status 1")
	f.to(reactive.Skipped, 0, "store[0]")
	f.expect("nested")
}

func TestARetriedItemIsNoLongerNamed(t *testing.T) {
	f := newFilm(t, release)
	f.to(reactive.Running, 0, "hashes", "hash[0]")
	f.fail("hash[0]", 1, false, time.Second, "exit status 1")
	require.Contains(t, f.draw(80, 24), "✗ hash[0]")
	f.to(reactive.Running, time.Second, "hash[0]")
	require.NotContains(t, f.draw(80, 24), "hash[0]")
	list, more := f.tree.Failures()
	require.Empty(t, list)
	require.Zero(t, more)
	require.NoError(t, f.tree.Check())
}

func TestEndedStepsOfItemsAreDropped(t *testing.T) {
	f := newFilm(t, release)
	for i := range 1000 {
		key := fmt.Sprintf("hash[%d]", i)
		f.to(reactive.Running, 0, key)
		f.fail(key, 1, true, 0, "exit status 1")
		f.to(reactive.Running, 0, key)
		f.to(reactive.Completed, 0, key)
	}
	require.Zero(t, f.tree.Running())
}

func TestFailuresBeyondTheLimitAreCounted(t *testing.T) {
	f := newFilm(t, release)
	for i := range 250 {
		key := fmt.Sprintf("hash[%d]", i)
		f.to(reactive.Running, 0, key)
		f.fail(key, 1, false, 0, "exit status 1")
	}
	list, more := f.tree.Failures()
	require.Equal(t, 250, len(list)+more)
	f.to(reactive.Running, 0, "hash[249]", "hash[0]")
	list, more = f.tree.Failures()
	require.Equal(t, 248, len(list)+more)
	require.Contains(t, f.draw(80, 24), "more")
}

func TestANoteTakesALineOfTheFrame(t *testing.T) {
	f := newFilm(t, release)
	text := f.tree.Draw(progress.Frame{Width: 30, Height: 5, Note: "cancelling the run, as somebody wanted"})
	lines := strings.Split(text, "\n")
	require.LessOrEqual(t, len(lines), 5)
	require.Equal(t, "cancelling the run, as somebo…", lines[len(lines)-1])
}

func TestPaintChangesOnlyTheStyle(t *testing.T) {
	f := newFilm(t, release)
	f.to(reactive.Running, 0, "find")
	painted := f.tree.Draw(progress.Frame{Width: 60, Height: 20, Now: f.now(), Paint: func(w progress.Word, text string) string {
		return fmt.Sprintf("\x1b[%dm%s\x1b[0m", 30+w, text)
	}})
	require.Equal(t, f.draw(60, 20), ansi.Strip(painted))
	require.Contains(t, painted, fmt.Sprintf("\x1b[%dm●\x1b[0m", 30+progress.Running))
}

func TestDuration(t *testing.T) {
	for _, c := range []struct {
		in   time.Duration
		want string
	}{
		{-time.Second, "0ms"}, {0, "0ms"}, {999 * time.Millisecond, "999ms"}, {time.Second, "1.0s"},
		{59999 * time.Millisecond, "59.9s"}, {time.Minute, "1m00s"}, {59*time.Minute + 59*time.Second, "59m59s"},
		{2*time.Hour + 4*time.Minute, "2h04m"}, {74 * time.Hour, "3d02h"},
	} {
		require.Equal(t, c.want, progress.Duration(c.in))
	}
}

func TestLongNamesAreShortenedInTheMiddle(t *testing.T) {
	for width, want := range map[int]string{
		20: "alignment_of_reads_7", 19: "alignm…t_of_reads_7", 10: "ali…eads_7", 4: "a…_7", 3: "al…", 1: "…", 0: "",
	} {
		require.LessOrEqual(t, ansi.StringWidth(progress.Squeeze("alignment_of_reads_7", width)), width)
		require.Equal(t, want, progress.Squeeze("alignment_of_reads_7", width), "%d", width)
	}
	require.LessOrEqual(t, ansi.StringWidth(progress.Squeeze("日本語日本語日本語", 8)), 8)
}

func TestClean(t *testing.T) {
	require.Equal(t, "a b c d", progress.Clean(" a\n\tb \x1b[2Jc\x07\rd\x00"))
}
