package scenario

import (
	"cmp"
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
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/duration"
	"github.com/sluiceflow/sluice/template/value"
)

// turnsMax bounds the turns of one run within one instant, so that a workflow that loops without time passing ends as a
// difference.
const turnsMax = 10_000

// The default limits of a scenario.
const (
	WorkMax  = 2_000_000_000
	BytesMax = 256 << 20
)

// stage is a scenario while it is performed. It drives the stepper: it keeps the instant, delivers the items of the
// script that are due, and advances from one instant at which something happens to the next. Nothing sleeps and nothing runs
// beside it.
//
//	next instant ─▶ settle: turns of all runs until nothing follows ─▶ entries of the timeline ─▶ next instant …
//	                turn:   items due ─▶ Step ─▶ journal ─▶ (crash) ─▶ questions ─▶ script ─▶ items to come
//
// Invariants:
//  1. now never goes back, and no instant at which something is due is skipped while the engine runs.
//  2. A parent's turn comes only when all its children are quiet at that instant.
//  3. Expectations are checked against the journals; the engine's own roots are read only to drive them.
type stage struct {
	s         *Scenario
	options   Options
	limits    coordinator.Limits // completed
	cast      *cast
	now       int64    // Unix nanoseconds
	away      int64    // the engine is, until then; 0: it is there
	tracks    []*track // parents before their children
	shuffle   *rand.Rand
	place     string              // the entry of the timeline that is performed; "": none
	directory *template.Directory // the current participants
	report    *Report
	events    int  // of all runs
	bytes     int  // of their encoding
	work      int  // of expressions
	fault     bool // it cannot go on
}

func newStage(s *Scenario, o Options) *stage {
	g := &stage{s: s, options: o, limits: o.Limits.Completed(), cast: newCast(s), now: s.start.UnixNano(),
		report: &Report{Scenario: s.Name, File: s.Pos.File, Line: s.Pos.Line}}
	if o.Seed != 0 {
		g.shuffle = rand.New(rand.NewPCG(uint64(o.Seed), 0))
	}
	return g
}

// perform runs the scenario from its start to its end.
func (g *stage) perform() {
	err := g.open()
	if g.refused(err) {
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
			g.enter(len(g.s.timeline)-len(entries), &entries[0])
			entries = entries[1:]
			g.settle()
		}
	}
	// After a fault the rest would only repeat that the run was not finished.
	if !g.fault {
		g.check("", g.s.expect)
	}
}

// open starts the scenario's own run. It returns an error if the document or its input is refused.
func (g *stage) open() error {
	src, err := program.Find(g.s.workflow, g.options.Workflows, filepath.Dir(g.s.Pos.File))
	if err != nil {
		return err
	}
	p, err := src.Compile(g.cast.operations, g.cast.decisions, "", g.s.directory)
	if err != nil {
		return err
	}
	g.directory = p.Plan.Workflow.Directory
	return g.begin(newTrack(g, "run", "", p), g.s.input)
}

