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

// turnsMax bounds the turns of one run within one instant, so that a workflow that loops without time passing is reported as
// a difference.
const turnsMax = 10_000

// The default limits of a scenario.
const (
	WorkMax  = 2_000_000_000
	BytesMax = 256 << 20
)

// simulation is a scenario under way. It drives the stepper: it keeps the current instant, delivers the items of the script
// that are due, and advances to the next instant at which something is due. Nothing sleeps and nothing runs concurrently.
//
//	next instant ─▶ settle: turns of all runs until nothing follows ─▶ entries of the timeline ─▶ next instant …
//	                turn:   items due ─▶ Step ─▶ journal ─▶ (crash) ─▶ questions ─▶ script ─▶ items to come
//
// Invariants:
//  1. now never goes back, and no instant at which something is due is skipped while the engine runs.
//  2. A parent's turn comes only when all its children are quiet at that instant.
//  3. Expectations are checked against the journals; the engine's own roots are read only to drive them.
type simulation struct {
	s         *Scenario
	options   Options
	limits    coordinator.Limits // completed
	responder *responder
	now       int64    // Unix nanoseconds
	away      int64    // the engine is down until then; 0: it is up
	tracks    []*track // parents before their children
	shuffle   *rand.Rand
	place     string              // the current entry of the timeline; "": none
	directory *template.Directory // the current participants
	report    *Report
	events    int  // of all runs
	bytes     int  // of their encoding
	work      int  // of expressions
	fault     bool // the simulation cannot continue
}

func newSimulation(s *Scenario, o Options) *simulation {
	g := &simulation{s: s, options: o, limits: o.Limits.Completed(), responder: newResponder(s), now: s.start.UnixNano(),
		report: &Report{Scenario: s.Name, File: s.Pos.File, Line: s.Pos.Line}}
	if o.Seed != 0 {
		g.shuffle = rand.New(rand.NewPCG(uint64(o.Seed), 0))
	}
	return g
}

// perform runs the scenario from its start to its end.
func (g *simulation) perform() {
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
	// After a fault, the rest would only repeat that the run did not finish.
	if !g.fault {
		g.check("", g.s.expect)
	}
}

// open starts the scenario's own run. It returns an error if the document or its input is invalid.
func (g *simulation) open() error {
	src, err := program.Find(g.s.workflow, g.options.Workflows, filepath.Dir(g.s.Pos.File))
	if err != nil {
		return err
	}
	p, err := src.Compile(g.responder.operations, g.responder.decisions, "", g.s.directory)
	if err != nil {
		return err
	}
	g.directory = p.Plan.Workflow.Directory
	return g.begin(newTrack(g, "run", "", p), g.s.input)
}

// refused compares an error that refuses the workflow with the expected one. It reports whether there is nothing to run.
func (g *simulation) refused(err error) bool {
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
			g.differ("", "invalid", "an error with "+quote(text), err.Error(), nil)
		}
	}
	return true
}

