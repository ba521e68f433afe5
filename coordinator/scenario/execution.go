package scenario

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/coordinator/scenario/schedule"
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// turnsMax bounds the turns of one run within one instant: the scenario of a workflow that loops without passing time fails.
const turnsMax = 10_000

// execution executes a scenario once. It drives the steppers of the runs: it delivers due items, and advances the clock to the next
// due instant. It is single-threaded and never sleeps.
//
//	next instant ─▶ settle: turns of all runs until nothing follows ─▶ entries of the timeline ─▶ next instant …
//	                turn:   items due ─▶ Step ─▶ journal ─▶ (crash) ─▶ questions ─▶ script ─▶ items to come
//
// Invariants:
//  1. now never goes back, and skips no due instant while the engine runs.
//  2. A parent takes a turn only when its children have no work at that instant.
//  3. Expectations are checked against the journals; the engine's own roots are read only to drive them.
type execution struct {
	s         *Scenario
	options   Options
	limits    coordinator.Limits // completed
	answers   *answers
	now       int64    // Unix nanoseconds
	away      int64    // instant at which the engine is back after a crash; 0: it is running
	tracks    []*track // parents before their children
	shuffle   *rand.Rand
	place     string              // the current entry of the timeline; "": none
	directory *template.Directory // the current participants
	report    *Report
	library   *program.Library
	programs  map[*program.Program]*registry.InputSchema // of the runs, with the schemas of their inputs
	budget    budget
	encoded   []byte // encoding of the last journaled event; its memory is reused
	fault     bool   // the execution cannot go on
}

func newExecution(s *Scenario, o Options, library *program.Library) *execution {
	g := &execution{s: s, options: o, library: library, programs: map[*program.Program]*registry.InputSchema{}, limits: o.Limits.Completed(), answers: newAnswers(s), now: s.start.UnixNano(), budget: newBudget(o),
		report: &Report{Scenario: s.Name, File: s.Pos.File, Line: s.Pos.Line}}
	if o.Seed != 0 {
		g.shuffle = rand.New(rand.NewPCG(uint64(o.Seed), 0))
	}
	return g
}

// execute runs the scenario from its start to its end.
func (g *execution) execute() {
	err := g.open()
	if g.checkInvalid(err) {
		return
	}
	g.settle()
	entries := g.s.timeline
	for !g.fault {
		next, ok := g.next(entries)
		if !ok {
			break
		}
		g.now = next
		g.settle()
		for len(entries) > 0 && g.instant(entries[0].at) <= g.now && !g.fault {
			g.performEntry(len(g.s.timeline)-len(entries), &entries[0])
			entries = entries[1:]
			g.settle()
		}
	}
	// The fault would cause any further differences.
	if !g.fault {
		g.check("", g.s.expect)
	}
}

// open starts the scenario's own run. It returns an error if the document or its input is refused.
func (g *execution) open() error {
	src, err := g.library.Find(g.s.workflow, g.options.Workflows, filepath.Dir(g.s.Pos.File))
	if err != nil {
		return err
	}
	p, err := g.compile(src, "", g.s.directory)
	if err != nil {
		return err
	}
	g.directory = p.Plan.Workflow.Directory
	t := newTrack(g, "run", "", p)
	if err := t.setFirstStates(g.s.given); err != nil {
		return err
	}
	return g.begin(t, g.s.input)
}

// compile returns the program for the run at path, and counts its bytes unless another run uses the same program.
func (g *execution) compile(src *program.Source, path string, directory *template.Directory) (*program.Program, error) {
	p, err := g.library.Compile(src, g.answers.operations, g.answers.decisions, path, directory)
	if err != nil {
		return nil, err
	}
	if _, known := g.programs[p]; !known {
		if g.programs[p], err = registry.SchemaOf(p.Plan.Workflow); err != nil {
			return nil, err
		}
		g.budget.bytes += p.Bytes * programBytes
	}
	return p, nil
}

// checkInvalid compares the error of a document, if any, with the expected one. It returns true if the scenario ends here.
func (g *execution) checkInvalid(err error) bool {
	want := g.s.expect.invalid
	if err == nil {
		if len(want) > 0 {
			g.differ("", "invalid", quoted(want), "the document is accepted", nil)
		}
		return len(want) > 0
	}
	if len(want) == 0 {
		g.differ("", "invalid", "a document that is accepted", err.Error(), nil)
		return true
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			g.differ("", "invalid", "a refusal with "+quote(text), err.Error(), nil)
		}
	}
	return true
}

// begin adds a run. Its first steps start in the next turn.
func (g *execution) begin(t *track, input any) error {
	in, err := value.Of(input)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	spent, err := g.programs[t.program].CheckWithin(in, g.budget.remaining())
	if g.budget.work += spent; err != nil {
		return err
	}
	g.budget.work += 2 * nodeWork * len(t.program.Plan.Rows)
	started := decide.Started(t.id, t.program.Plan, in, g.ofRun())
	if t.world() != nil {
		started.Detail.Start.Seed = g.seed()
	}
	t.schedule.Add(g.now, decide.Item{Event: started})
	g.tracks = append(g.tracks, t)
	if t.parent != nil {
		t.parent.children = append(t.parent.children, t)
	}
	return nil
}

