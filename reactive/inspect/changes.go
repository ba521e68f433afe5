package inspect

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/reactive/world"
)

// Update is one event of a run and its changes.
type Update struct {
	Event   journal.Event       // as journaled
	Outcome reactive.Effect     // its effect: a late answer changes nothing
	Changes []StepChange        // in the order in which they were derived
	Tasks   []TaskChange        // of steps that declare a source of decisions about their task
	Loops   []routed.LoopChange // of routed steps: the loops that have made progress
	Again   []StepChange        // steps with unchanged statuses and a retry that has become pending, or is no longer pending
	Maps    []MapCount          // maps whose items have made progress
	Net     []routed.Marking    // of routed steps: the steps whose tokens or runs have changed
	Revised bool                // of routed steps: the event has written to the context
	Cells   []CellChange        // of a world: the cells that have changed
	Waits   []Wait              // current waits of changed steps, except for a call in progress or room; of the run after a pause
	Status  reactive.RunStatus  // of the run, after the event
}

// CellChange is a change of a cell of a world.
type CellChange struct {
	From world.Status    // before the event; "": the cell is new
	Cell world.CellState // after the event; without a status if the cell no longer exists
}

// TaskChange is the change of the state of a step's task, caused by the update's event.
type TaskChange struct {
	Step     string           // its key
	Attempt  int32            // of the step, from 1
	From, To call.Fulfillment // before and after the event
	Failure  *journal.Failure // set if the step has failed or is skipped because of it
}

// StepChange is the change of the status of a step, map or item.
type StepChange struct {
	Step     string           // its key; for routed steps, the key of a call or of a step-run, such as `fetch@2`
	Map      string           // key of the map, or of the step-run with a loop, whose item contains it; "": none
	From, To reactive.Status  // before and after the event
	Attempt  int32            // newest; 0: none was made
	Pending  bool             // failed, and will be retried
	Failure  *journal.Failure // set if it failed, was aborted or was skipped by its timing; its Step is its origin, if another step
}

// Changes computes the updates of the events of a run, from a sequence on.
type Changes struct {
	from  uint64
	began bool // the event with sequence from was applied
	root  *reactive.Root
	steps routed.Changes // nil: not yet watched, or the run has no routed steps
	tally *tallies       // nil: not yet watched, or the run has no maps
	world *world.World   // nil: the run is not of a world
	cells map[string]world.Status
}

// NewChanges returns the changes of a run from a sequence on. The root must have no events yet.
func NewChanges(root *reactive.Root, from uint64) *Changes {
	w := &Changes{from: max(1, from), root: root, world: world.Of(root)}
	if w.world != nil {
		w.cells = map[string]world.Status{}
		w.world.Track()
	}
	return w
}

// Apply takes the next event of the journal. For an event before the first sequence, it returns a zero Update.
func (w *Changes) Apply(e *journal.Event) Update {
	if !w.began && e.Seq >= w.from {
		w.began = true
		w.root.Watch()
		if steps := w.root.Steps(); steps != nil {
			w.steps = steps.Changes()
		} else if w.world == nil {
			w.tally = tally(w.root)
		}
	}
	outcome := w.root.Apply(e)
	cells := w.cellChanges()
	if e.Seq < w.from {
		return Update{}
	}
	u := w.update(e, outcome)
	u.Cells = cells
	if w.steps != nil {
		steps, loops := w.steps.Take()
		for _, c := range steps {
			u.Changes = append(u.Changes, StepChange{Step: c.Step, From: c.From, To: c.To, Attempt: 1, Failure: c.Failure})
		}
		u.Loops = loops
		marks, revision := w.steps.Marks()
		u.Net, u.Revised = marks, revision == e.Seq
	}
	u.Waits = waitsAfter(w.root, &u)
	return u
}

// Moved adds the consequences of a move to another workflow to its update: the steps that are not idle under the new workflow, all
// counts of maps, and the whole net. From and To are equal for an unchanged step. The routed steps of a playbook do not change.
func (w *Changes) Moved(u *Update, was *reactive.Root) {
	u.Changes = nil
	switch steps := w.root.Steps(); {
	case steps != nil:
		u.Net = Net(steps)
	case w.tally != nil:
		u.Changes, u.Maps = moved(was, w.root), w.tally.all()
	}
}

// Net returns the steps of a net that have tokens, or have had one.
func Net(steps reactive.Steps) (list []routed.Marking) {
	for _, name := range steps.Names() {
		s, _ := steps.StepNow(name)
		if m := s.Marking(); m.Ready+m.Pending+m.Held+m.Runs > 0 {
			list = append(list, m)
		}
	}
	return list
}

func moved(was, is *reactive.Root) (list []StepChange) {
	for v := range is.Len() {
		key := is.Key(v)
		if is.Place(v).Key == "" || is.Status(v) == reactive.Absent || is.Status(v) == reactive.Idle {
			continue
		}
		from := reactive.Idle
		if u, ok := was.Node(key); ok {
			from = was.Status(u)
		}
		list = append(list, StepChange{Step: key, Map: mapOf(is, v), From: from, To: is.Status(v), Attempt: is.Attempt(v), Pending: is.Pending(v), Failure: is.Failure(v)})
	}
	return list
}

// Trimmed takes an event of a world at which the state is no longer known. It returns no changes.
func (w *Changes) Trimmed(e *journal.Event) Update {
	return Update{Event: *e, Status: w.root.RunStatus()}
}

// cellChanges returns the changes of the cells of a world, and records their statuses.
func (w *Changes) cellChanges() (list []CellChange) {
	if w.world == nil {
		return nil
	}
	for _, c := range w.world.Changed() {
		from, known := w.cells[c.Address]
		if !known {
			from = w.world.Was(c.Address)
		}
		list = append(list, CellChange{From: from, Cell: c})
		w.cells[c.Address] = c.Status
	}
	return list
}

// update returns the changes of an event that was just applied.
func (w *Changes) update(e *journal.Event, outcome reactive.Effect) Update {
	root := w.root
	u := Update{Event: *e, Outcome: outcome, Status: root.RunStatus()}
	for _, c := range root.TaskChanges() {
		u.Tasks = append(u.Tasks, TaskChange{Step: c.Key, Attempt: c.Attempt, From: c.From, To: c.To, Failure: c.Failure})
	}
	changes := root.Changes()
	if w.tally != nil {
		w.tally.apply(e, changes)
		u.Again, u.Maps = w.tally.reattempts(changes), w.tally.take()
	}
	for _, c := range changes {
		if was := c.Call; was != nil {
			u.Changes = append(u.Changes, StepChange{
				Step: was.Key, Map: loopOf(was.Key), From: c.From, To: c.To, Attempt: was.Attempt, Pending: was.Pending, Failure: was.Failure,
			})
			continue
		}
		if key := root.Key(c.Node); root.Place(c.Node).Key != "" {
			u.Changes = append(u.Changes, StepChange{
				Step: key, Map: mapOf(root, c.Node), From: c.From, To: c.To, Attempt: root.Attempt(c.Node), Pending: root.Pending(c.Node),
				Failure: root.Failure(c.Node),
			})
		}
	}
	return u
}
