package shadow

import (
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
)

// ErrWorld means that a run is of a world, which has no shadow.
var ErrWorld = errors.New("coordinator: a world has no shadow: its documents are compared by diff, without its runs")

// ErrKind means that the two workflows are of different kinds.
var ErrKind = errors.New("coordinator: a workflow cannot take the place of one of another kind")

// Shadow follows a run under another workflow. It belongs to one goroutine.
type Shadow struct {
	was  *reactive.Root // under the run's own workflow
	is   *reactive.Root // under the other one
	step *decide.Stepper
	host *host

	start *journal.Start // of the run, under the other workflow
	turn  turn
	early map[key][]journal.Event // outcomes that the other workflow has not requested yet
	given map[key]int             // outcomes and commands in its next events
	pairs pairs
	asked map[string]bool // steps that the run has requested
	past  uint64          // in the rerun of a playbook: the sequence of the last event of its past, see past.go; else 0
	err   error
}

// turn collects the events of one turn of the run.
type turn struct {
	at      int64
	seq     uint64 // of its first event
	outside []journal.Event
	own     []event
	noted   bool // all events from outside may have been journaled while no process drove the run
}

// New returns the shadow of a run. start is the start of the run under the other workflow. serve returns the host with functions
// and limits for the root of the other workflow, which makes no call.
func New(old, now *plan.Plan, start *journal.Start, serve func(*reactive.Root) decide.Host) (*Shadow, error) {
	was, is := decide.NewRoot(old), decide.NewRoot(now)
	for _, root := range []*reactive.Root{was, is} {
		if root.Plan().DocumentKind() == machine.Kind {
			return nil, ErrWorld
		}
	}
	if before, after := was.Plan().DocumentKind(), is.Plan().DocumentKind(); before != after {
		return nil, fmt.Errorf("%w: the run is that of a %s, the document is a %s", ErrKind, before, after)
	}
	s := &Shadow{was: was, is: is, start: start, early: map[key][]journal.Event{}, given: map[key]int{}, asked: map[string]bool{}}
	s.host = &host{Host: serve(is), root: is, named: map[string][]string{}}
	s.step = decide.NewStepper(is, s.host)
	s.pairs.init()
	return s, nil
}

// Add takes the next event of the run's journal.
func (s *Shadow) Add(e *journal.Event) {
	if s.err != nil {
		return
	}
	if s.follow(e) {
		return
	}
	if e.At != s.turn.at || s.turn.seq == 0 {
		s.flush()
		s.begin(e)
	}
	switch kind := s.origin(e); kind {
	case outside, command:
		if len(s.turn.own) > 0 { // another turn of the same instant
			s.flush()
			s.begin(e)
		}
		s.turn.outside = append(s.turn.outside, *e)
		s.turn.noted = s.turn.noted && kind == command && (decide.Noted(e) || begins(e))
	case decided:
		s.turn.own = append(s.turn.own, s.event(s.was, e))
		s.remember(e)
	}
	fold := *e
	fold.Hint = 0
	s.was.Apply(&fold)
}

// remember records the participants that an event asks.
func (s *Shadow) remember(e *journal.Event) {
	if e.Detail != nil && len(e.Detail.Participants) > 0 {
		s.host.named[reactive.RequestName(e.Node, e.Attempt)] = e.Detail.Participants
	}
	if e.Type == journal.CallRequested {
		s.asked[e.Node] = true
	}
}

func (s *Shadow) begin(e *journal.Event) {
	s.turn = turn{at: e.At, seq: e.Seq, noted: true, outside: s.turn.outside[:0], own: s.turn.own[:0]}
}

// origin is the origin of an event.
type origin uint8

const (
	unknown origin = iota // the type is not in origins
	decided               // derived from the journal
	outside               // an outcome of a call
	command               // a command of a person or program
	ignored               // follows from the next event, or is about the run's workflow
)

// origins has the origin of each type of event, unless the event itself determines it: see origin.
var origins = [256]origin{
	journal.RunStarted:          command,
	journal.CallRequested:       decided,
	journal.CallResponded:       decided,
	journal.CallError:           decided,
	journal.CallAborted:         decided,
	journal.CallCompleted:       decided,
	journal.CallSkipped:         decided,
	journal.StepFailed:          decided,
	journal.DispatchCreated:     decided,
	journal.DispatchSettled:     outside,
	journal.TimerFired:          decided,
	journal.DecisionRequested:   decided,
	journal.DecisionReceived:    outside,
	journal.DecisionOverridden:  command,
	journal.MessageReceived:     command,
	journal.NodeAborted:         command,
	journal.NodeRetried:         command,
	journal.BranchDecided:       decided,
	journal.MapExpanded:         decided,
	journal.ContextPatched:      command,
	journal.RunPaused:           command,
	journal.RunResumed:          command,
	journal.RunCancelled:        command,
	journal.RunClosed:           decided,
	journal.RunReopened:         ignored,
	journal.RunDeadlineExceeded: decided,
	journal.RunFinished:         decided,
	journal.ContentStored:       decided, // from here to WorldSnapshotted: not in runs with a shadow
	journal.WorkflowPublished:   decided,
	journal.RetentionSet:        decided,
	journal.BulkRecorded:        decided,
	journal.CellStepped:         decided,
	journal.CellFailed:          decided,
	journal.CellPaused:          decided,
	journal.CellResumed:         decided,
	journal.CellReset:           decided,
	journal.CellExpired:         decided,
	journal.WorldSnapshotted:    decided,
	journal.StepScheduled:       decided,
	journal.CallReported:        outside,
	journal.ResultKept:          command,
	journal.InputSet:            command,
	journal.ResultAdopted:       decided,
	journal.RunMoved:            ignored,
}

// origin returns the origin of an event of the run.
func (s *Shadow) origin(e *journal.Event) origin {
	switch e.Type {
	case journal.DecisionReceived:
		switch {
		case e.ByTimer():
			return decided
		case e.Detail != nil && e.Detail.State != "":
			return command
		}
	case journal.CallResponded, journal.CallError:
		if !e.ByTimer() && s.made(s.was, e) {
			return outside
		}
	}
	return origins[e.Type]
}

// made reports whether an event ends a call that was made, not one that the engine itself carries out.
func (s *Shadow) made(root *reactive.Root, e *journal.Event) bool {
	if e.Detail != nil && e.Detail.Participant != "" {
		return true
	}
	v, ok := root.Node(e.Node)
	return !ok || root.Row(v).OpKind == plan.Call
}
