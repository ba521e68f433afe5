package coordinator

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/net"
	"github.com/sluiceflow/sluice/template/plan"
)

// Runs yields the heads of all runs in the store whose id is greater than after, in order of id, child runs included. They say
// what the journals say: see Current for runs that nobody goes on with. Of a run whose head cannot be read there is the id, with
// StatusDamaged; Parked says what is wrong.
func (e *Engine) Runs(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return read(ctx, e, func(yield func(journal.Head, error) bool) {
		for head, err := range e.store.Heads(ctx, after) {
			if err != nil && unreadable(&head, err) {
				head, err = damagedHead(head.Run), nil
			}
			if !yield(head, err) {
				return
			}
		}
	})
}

// read passes on what a reader yields, with errors that say why it has ended.
func read[T any](ctx context.Context, e *Engine, from iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		if err := e.down(); err != nil {
			var none T
			yield(none, err)
			return
		}
		for one, err := range from {
			if !yield(one, e.why(ctx, err)) {
				return
			}
		}
	}
}

// Events yields what the run's journal holds now, from the event with sequence from (1: the start). Nothing is derived,
// so it also reads the runs that this program cannot follow.
func (r *Run) Events(ctx context.Context, from uint64) iter.Seq2[journal.Event, error] {
	return read(ctx, r.engine, r.engine.store.Read(ctx, r.id, from))
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
	Late     bool        // timers have fallen due while nobody went on with the run: all but Updated and Seq is as if the journal said so
	Parked   error       // why it cannot go on in this process, see Run.Parked; nil where nothing is known to be in the way
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
	Decidable   bool             // its task waits for a person's decision
	Output      any              // what it has returned, once it has completed: a value of package value, or what the event holds
	Branch      plan.Branch      // of a conditional: what it has decided for
	Reports     int              // how often its newest attempt has reported
	Report      string           // kind of the newest report
	Dispatches  []call.Dispatch  // what was asked of whom, of all attempts
	Runs        int              // of a playbook's step: how often it was scheduled
	Live        int              // of a playbook's step: runs under way
	Tokens      int              // of a playbook's step: how many wait at its gate or join
	Items       int              // of a playbook's loop under way: how many; of several the newest
	ItemsDone   int              // of those, how many have ended
}

// State reads where the run stands. It follows the whole journal: its cost is proportional to the number of events, and the
// run itself is not held up. Timers of a run that does not go on here count when they have fallen due, though that is journaled
// only by who goes on with it: see State.Late. Of a run that cannot be followed, because it was started under rules of another
// version or is damaged, it reads what its events and its head say, without its steps.
func (r *Run) State(ctx context.Context) (*State, error) {
	e := r.engine
	if err := e.down(); err != nil {
		return nil, err
	}
	s, err := r.followed(ctx)
	if err != nil && r.lost(err) {
		s, err = r.listed(ctx, err)
	}
	if err != nil {
		return nil, e.why(ctx, err)
	}
	if err := r.Parked(ctx); !s.Finished && s.Parked == nil && errors.Is(err, ErrParked) {
		s.Parked = err
	}
	return s, nil
}

// lost reports whether the run cannot be followed, because of an error about its journal.
func (r *Run) lost(err error) bool {
	if errors.Is(err, ErrRunNotFound) || errors.Is(err, journal.ErrClosed) {
		return false
	}
	return lasting(err) || r.engine.parkedFor(r.id) != nil
}

// followed is State by what follows from the journal.
func (r *Run) followed(ctx context.Context) (s *State, err error) {
	var root *reactive.Root
	tracks := map[int32]*track{}
	apply := func(e *journal.Event) {
		root.Apply(e)
		follow(root, e, tracks)
	}
	for e, err := range r.engine.store.Read(ctx, r.id, 1) {
		if err == nil && root == nil {
			if root, err = r.engine.rootFor(ctx, &e); err == nil {
				root.Watch()
			}
		}
		if err == nil {
			err = r.engine.derived(r.id, func() { apply(&e) })
		}
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.id, err)
		}
	}
	if root == nil {
		return nil, fmt.Errorf("%w: %s", ErrRunNotFound, r.id)
	}
	seq, at := root.Seq(), root.At()
	late, err := r.engine.settle(ctx, root, apply)
	if err != nil {
		return nil, err
	}
	return s, r.engine.derived(r.id, func() {
		s = stateOf(r.id, root, tracks)
		s.Seq, s.Updated, s.Late = seq, at, late != nil
	})
}

func stateOf(id string, root *reactive.Root, tracks map[int32]*track) *State {
	s := &State{
		Run: id, Start: root.Start(), Status: root.RunStatus(), Started: root.StartedAt(), Updated: root.At(),
		Due: root.NextDue(), Seq: root.Seq(), Steps: stepStates(root, tracks),
	}
	if n := net.Of(root); n != nil {
		s.Steps = routedStates(n, s.Steps)
		s.Routed = &Routed{Counts: n.Counts(), Context: n.Context()}
	}
	if e := root.Finished(); e != nil {
		s.Finished, s.Failure, s.Output = true, e.Detail.Failure, e.Value
	}
	return s
}