// begin adds a run. Its first steps start in the next turn.
func (g *simulation) begin(t *track, input any) error {
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
func (g *simulation) main() *track { return g.tracks[0] }

func (g *simulation) instant(since time.Duration) int64 {
	return call.After(g.s.start.UnixNano(), since)
}

// next returns the next instant at which something is due. It reports false when nothing is due before the end.
func (g *simulation) next(entries []entry) (int64, bool) {
	var due []int64
	// A finished run does not wait for answers that it does not need. The timeline goes on, because its remaining
	// expectations must be checked.
	if g.main().finished() == nil {
		for _, t := range g.tracks {
			if at, ok := t.agenda.next(); ok && t.finished() == nil {
				due = append(due, at)
			}
			if at := t.root.NextDue(); at > 0 {
				due = append(due, at)
			}
		}
		if g.away > 0 { // nothing happens until the engine is back
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
func (g *simulation) settle() {
	if g.now < g.away {
		return
	}
	if g.away > 0 {
		g.away = 0
		g.recover()
	}
	// Any turn may make another run ready, so the round begins anew after each; turns with nothing to do are cheap.
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
			g.fail("turns", fmt.Sprintf("at most %d of %srun in one instant", turnsMax, t.path), "more: the run does not stop")
		}
	}
}

// turn makes one step of a run, and reports whether anything happened.
func (g *simulation) turn(t *track) bool {
	items := g.items(t)
	if t.finished() != nil && len(items) == 0 {
		return false
	}
	out := t.step.Step(g.now, items)
	for _, r := range out.Replies {
		r.To(r.Err)
	}
	// As in the engine's loop, calls are made only when the events that led to them are in the journal. A crash forgets the
	// calls of this step, and recovery must find the open calls in the journal.
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
func (g *simulation) ofRun() decide.Limits {
	return g.limits.OfRun().Within(cmp.Or(g.options.WorkMax, WorkMax))
}

// tooMuch adds the events of a turn to the counts, and fails the scenario if a bound is exceeded. A run at its own limit of
// events ends by itself, which takes a few more events.
func (g *simulation) tooMuch(t *track, events int) bool {
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

// items returns the items that arrive for a run now. The order of several answers at one instant is unspecified, so Seed may
// shuffle it.
func (g *simulation) items(t *track) []decide.Item {
	items := t.agenda.take(g.now)
	if g.shuffle != nil {
		g.shuffle.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	}
	// Children were already shuffled by their own answers.
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

func (g *simulation) received(it decide.Item) decide.Item {
	it.Received = g.now
	return it
}

// crash discards the engine of a run and rebuilds it from the journal, which determines the open requests.
func (g *simulation) crash(t *track) {
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
func (g *simulation) recover() {
	for _, t := range g.tracks {
		g.crash(t)
	}
}

// ask obtains the answer to a request from the script or a child run. A repeated request is already under way.
func (g *simulation) ask(q question) {
	if g.fault || !g.responder.first(q.id()) {
		return
	}
	p := q.part(g.responder)
	if b := q.bound().Bound; p == nil && q.call.Decision == 0 && b != nil && b.Binding.Workflow != nil {
		g.startChild(q, b.Binding.Workflow)
		return
	}
	g.answer(q, p)
}

// answer schedules the script's answer.
func (g *simulation) answer(q question, p *script.Part) {
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

// missing returns the message for a request that the script does not answer.
func (q question) missing() string {
	switch {
	case q.call.Decision != 0:
		return fmt.Sprintf("the decision about step %q is not scripted", q.t.path+q.node)
	case q.call.Participant != "":
		return fmt.Sprintf("participant %q of operation %q is not scripted", q.call.Participant, q.operation())
	}
	return fmt.Sprintf("operation %q of step %q is not scripted", q.operation(), q.t.path+q.node)
}

// enter carries out an entry of the timeline.
func (g *simulation) enter(i int, e *entry) {
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

// command sends a command to its run. A refusal because of the run's state is no difference; a command that names nothing in
// the run is a mistake of the scenario.
func (g *simulation) command(e *entry) {
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
	kind, at := e.kind, g.place // captured: the reply may come in a later entry
	t.agenda.add(g.now, decide.Item{Event: event, Reply: func(err error) {
		if errors.Is(err, coordinator.ErrStepNotFound) {
			g.differ(at, kind, "a step of the run", err.Error(), nil)
		} else if err != nil {
			g.report.Refused = append(g.report.Refused, Refusal{At: duration.Format(g.sinceStart()), Command: kind, Reason: err.Error()})
		}
	}})
}

func (g *simulation) sinceStart() time.Duration { return time.Duration(g.now - g.s.start.UnixNano()) }

// differ records a difference at the current instant.
func (g *simulation) differ(where, key, want, got string, by *Event) {
	g.report.Differences = append(g.report.Differences, Difference{
		Where: where, At: duration.Format(g.sinceStart()), Key: key, Want: want, Got: got, Event: by,
	})
}

// fail records a difference after which the simulation cannot continue.
func (g *simulation) fail(key, want, got string) {
	g.differ(g.place, key, want, got, nil)
	g.fault = true
}
