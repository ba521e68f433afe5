package inspect

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Update is one event of a run and what it changed.
type Update struct {
	Event   journal.Event      // as journaled
	Outcome reactive.Effect    // what it has meant: an answer that came too late changes nothing
	Changes []StepChange       // in the order in which they were derived
	Tasks   []TaskChange       // of steps that declare a source of decisions about their task
	Loops   []LoopChange       // of a playbook, how far those have come that have moved
	Status  reactive.RunStatus // of the run, after the event
}

// TaskChange is the move of a step's task from a state to another. The update's event has caused it.
type TaskChange struct {
	Step     string           // its key
	Attempt  int32            // of the step, from 1
	From, To call.Fulfillment // before and after the event
	Failure  *journal.Failure // why the step has failed, or is skipped, with that
}

// LoopChange is how far a loop of a playbook's step has come.
type LoopChange struct {
	Step         string // key of the step-run, such as `fetch@2`
	Done, Failed int    // iterations
	Items        int    // how many it goes over
}

// StepChange is one step's, map's or item's move from a status to another.
type StepChange struct {
	Step     string           // its key; in a playbook of a call, or of a run of a step, such as `fetch@2`
	From, To reactive.Status  // before and after the event
	Attempt  int32            // newest; 0: none was made
	Pending  bool             // failed, with a retry to come
	Failure  *journal.Failure // why it failed, was aborted or skipped by its timing; its Step is where that began, if elsewhere
}

// Changes turns the events of a run into what they change, from one with a sequence on.
type Changes struct {
	from  uint64
	root  *reactive.Root
	steps *stepWatch // of a playbook
}

// NewChanges returns the changes of a run whose journal root has not been given yet.
func NewChanges(root *reactive.Root, from uint64) *Changes {
	return &Changes{from: max(1, from), root: root}
}

// Apply takes the next event of the journal. It returns a zero Update for one before the first that was asked for.
func (w *Changes) Apply(e *journal.Event) Update {
	if e.Seq == w.from {
		w.root.Watch()
		w.steps = watchSteps(w.root)
	}
	outcome := w.root.Apply(e)
	if e.Seq < w.from {
		return Update{}
	}
	u := update(w.root, e, outcome)
	if w.steps != nil {
		w.steps.take(&u)
	}
	return u
}

// update describes what an event that was just applied has changed.
func update(root *reactive.Root, e *journal.Event, outcome reactive.Effect) Update {
	u := Update{Event: *e, Outcome: outcome, Status: root.RunStatus()}
	for _, c := range root.TaskChanges() {
		u.Tasks = append(u.Tasks, TaskChange{Step: c.Key, Attempt: c.Attempt, From: c.From, To: c.To, Failure: c.Failure})
	}
	for _, c := range root.Changes() {
		if was := c.Call; was != nil {
			u.Changes = append(u.Changes, StepChange{
				Step: was.Key, From: c.From, To: c.To, Attempt: was.Attempt, Pending: was.Pending, Failure: was.Failure,
			})
			continue
		}
		if key := root.Key(c.Node); root.Place(c.Node).Key != "" {
			u.Changes = append(u.Changes, StepChange{
				Step: key, From: c.From, To: c.To, Attempt: root.Attempt(c.Node), Pending: root.Pending(c.Node),
				Failure: root.Failure(c.Node),
			})
		}
	}
	return u
}