// refused compares a refusal with what the scenario expects of one. It reports true when there is nothing to run.
func (g *stage) refused(err error) bool {
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
func (g *stage) begin(t *track, input any) error {
	in, err := value.Of(input)
	if err != nil {
		return fmt.Errorf("input: %w", err)
	}
	if err := registry.CheckInput(t.program.Plan.Workflow, in); err != nil {
		return err
	}
	t.agenda.add(g.now, decide.Item{Event: decide.Started(t.id, t.program.Plan, in, g.ofRun())})
	g.tracks = append(g.tracks, t)
	if t.parent != nil {
		t.parent.children = append(t.parent.children, t)
	}
	return nil
}

// main returns the scenario's own run.
func (g *stage) main() *track { return g.tracks[0] }

func (g *stage) instant(since time.Duration) int64 { return call.After(g.s.start.UnixNano(), since) }

// next returns the next instant at which something happens; false: nothing does any more, or not before the end.
func (g *stage) next(entries []entry) (int64, bool) {
	var due []int64
	// A run that has ended does not wait for answers that are not needed. The timeline goes on: what it expects then
	// was written down, and must not pass because it was never looked at.
	if g.main().finished() == nil {
		for _, t := range g.tracks {
			if at, ok := t.agenda.next(); ok && t.finished() == nil {
				due = append(due, at)
			}
			if at := t.root.NextDue(); at > 0 {
				due = append(due, at)
			}
		}
		if g.away > 0 { // it all waits until the engine is back
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

// settle takes turns until nothing is due. Children go first: what they answer comes
// before the timers of their parents.
func (g *stage) settle() {
	if g.now < g.away {
		return
	}
	if g.away > 0 {
		g.away = 0
		g.recover()
	}
	// Any turn may give any run something to do, so the round begins anew after each; turns with nothing to do are cheap.
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

// turn makes one step of a run, and reports whether anything happened.
func (g *stage) turn(t *track) bool {
	items := g.items(t)
	if t.finished() != nil && len(items) == 0 {
		return false
	}
	out := t.step.Step(g.now, items)
	for _, r := range out.Replies {
		r.To(r.Err)
	}
	// As in the engine's loop: nothing is asked of the world before what led to it is in the journal. After a crash the calls
	// of this step are forgotten; that they are open is in the journal, and recovery has to find them there.
	switch err := t.append(out.Batch); {
	case err != nil:
		g.fail("journal", "events that can be stored", err.Error())
	case g.tooMuch(t, len(out.Batch)):
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
	}
	return len(items) > 0 || len(out.Batch) > 0 || out.More
}

// ofRun returns the limits of each run.
func (g *stage) ofRun() decide.Limits {
	return g.limits.OfRun().Within(cmp.Or(g.options.WorkMax, WorkMax))
}

// tooMuch counts what a turn has added, and fails the scenario when that is too much. A run that has reached its limit of events
// alone ends by itself, with as many more as that takes.
func (g *stage) tooMuch(t *track, events int) bool {
	g.events += events
	g.work += t.root.Meter().Spent() + t.seen.Meter().Spent() - t.spent
	t.spent = t.root.Meter().Spent() + t.seen.Meter().Spent()
	switch most := g.limits.EventsMax; {
	case len(g.tracks) > 1 && most >= 0 && g.events > most:
		g.fail("journal", fmt.Sprintf("at most %d events of all runs together", most), "more")
	case g.bytes > cmp.Or(g.options.BytesMax, BytesMax):
		g.fail("journal", fmt.Sprintf("at most %d bytes of all runs together", cmp.Or(g.options.BytesMax, BytesMax)), "more")
	case g.work > cmp.Or(g.options.WorkMax, WorkMax):
		g.fail("expressions", fmt.Sprintf("at most %d steps of work of all runs together", cmp.Or(g.options.WorkMax, WorkMax)), "more")
	}
	return g.fault
}

// items returns what comes in for a run now. The rules leave open which of several answers of one instant comes first.
func (g *stage) items(t *track) []decide.Item {
	items := t.agenda.take(g.now)
	if g.shuffle != nil {
		g.shuffle.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	// Children have been shuffled among themselves by their own answers.
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
	return items
}

func (g *stage) received(it decide.Item) decide.Item {
	it.Received = g.now
	return it
}

// crash discards the engine of a run and rebuilds it from the journal, which determines the open requests.
func (g *stage) crash(t *track) {
	g.report.Crashes++
	t.rebuild()
	again, lost := t.unanswered()
	for _, it := range lost {
		t.agenda.add(g.now, it)
	}
	for _, q := range again {
		g.ask(q)
	}
}

// recover restarts the engine after a crash of all runs.
func (g *stage) recover() {
	for _, t := range g.tracks {
		g.crash(t)
	}
}

// ask gets the answer of a request from the script or a child run. A repeated request is under way already.
func (g *stage) ask(q question) {
	if g.fault || !g.cast.first(q.id()) {
		return
	}
	p := q.part(g.cast)
	if b := q.bound().Bound; p == nil && q.call.Decision == 0 && b != nil && b.Binding.Workflow != nil {
		g.startChild(q, b.Binding.Workflow)
		return
	}
	g.answer(q, p)
}

// answer schedules the script's answer for its time.
func (g *stage) answer(q question, p *script.Part) {
	var a script.Answer
	ok := p != nil
	if ok {
		a, ok = p.Next(q.call.Participant)
	}
	for i := range a.Frames {
		q.t.agenda.add(call.After(g.now, a.Frames[i].After), q.report(int32(i+1), &a.Frames[i]))
	}
	switch {
	case !ok:
		g.fail(q.t.path+q.node, "a scripted answer", q.missing())
	case !a.Never:
		q.t.agenda.repeat(call.After(g.now, a.After), a.Deliver, q.item(a))
	}
}

// missing reports what the script has no answer for.
func (q question) missing() string {
	switch {
	case q.call.Decision != 0:
		return fmt.Sprintf("the decision about step %q is not scripted", q.t.path+q.node)
	case q.call.Participant != "":
		return fmt.Sprintf("participant %q of operation %q is not scripted", q.call.Participant, q.operation())
	}
	return fmt.Sprintf("operation %q of step %q is not scripted", q.operation(), q.t.path+q.node)
}

// enter performs an entry of the timeline.
func (g *stage) enter(i int, e *entry) {
	g.place = fmt.Sprintf("timeline[%d]", i)
	defer func() { g.place = "" }()
	switch e.kind {
	case expectKey:
		g.check(g.place, e.expect)
	case crashKey:
		g.away = call.After(g.now, e.down)
	case directoryKey:
		g.directory = e.directory
	default:
		g.command(e)
	}
}

// command sends a command to its run. A refusal because of the run's state is no difference; that
// it names nothing is a mistake of the scenario.
func (g *stage) command(e *entry) {
	t, key, ok := g.main(), e.command.Node, true
	if key != "" {
		t, key, ok = g.route(key)
	}
	if !ok {
		g.differ(g.place, e.kind, "a step of the run", "unknown step "+quote(e.command.Node), nil)
		return
	}
	event := e.command
	event.Node = key
	kind, at := e.kind, g.place // by the time of the reply, the timeline may have gone on
	t.agenda.add(g.now, decide.Item{Event: event, Reply: func(err error) {
		if errors.Is(err, coordinator.ErrStepNotFound) {
			g.differ(at, kind, "a step of the run", err.Error(), nil)
		} else if err != nil {
			g.report.Refused = append(g.report.Refused, Refusal{At: duration.Format(g.sinceStart()), Command: kind, Reason: err.Error()})
		}
	}})
}

func (g *stage) sinceStart() time.Duration { return time.Duration(g.now - g.s.start.UnixNano()) }

// differ notes a difference at the present instant.
func (g *stage) differ(where, key, want, got string, by *Event) {
	g.report.Differences = append(g.report.Differences, Difference{
		Where: where, At: duration.Format(g.sinceStart()), Key: key, Want: want, Got: got, Event: by,
	})
}

// fail notes a difference after which there is no going on.
func (g *stage) fail(key, want, got string) {
	g.differ(g.place, key, want, got, nil)
	g.fault = true
}
