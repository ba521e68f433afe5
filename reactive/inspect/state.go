package inspect

import (
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/plan"
)

// State is the state of a run, computed from its journal.
type State struct {
	Run      string             // id
	Start    *journal.Start     // parameters of its start; shared, must not be changed
	Status   reactive.RunStatus // after the last event
	Started  int64              // Unix nanoseconds
	Updated  int64              // Unix nanoseconds: its last event
	Due      int64              // Unix nanoseconds: its next timer; 0: none
	Seq      uint64             // of its last event
	Failure  *journal.Failure   // set if it ended without completing
	Finished bool               // it has ended; a retry may reopen it
	Late     bool               // timers fell due while no process drove the run: all fields except Updated and Seq include their effects
	Parked   error              // set if it cannot proceed in this process, see coordinator.Run.Parked
	Output   any                // of a completed run
	Routed   *Routed            // of a run with routed steps; nil for any other
	World    *World             // of a world's run; nil for any other
	Waits    []Wait             // its waits, see Waits
	Steps    []StepState        // in template order; the items of a map and the open calls of a routed step follow it
}

// StepState is the state of a step, map or named conditional.
type StepState struct {
	Step        string           // its key
	Kind        plan.Kind        // kind of its row
	Depth       int              // number of maps around it
	Status      reactive.Status  // after the last event
	Pending     bool             // failed, and will be retried
	Attempts    int32            // made so far
	Adopted     *journal.Kept    // origin of its adopted result; nil: it has made its own calls
	Began       int64            // newest attempt, Unix nanoseconds; 0: none
	Ended       int64            // newest attempt, Unix nanoseconds; 0: it has not ended
	Failure     *journal.Failure // set if it failed, was aborted or was skipped by its timing
	Message     string           // name of the message that it waits for
	Fulfillment call.Fulfillment // state of its task
	Decidable   bool             // its task waits for a person's decision
	Output      any              // of a completed step: a value of package value, or the value in the event
	Branch      plan.Branch      // of a conditional: the branch that it has chosen
	Reports     int              // number of reports of its newest attempt
	Report      string           // kind of the newest report
	Dispatches  []call.Dispatch  // to participants, of all attempts
	Runs        int              // of a routed step: number of its runs
	Live        int              // of a routed step: runs in progress
	Tokens      int              // of a routed step: tokens held at a gate or join
	Items       int              // of a loop in progress of a routed step: number of items; of several loops, the newest
	ItemsDone   int              // number of these that have ended
}

// States computes the state of a run. Unlike the run's root, it keeps the instants of the begin and the end of attempts, and the
// message that an attempt waits for.
type States struct {
	root   *reactive.Root
	tracks map[int32]*track
}

// NewStates returns the states of a run. The root must have no events yet.
func NewStates(root *reactive.Root) *States {
	root.Watch()
	return &States{root, map[int32]*track{}}
}

// Apply takes the next event of the journal.
func (s *States) Apply(e *journal.Event) {
	s.root.Apply(e)
	follow(s.root, e, s.tracks)
}

// Restored records that the root has the state of a snapshot, with open calls.
func (s *States) Restored() {
	for e := range world.Of(s.root).CallEvents() {
		if v, ok := s.root.Node(e.Node); ok && e.Type == journal.CallRequested {
			s.tracks[v] = &track{began: e.At, message: messageOf(e)}
		}
	}
}

// State returns the state of the run, as of the last event.
func (s *States) State(id string) *State { return stateOf(id, s.root, s.tracks) }

func stateOf(id string, root *reactive.Root, tracks map[int32]*track) *State {
	s := &State{
		Run: id, Start: root.Start(), Status: root.RunStatus(), Started: root.MadeAt(), Updated: root.At(),
		Due: root.NextDue(), Seq: root.Seq(), Waits: Waits(root), Steps: stepStates(root, tracks),
	}
	if steps := root.Steps(); steps != nil {
		s.Steps = routedStates(steps, s.Steps)
		s.Routed = &Routed{Counts: steps.Counts(), Context: steps.Context()}
	}
	if w := world.Of(root); w != nil {
		s.World = worldState(w)
	}
	if e := root.Finished(); e != nil {
		s.Finished, s.Failure, s.Output = true, e.Detail.Failure, e.Value
	}
	return s
}

