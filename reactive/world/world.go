package world

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/recent"
	"github.com/sluiceflow/sluice/reactive/world/turns"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
)

// World is the state of a world's run: its cells, their mail, and the intents that they wait for. It is attached to the root of
// the run, and belongs to the goroutine that owns the root.
//
// Invariants:
//  1. A cell without state, intents, mail and failure that is not held is not in cells.
//  2. A cell is in the ring once if it has mail and is not held; else it is not.
//  3. Every open call and every armed timer is an intent of exactly one cell, and of that cell's machine.
//  4. The first timer of the heap is armed, and every armed timer is in it once.
//  5. A cell that can expire is in the heap of expiries once, no later than it does; the first of the heap is there at its instant.
//  6. A cell that has completed or has no state has no intents. A cell is to fail if it is among the faults, and only then.
type World struct {
	holdings
	root    *reactive.Root
	calls   *reactive.Calls
	ring    turns.Ring[*cell]
	faults  faults // of cells that must fail
	recent  recent.Messages
	tally   Tally
	watch   func(*journal.Event)
	tracker tracker
	event   *journal.Event // the current event
	seed    [32]byte       // of the run, for the random numbers of activations
	program program        // steps the cells
}

// Tally counts the messages, activations and faults of a world.
type Tally struct {
	Messages int `json:"messages"` // taken
	Stepped  int `json:"stepped"`  // activations, ignored ones included
	Ignored  int `json:"ignored"`  // activations without a matching rule
	Failed   int `json:"failed"`   // failures of cells
	Faults   int `json:"faults"`   // results that do not fit their effect
	Dropped  int `json:"dropped"`  // intents that cells have dropped
	Gaps     int `json:"gaps"`     // gaps in the numbers of reports
}

// New returns the root of a world's run without events.
func New(p *plan.Plan) *reactive.Root {
	def := p.Workflow.Routing.(*machine.World)
	return reactive.NewRouted(p, func(c *reactive.Calls) reactive.Body {
		w := &World{root: c.Root(), calls: c}
		w.holdings = holdings{def: def, cells: map[string]*cell{}, dirty: map[string]*cell{}, cache: Cache{}.bounds()}
		w.base.roots, w.delta = kept.NoRoots(), delta{stateMax: SpillState, bytesMax: SpillBytes}
		w.read = w.tracker.read
		w.intents.init()
		return w
	})
}

// Of returns the world of a run, or nil for a run of any other workflow.
func Of(r *reactive.Root) *World {
	w, _ := r.Body().(*World)
	return w
}

// Definition returns the definition of the world.
func (h *holdings) Definition() *machine.World { return h.def }

// Ended reports whether the run was cancelled or closed, so that nothing changes any more.
func (h *holdings) Ended() bool { return h.stopped }

// Tally returns the counts of the world.
func (w *World) Tally() Tally { return w.tally }

// Apply takes an event after the root: it changes the cell of the event, delivers mail, and settles the intents whose calls
// have ended.
func (w *World) Apply(e *journal.Event) {
	w.event = e
	w.tracker.begin()
	w.delta.event = w.root.Bytes() - w.delta.before
	if w.base.fetch != nil && e.Node != "" {
		w.intents.keep(e)
	}
	switch {
	case w.stopped:
	case w.root.Closed():
		w.close()
	default:
		w.apply(e)
		w.settle()
		w.ring.Trim()
		w.evictIfMany()
	}
	if w.watch != nil {
		w.watch(e)
	}
	w.delta.before = w.root.Bytes()
}

func (w *World) apply(e *journal.Event) {
	switch e.Type {
	case journal.RunStarted:
		copy(w.seed[:], w.root.Start().Seed)
		w.begin(e.At)
	case journal.MessageReceived:
		w.received(e)
	case journal.CellStepped:
		w.stepped(e)
	case journal.CellFailed:
		w.failed(e)
	case journal.CellPaused, journal.CellResumed:
		w.paused(e)
	case journal.CellReset:
		w.reset(e)
	case journal.CellExpired:
		w.expired(e)
	case journal.TimerFired:
		w.fired(e)
	case journal.CallResponded:
		w.responded(e)
	case journal.CallReported:
		w.reported(e)
	case journal.WorldSnapshotted:
		w.snapshotted(e)
	}
}

// close ends all intents and deliveries. Cells keep their states.
func (w *World) close() {
	if w.tracker.on { // the status of all cells with intents changes, in memory or not
		for c := range w.all() {
			if c.open.n > 0 {
				w.tracker.note(c)
			}
		}
	}
	w.stopped = true
	w.ring, w.faults = turns.Ring[*cell]{}, nil
	for _, c := range w.cells {
		c.open, c.place, c.faulty = openList{}, turns.Place{}, false
	}
	w.intents.init()
}

// Ready reports whether a cell must fail or has a turn, possibly of a machine that this program lacks.
func (w *World) Ready() bool {
	return !w.stopped && w.err == nil && (len(w.faults) > 0 || !w.ring.Empty())
}

// Next returns the event of the next failure of a cell, or of the next activation.
func (w *World) Next(now int64) (journal.Event, bool) {
	switch {
	case !w.Ready():
		return journal.Event{}, false
	case len(w.faults) > 0:
		return w.faults[0].event(), true
	}
	w.program.tryAgain(&w.ring)
	c, ok := w.ring.Next(w.program.lacks)
	if !ok {
		return journal.Event{}, false
	}
	return w.activate(c, now), true
}

// NextDue returns the instant of the next armed timer of a cell or end of a cell's time to live, or 0.
func (w *World) NextDue() (due int64, retry bool) {
	if w.stopped {
		return 0, false
	}
	if d := w.next(); d != nil {
		return max(1, d.Due), false
	}
	return 0, false
}

// Fire returns the event of the timer that NextDue describes.
func (w *World) Fire(now int64) journal.Event {
	d := w.next()
	e := journal.Event{Type: journal.CellExpired, Node: d.Cell, At: now, Detail: &journal.Detail{Due: max(1, d.Due)}}
	if d.Node != "" {
		e.Type, e.Node, e.Detail.Timer = journal.TimerFired, d.Node, timerOfCell
	}
	return e
}

// timerOfCell is the name of the timers of cells in journals.
const timerOfCell = "cell"

// Input returns the params of an intent.
func (w *World) Input(v int32) (any, *journal.Failure) {
	if x := w.intents.byNode[v]; x != nil {
		return x.params, nil
	}
	return nil, nil
}

// Asked returns the idempotency key that the machine requested, preceded by the cell and the effect, or "".
func (w *World) Asked(v int32) string {
	if x := w.intents.byNode[v]; x != nil && x.asked != "" {
		return x.cell.address + "." + machine.Escape(x.effect.Name) + "/" + x.asked
	}
	return ""
}

// Done returns false: a world ends only when it is cancelled or closed.
func (w *World) Done() bool { return false }

// Verdict returns the end of the run.
func (w *World) Verdict() reactive.Verdict {
	return reactive.Verdict{Status: reactive.RunCompleted, Node: -1}
}

// Secrets returns nil: params are journaled and contain no secrets.
func (w *World) Secrets(int32) []string { return nil }