// main returns the scenario's own run.
func (g *execution) main() *track { return g.tracks[0] }

func (g *execution) instant(since time.Duration) int64 {
	return call.After(g.s.start.UnixNano(), since)
}

// next returns the next due instant. It returns false if nothing is due before the end of the scenario.
func (g *execution) next(entries []entry) (int64, bool) {
	var due []int64
	// A run that has ended does not wait for further answers. The timeline continues, because its expectations must be checked.
	if g.main().finished() == nil {
		for _, t := range g.tracks {
			if at, ok := t.schedule.Next(); ok && t.finished() == nil {
				due = append(due, at)
			}
			if at := t.root.NextDue(); at > 0 {
				due = append(due, at)
			}
		}
		if g.away > 0 { // everything waits until the engine is back
			due = []int64{g.away}
		}
	}
	if len(entries) > 0 {
		due = append(due, g.instant(entries[0].at))
	}
	next, ok := int64(0), false
	for _, at := range due {
		if at = max(at, g.now); !ok || at < next {
			next, ok = at, true
		}
	}
	if end := g.instant(g.s.until); ok && next > end {
		g.now = end
		return 0, false
	}
	return next, ok
}

// settle takes turns until nothing is due. Children go first: their answers come before the timers of their parents.
func (g *execution) settle() {
	if g.now < g.away {
		return
	}
	if g.away > 0 {
		g.away = 0
		g.recover()
	}
	// A turn may cause a turn of any other run, so the loop restarts after each turn. Turns without work are cheap.
	for _, t := range g.tracks {
		t.turns = 0
	}
	for i := len(g.tracks) - 1; i >= 0 && !g.fault; i-- {
		t := g.tracks[i]
		if !g.turn(t) {
			continue
		}
		i = len(g.tracks)
		if t.turns++; t.turns > turnsMax {
			g.fail("turns", fmt.Sprintf("at most %d of %srun in one instant", turnsMax, t.path), "more: the run loops")
		}
	}
}

// turn takes one turn of a run, and reports whether it had any work.
func (g *execution) turn(t *track) bool {
	items := g.items(t)
	if t.finished() != nil && len(items) == 0 {
		return false
	}
	g.capMeters(t)
	out := t.step.Step(g.now, items)
	for _, r := range out.Replies {
		r.To(r.Err)
	}
	// As in the engine's loop, calls are made only after their requests are in the journal. A crash drops the calls of this turn,
	// and recovery must find their open requests in the journal.
	err := t.append(&out)
	g.countWork(t)
	g.budget.events += len(out.Batch)
	g.budget.work += eventWork * (2*len(out.Batch) + len(items) + len(out.Calls))
	switch {
	case out.Err != nil:
		g.fail(snapshotKey, "content that can be read", out.Err.Error())
	case err != nil:
		g.fail("journal", "events that can be stored", err.Error())
	case g.exceeded():
	case g.options.Crash && len(out.Batch) > 0:
		g.crash(t)
	default:
		asked := make([]question, len(out.Calls))
		for i, req := range out.Calls {
			asked[i] = t.question(req)
		}
		t.sort(asked)
		for _, q := range asked {
			g.ask(q)
		}
		g.exceeded()
	}
	return len(items) > 0 || len(out.Batch) > 0 || out.More
}

// items returns the items of a run that are due now. It shuffles those whose order the rules leave open.
func (g *execution) items(t *track) []decide.Item {
	items, groups := t.schedule.Take(g.now, g.budget.bytesMax-g.budget.bytes)
	if g.shuffle != nil {
		items = schedule.Shuffle(g.shuffle, items, groups)
	}
	// Results of children need no shuffling: their order follows from the shuffled answers of the children.
	t.children = slices.DeleteFunc(t.children, func(child *track) bool {
		if it, ok := child.outcome(); ok {
			items = append(items, g.received(it))
		}
		return child.finished() != nil && !t.root.Open(child.call)
	})
	if it, ok := t.cancellation(); ok {
		items = append(items, g.received(it))
	}
	if it, ok := t.pause(); ok {
		items = append(items, g.received(it))
	}
	if it, ok := t.takeSnapshot(); ok {
		items = append(items, g.received(it))
	}
	return items
}

func (g *execution) received(it decide.Item) decide.Item {
	it.Received = g.now
	return it
}

// crash discards the engine of a run and rebuilds it from the journal, which determines the open requests.
func (g *execution) crash(t *track) {
	g.report.Crashes++
	err := t.rebuild()
	g.countWork(t)
	if g.exceeded() {
		return
	}
	if err != nil {
		g.fail(snapshotKey, "a state that can be restored", err.Error())
		return
	}
	again, lost := t.unanswered()
	for _, it := range lost {
		t.schedule.Add(g.now, it)
	}
	for _, q := range again {
		g.ask(q)
	}
}

