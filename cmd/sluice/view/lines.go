package view

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/value"
)

// lineView prints a line for each change: the time since the start of the run, symbol and word, the step, and a remark. A step that
// becomes waiting or ready has no line, except a step of a playbook with a token that waits for a gate to open. For a resumed run it
// first prints the steps at which tokens wait, since there may be no other change for a long time.
//
//	+0.213s  ✓ completed  find  120ms
//	+0.214s  ↻ retrying   hash  attempt 1, 3ms: exit: exit status 1: no such file
//	+0.215s  ⊘ aborted    ship  because of build
type lineView struct {
	mu      sync.Mutex
	w       *bufio.Writer
	tree    *progress.Tree
	run     *Run
	started int64             // of the run, Unix nanoseconds
	begun   map[string]int64  // start of running steps, Unix nanoseconds
	waiting map[string]bool   // steps of a playbook with waiting tokens
	cells   map[string]string // of a world, by address: the last line of the cell
}

func newLineView(w io.Writer, r *Run) *lineView {
	return &lineView{
		w: bufio.NewWriter(w), tree: progress.New(r.Workflow), run: r,
		begun: map[string]int64{}, waiting: map[string]bool{}, cells: map[string]string{},
	}
}

func (v *lineView) Update(u *coordinator.Update, live bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tree.Apply(u)
	at := u.Event.At
	switch u.Event.Type {
	case journal.RunStarted:
		v.started = at
		v.event(live, at, "▶ started", "run", u.Event.Detail.Start.Run)
	case journal.RunPaused:
		v.event(live, at, "‖ paused", "run", u.Event.Detail.Reason)
	case journal.RunResumed:
		v.event(live, at, "▶ resumed", "run", "")
	case journal.CallReported:
		v.report(live, u)
	}
	for i := range u.Changes {
		v.change(&u.Changes[i], at, live)
	}
	for i := range u.Cells {
		v.cell(&u.Cells[i].Cell, at, live)
	}
	if live {
		v.awaits(at, u.Waits)
	}
	last := u.Event.Seq == v.run.Seen // the last earlier event: the state after it is printed
	if last && u.Status == reactive.RunWaiting {
		for _, step := range slices.Sorted(maps.Keys(v.waiting)) {
			v.waits(true, at, step)
		}
	}
	if last {
		for _, key := range slices.Sorted(maps.Keys(v.tree.Awaits())) {
			v.awaits(at, v.tree.Awaits()[key])
		}
	}
	if text := v.tree.CellCounts(); last && text != "" {
		v.event(true, at, "▶ resumed", "run", text)
	}
	if u.Event.Type == journal.RunFinished {
		word := progress.WordOfRun(u.Status)
		v.event(live || last, at, word.Symbol()+" "+string(u.Status), "run", progress.Duration(time.Duration(at-v.started)))
	}
	if live || last {
		v.w.Flush()
	}
}

func (v *lineView) change(c *coordinator.StepChange, at int64, live bool) {
	word, ok := progress.WordOf(c.To, c.Pending)
	if v.run.Workflow.Routing != nil {
		step, _, _ := strings.Cut(c.Step, "@")
		delete(v.waiting, step)
		if word == progress.Waiting && step == c.Step {
			v.waiting[step] = true
			v.waits(live, at, step)
		}
	}
	if !ok || word < progress.Running {
		return
	}
	took := ""
	if begun, known := v.begun[c.Step]; known {
		took = progress.Duration(time.Duration(at - begun))
	}
	if word == progress.Running {
		v.begun[c.Step] = at
	} else {
		delete(v.begun, c.Step)
	}
	v.event(live, at, word.Symbol()+" "+word.String(), c.Step, remark(c, word, took))
}

// cell prints a line for a cell of a world that waits, has failed or has completed, if its status or its waits have changed since its last
// line.
func (v *lineView) cell(s *world.CellState, at int64, live bool) {
	shown := string(s.Status) + " " + progress.WaitsOf(s, 0)
	switch {
	case s.Status == "":
		delete(v.cells, s.Address)
		return
	case s.Status == world.Running, v.cells[s.Address] == shown:
		return
	}
	v.cells[s.Address] = shown
	remark := progress.WaitsOf(s, 0)
	if s.Failure != nil {
		remark = progress.Clean(s.Failure.Error())
	}
	word := progress.Waiting
	switch s.Status {
	case world.Failed:
		word = progress.Failed
	case world.Completed:
		word = progress.Completed
	}
	v.event(live, at, word.Symbol()+" "+string(s.Status), progress.Clean(s.Address), remark)
}

// remark returns the last column: the attempt unless it is the only one, its duration, and the failure.
func remark(c *coordinator.StepChange, w progress.Word, took string) string {
	text := took
	if c.Attempt > 1 || w == progress.Retrying {
		text = fmt.Sprintf("attempt %d", c.Attempt)
		if took != "" {
			text += ", " + took
		}
	}
	if c.Failure != nil {
		if text != "" {
			text += ": "
		}
		text += progress.Clean(failureText(c.Failure))
	}
	return text
}

// failureText returns a failure in one line: for a step that was aborted because of another step, the name of the other step.
func failureText(f *journal.Failure) string {
	if f.Code == reactive.CodeDependency && f.Step != "" {
		return "because of " + f.Step
	}
	return f.Error()
}

// report prints the report of a call, unless it repeats an earlier one.
func (v *lineView) report(live bool, u *coordinator.Update) {
	if u.Outcome != reactive.Applied {
		return
	}
	text := u.Event.Detail.Name
	if payload, _, err := value.Preview(u.Event.Value, cli.ShortMax); err == nil && u.Event.Value != nil {
		text += ": " + cli.Short(payload)
	}
	v.event(live, u.Event.At, "· report", u.Event.Node, progress.Clean(text))
}

// awaits prints waits, except for slots, turns and workers, and the commands that end them.
func (v *lineView) awaits(at int64, list []inspect.Wait) {
	for i := range list {
		w := &list[i]
		switch w.Kind {
		case inspect.ForSlot, inspect.ForTurn, inspect.ForWorker:
			continue
		case inspect.ForTimer:
			if v.tree.CellCounts() != "" { // the line of its cell names it
				continue
			}
		case inspect.ForRetry:
			if w.Due == 0 { // it is due, and the next line reports the attempt
				continue
			}
		}
		text := progress.WaitsFor(list[i : i+1])
		if w.Command != nil && v.run.Dir != "" {
			text += ": " + progress.Clean(cli.CommandLine(v.run.Dir, w.Command))
		}
		step := w.Step
		if step == "" {
			step = "run"
		}
		v.event(true, at, "· awaits", progress.Clean(step), text)
	}
}

// waits prints that a token waits at a step.
func (v *lineView) waits(live bool, at int64, step string) {
	v.event(live, at, progress.Waiting.Symbol()+" "+progress.Waiting.String(), step, "")
}

// event prints a line, if it is live.
func (v *lineView) event(live bool, at int64, what, step, remark string) {
	if !live {
		return
	}
	offset := time.Duration(at - v.started).Seconds()
	fmt.Fprintf(v.w, "%+.3fs  %-11s  %s", offset, what, step)
	if remark != "" {
		fmt.Fprint(v.w, "  ", remark)
	}
	v.w.WriteByte('\n')
}

func (v *lineView) Stopping(what string) { v.Note(what + "\n") }

func (v *lineView) Note(text string) { fmt.Fprint(os.Stderr, text) }

func (v *lineView) End(e Summary) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if e.Result != nil {
		summarize(v.w, v.tree, e.Result, v.run.hasOutput(e.Result), plain)
	}
	v.w.Flush()
}
