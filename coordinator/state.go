package coordinator

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
)

// Runs yields the heads of all runs in the store whose id is greater than after, in order of id, child runs included.
func (e *Engine) Runs(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return e.store.Heads(ctx, after)
}

// Events yields what the run's journal holds now, from the event with sequence from (1: the start). Nothing is derived,
// so it also reads the runs that this program cannot follow.
func (r *Run) Events(ctx context.Context, from uint64) iter.Seq2[journal.Event, error] {
	return r.engine.store.Read(ctx, r.id, from)
}

// State is where a run stands, as its journal says.
type State struct {
	Run      string
	Start    *journal.Start
	Status   reactive.RunStatus
	Started  int64            // Unix nanoseconds
	Updated  int64            // Unix nanoseconds: its last event
	Due      int64            // Unix nanoseconds: its next timer; 0: none
	Seq      uint64           // of its last event
	Failure  *journal.Failure // why it ended without completing
	Finished bool
	Output   any         // of a run that has completed
	Routed   *Routed     // of a playbook's run; nil for any other
	Steps    []StepState // in the order of the template; the items of a map, and the open calls of a playbook's step, follow it
}

// StepState is where a step, map or named conditional stands.
type StepState struct {
	Step        string // its key
	Kind        plan.Kind
	Depth       int // maps around it
	Status      reactive.Status
	Pending     bool             // failed, with a retry to come
	Attempts    int32            // made so far
	Began       int64            // newest attempt, Unix nanoseconds; 0: none
	Ended       int64            // newest attempt, Unix nanoseconds; 0: it has not
	Failure     *journal.Failure // why it failed, was aborted or skipped by its timing
	Message     string           // while it waits for a message: its name
	Fulfillment call.Fulfillment // where its task stands
	Decidable   bool             // a person may decide its task now
	Dispatches  []call.Dispatch  // what was asked of whom, of all attempts
	Runs        int              // of a playbook's step: how often it was scheduled
	Live        int              // of a playbook's step: runs under way
	Tokens      int              // of a playbook's step: how many wait at its gate or join
	Items       int              // of a playbook's loop under way: how many; of several the newest
	ItemsDone   int              // of those, how many have ended
}

// State reads where the run stands. It follows the whole journal: its cost is proportional to the number of events, and the
// run itself is not held up.
func (r *Run) State(ctx context.Context) (*State, error) {
	var root *reactive.Root
	tracks := map[int32]*track{}
	for e, err := range r.engine.store.Read(ctx, r.id, 1) {
		if err == nil && root == nil {
			if root, err = r.engine.rootFor(ctx, &e); err == nil {
				root.Watch()
			}
		}
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.id, err)
		}
		root.Apply(&e)
		follow(root, &e, tracks)
	}
	if root == nil {
		return nil, fmt.Errorf("%w: %s", ErrRunNotFound, r.id)
	}
	s := &State{
		Run: r.id, Start: root.Start(), Status: root.RunStatus(), Started: root.StartedAt(), Updated: root.At(),
		Due: root.NextDue(), Seq: root.Seq(), Steps: stepStates(root, tracks),
	}
	if n := net.Of(root); n != nil {
		s.Steps = routedStates(n, s.Steps)
		s.Routed = &Routed{Counts: n.Counts(), Context: n.Context()}
	}
	if e := root.Finished(); e != nil {
		s.Finished, s.Failure, s.Output = true, e.Detail.Failure, e.Value
	}
	return s, nil
}

// track is what the root forgets of a node.
type track struct {
	began, ended int64
	message      string
}

// follow notes what an event has changed.
func follow(root *reactive.Root, e *journal.Event, tracks map[int32]*track) {
	at := func(v int32) *track {
		if tracks[v] == nil {
			tracks[v] = &track{}
		}
		return tracks[v]
	}
	for _, c := range root.Changes() {
		switch {
		case c.To == reactive.Running:
			*at(c.Node) = track{began: e.At}
		case c.To.Terminal() && tracks[c.Node] != nil && tracks[c.Node].ended == 0:
			tracks[c.Node].ended = e.At
		}
	}
	if e.Type == journal.CallRequested && e.Detail != nil && e.Detail.Name != "" {
		if v, ok := root.Node(e.Node); ok {
			at(v).message = e.Detail.Name
		}
	}
}

// stepStates describes all nodes that have a name.
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
			Step: root.Key(v), Kind: place.Kind, Status: root.Status(v), Pending: root.Pending(v), Attempts: root.Attempts(v),
			Failure: root.Failure(v), Fulfillment: root.Fulfillment(v), Decidable: root.Decidable(v),
			Dispatches: slices.Clone(root.Dispatches(v)),
		}
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