// recover restarts the engine after a crash of all runs.
func (g *execution) recover() {
	for _, t := range g.tracks {
		if g.crash(t); g.fault {
			return
		}
	}
}

// ask gets the answer to a request from the script or a child run. It ignores a repeated request, whose answer is scheduled already.
func (g *execution) ask(q question) {
	if g.exceeded() || !g.answers.first(q.id()) {
		return
	}
	p := q.part(g.answers)
	if b := q.bound().Bound; p == nil && q.call.Decision == 0 && b != nil && b.Binding.Workflow != nil {
		g.startChild(q, b.Binding.Workflow)
		return
	}
	g.answer(q, p)
}

// answer schedules the script's answer for its time.
func (g *execution) answer(q question, p *script.Part) {
	var a script.Answer
	ok := p != nil
	if ok {
		a, ok = p.Next(q.call.Participant)
	}
	group := 0
	if len(a.Frames) > 0 {
		group = q.t.schedule.Group() // a call reports in order, and before it ends
	}
	g.budget.work += eventWork * len(a.Frames)
	for i := range a.Frames {
		q.t.schedule.Repeat(call.After(g.now, a.Frames[i].After), 1, q.report(int32(i+1), &a.Frames[i]), group)
	}
	switch {
	case !ok:
		g.fail(q.t.path+q.node, "a scripted answer", q.missing())
	case !a.Never:
		q.t.schedule.Repeat(call.After(g.now, a.After), a.Deliver, q.item(a), group)
	}
}

// missing describes a question without an answer in the script.
func (q question) missing() string {
	switch {
	case q.call.Decision != 0:
		return fmt.Sprintf("the decision about step %q is not scripted", q.t.path+q.node)
	case q.call.Participant != "":
		return fmt.Sprintf("participant %q of operation %q is not scripted", q.call.Participant, q.operation())
	}
	return fmt.Sprintf("operation %q of step %q is not scripted", q.operation(), q.t.path+q.node)
}

// performEntry performs an entry of the timeline.
func (g *execution) performEntry(i int, e *entry) {
	g.place = fmt.Sprintf("timeline[%d]", i)
	defer func() { g.place = "" }()
	switch e.kind {
	case expectKey:
		g.check(g.place, e.expect)
	case crashKey:
		g.away = call.After(g.now, e.down)
	case snapshotKey:
		g.snapshot(e)
	case directoryKey:
		g.directory = e.directory
	default:
		g.command(e)
	}
}

// command sends the commands of an entry to their run, together and in order. Except in a world, a refusal because of the state of
// the run is not a difference. A command about an unknown step is a difference: the scenario is wrong.
func (g *execution) command(e *entry) {
	group := g.main().schedule.Group()
	for _, command := range e.commands {
		t, key, ok := g.main(), command.Node, true
		if key != "" {
			t, key, ok = g.route(key)
		}
		if !ok {
			g.differ(g.place, e.kind, "a step of the run", "unknown step "+quote(command.Node), nil)
			return
		}
		if command.Type == journal.NodeAborted {
			_, key = t.task(key)
		}
		command.Node = t.callKey(key)
		it := decide.Item{Event: command, Reply: g.reply(t, e)}
		if command.Type == journal.MessageReceived {
			t.messages(&it)
		}
		if t != g.main() {
			group = 0
		}
		t.schedule.Repeat(g.now, 1, it, group)
	}
}

// reply returns the function that receives the reply to a command of an entry.
func (g *execution) reply(t *track, e *entry) func(error) {
	at := g.place // the timeline may have advanced when the reply arrives
	return func(err error) {
		switch {
		case e.refused != nil && err == nil:
			g.differ(at, e.kind, "a refusal with "+quoted(e.refused), "it is not refused", nil)
		case e.refused != nil:
			for _, text := range e.refused {
				if !strings.Contains(err.Error(), text) {
					g.differ(at, e.kind, "a refusal with "+quote(text), err.Error(), nil)
				}
			}
		case errors.Is(err, coordinator.ErrStepNotFound):
			g.differ(at, e.kind, "a step of the run", err.Error(), nil)
		case errors.Is(err, decide.ErrNotWorld):
			g.differ(at, e.kind, "a run of a world", err.Error(), nil)
		case err != nil && t.world() != nil:
			g.differ(at, e.kind, "it is not refused", err.Error(), nil)
		case err != nil:
			g.report.Refused = append(g.report.Refused, Refusal{At: duration.Format(g.sinceStart()), Command: e.kind, Reason: err.Error()})
		}
	}
}

func (g *execution) sinceStart() time.Duration { return time.Duration(g.now - g.s.start.UnixNano()) }

// differ records a difference at the current instant.
func (g *execution) differ(where, key, want, got string, by *Event) {
	g.budget.bytes += len(want) + len(got)
	g.report.Differences = append(g.report.Differences, Difference{
		Where: where, At: duration.Format(g.sinceStart()), Key: key, Want: want, Got: got, Event: by,
	})
}

// fail records a difference and ends the execution.
func (g *execution) fail(key, want, got string) {
	g.differ(g.place, key, want, got, nil)
	g.fault = true
}