// OutputOf returns the output of a step, or of the run if step is "". If participant is not "", it returns the last answer of that
// participant to the step. If there is no output, the error wraps decide.ErrNotPossible and contains the status.
func (s *State) OutputOf(step, participant string) (any, error) {
	if step == "" {
		if s.Status != reactive.RunCompleted {
			return nil, fmt.Errorf("%w: run %s has no output: it is %s", decide.ErrNotPossible, s.Run, s.Status)
		}
		return s.Output, nil
	}
	i := slices.IndexFunc(s.Steps, func(one StepState) bool { return one.Step == step })
	switch {
	case i < 0:
		return nil, fmt.Errorf("%w: %q", decide.ErrStepNotFound, step)
	case participant != "":
		return s.Steps[i].answerOf(participant)
	case s.Steps[i].Status != reactive.Completed:
		return nil, fmt.Errorf("%w: step %q has no output: it is %s", decide.ErrNotPossible, step, s.Steps[i].Status)
	}
	return s.Steps[i].Output, nil
}

// answerOf returns the last answer of a participant.
func (s *StepState) answerOf(participant string) (any, error) {
	for _, d := range slices.Backward(s.Dispatches) {
		switch {
		case d.Participant != participant:
		case d.State == call.Responded:
			return d.Output, nil
		default:
			return nil, fmt.Errorf("%w: participant %q of step %q has given no answer: %s", decide.ErrNotPossible, participant, s.Step, d.State)
		}
	}
	return nil, fmt.Errorf("%w: step %q has not asked %q", decide.ErrNotPossible, s.Step, participant)
}

// track holds the data of a node that the root does not keep.
type track struct {
	began, ended int64
	message      string
}

// follow records the changes of an event.
func follow(root *reactive.Root, e *journal.Event, tracks map[int32]*track) {
	at := func(v int32) *track {
		if tracks[v] == nil {
			tracks[v] = &track{}
		}
		return tracks[v]
	}
	for _, c := range root.Changes() {
		if c.From == reactive.Absent || c.To == reactive.Absent { // the node now belongs to another call
			delete(tracks, c.Node)
		}
		switch {
		case c.To == reactive.Running:
			*at(c.Node) = track{began: e.At}
		case c.To.Terminal() && tracks[c.Node] != nil && tracks[c.Node].ended == 0:
			tracks[c.Node].ended = e.At
		}
	}
	if message := messageOf(e); message != "" {
		if v, ok := root.Node(e.Node); ok {
			at(v).message = message
		}
	}
}

// messageOf returns the name of the message that a requested call waits for, or "".
func messageOf(e *journal.Event) string {
	if e.Type == journal.CallRequested && e.Detail != nil {
		return e.Detail.Name
	}
	return ""
}

// stepStates returns the states of all named nodes.
func stepStates(root *reactive.Root, tracks map[int32]*track) []StepState {
	var nodes []int32
	for v := range root.Len() {
		if root.Status(v) != reactive.Absent && root.Key(v) != "" {
			nodes = append(nodes, v)
		}
	}
	slices.SortFunc(nodes, root.Compare)
	steps := make([]StepState, len(nodes))
	for i, v := range nodes {
		place := root.Place(v)
		s := StepState{
			Step: root.Key(v), Kind: place.Kind, Status: root.Status(v), Pending: root.Pending(v), Attempts: root.Attempts(v), Adopted: root.Adopted(v),
			Failure: root.Failure(v), Fulfillment: root.Fulfillment(v), Decidable: root.Decidable(v),
			Dispatches: slices.Clone(root.Dispatches(v)), Output: root.Output(v), Branch: root.Chose(v),
		}
		reports := root.Reports(v)
		s.Reports, s.Report = reports.Count, reports.Kind
		for m := place.Map; m >= 0; m = root.Plan().Nodes[m].Map {
			s.Depth++
		}
		if t := tracks[v]; t != nil {
			s.Began, s.Ended = t.began, t.ended
			if s.Status == reactive.Running {
				s.Message = t.message
			}
		}
		steps[i] = s
	}
	return steps
}