// Output reads what a step has returned, whole; "" is the run. A participant names one of those whom the step has asked: it
// is what that one has answered last. Where there is none, the error says how things stand: ErrNotPossible. It follows the
// whole journal, as State does.
func (r *Run) Output(ctx context.Context, step, participant string) (any, error) {
	s, err := r.State(ctx)
	if err != nil {
		return nil, err
	}
	if step == "" {
		if s.Status != reactive.RunCompleted {
			return nil, fmt.Errorf("%w: run %s has no output: it is %s", ErrNotPossible, r.id, s.Status)
		}
		return s.Output, nil
	}
	i := slices.IndexFunc(s.Steps, func(one StepState) bool { return one.Step == step })
	switch {
	case i < 0:
		return nil, fmt.Errorf("%w: %q", ErrStepNotFound, step)
	case participant != "":
		return s.Steps[i].answerOf(participant)
	case s.Steps[i].Status != reactive.Completed:
		return nil, fmt.Errorf("%w: step %q has no output: it is %s", ErrNotPossible, step, s.Steps[i].Status)
	}
	return s.Steps[i].Output, nil
}

// answerOf is what a participant has answered last.
func (s *StepState) answerOf(participant string) (any, error) {
	for _, d := range slices.Backward(s.Dispatches) {
		switch {
		case d.Participant != participant:
		case d.State == call.Responded:
			return d.Output, nil
		default:
			return nil, fmt.Errorf("%w: participant %q of step %q has given no answer: %s", ErrNotPossible, participant, s.Step, d.State)
		}
	}
	return nil, fmt.Errorf("%w: step %q has not asked %q", ErrNotPossible, s.Step, participant)
}

// startOf is what a run was started with, by its first event; nil when the event is none.
func startOf(e *journal.Event) *journal.Start {
	if e.Type != journal.RunStarted || e.Detail == nil {
		return nil
	}
	return e.Detail.Start
}

// listed is State by what the store lists, for a run that cannot be followed.
func (r *Run) listed(ctx context.Context, because error) (*State, error) {
	e := r.engine
	head, err := e.head(ctx, r.id)
	if err != nil && (errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) || errors.Is(because, journal.ErrDamaged)) {
		head, err = damagedHead(r.id), nil // it cannot be read, or is not there
	}
	if err != nil {
		return nil, err
	}
	start, err := e.start(ctx, r.id)
	if err != nil {
		start = &journal.Start{Run: r.id, Workflow: head.Workflow, Name: head.Name, Labels: head.Labels}
	}
	s := &State{
		Run: r.id, Start: start, Status: reactive.RunStatus(head.Status), Started: head.Started, Updated: head.Updated,
		Due: head.Due, Seq: head.Last, Finished: !head.Open,
	}
	if !s.Finished {
		s.Parked = fmt.Errorf("%w: %w", ErrParked, because)
		return s, nil
	}
	for event, err := range e.store.Read(ctx, r.id, head.Last) {
		if err != nil {
			return nil, fmt.Errorf("read run %s: %w", r.id, err)
		}
		if event.Type == journal.RunFinished && event.Detail != nil {
			s.Failure, s.Output = event.Detail.Failure, event.Value
		}
	}
	return s, nil
}

// Last is the sequence of the run's newest event.
func (r *Run) Last(ctx context.Context) (uint64, error) {
	if err := r.engine.down(); err != nil {
		return 0, err
	}
	head, err := r.engine.head(ctx, r.id)
	return head.Last, r.engine.why(ctx, err)
}

// head is what the store lists a run with. It looks at ids from just before this one on.
func (e *Engine) head(ctx context.Context, id string) (journal.Head, error) {
	if id == "" {
		return journal.Head{}, fmt.Errorf("%w: %q", ErrRunNotFound, id)
	}
	last := len(id) - 1
	before := id[:last]
	if id[last] > 0 { // no id is between this and the one that is looked for
		before += string([]byte{id[last] - 1, 0xff})
	}
	for head, err := range e.store.Heads(ctx, before) {
		switch {
		case head.Run > id:
			return journal.Head{}, fmt.Errorf("%w: %s", ErrRunNotFound, id)
		case err != nil:
			return journal.Head{}, fmt.Errorf("read the head of run %s: %w", id, err)
		case head.Run == id:
			return head, nil
		}
	}
	return journal.Head{}, fmt.Errorf("%w: %s", ErrRunNotFound, id)
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
			Dispatches: slices.Clone(root.Dispatches(v)), Output: root.Output(v), Branch: root.Chose(v),
		}
		s.Reports, s.Report, _ = root.Reports(v)
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
