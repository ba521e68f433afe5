package decide

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Resume decides about the calls that are requested and unanswered in the journal from which a run was rebuilt. It returns
// the calls to be made again, with the same request ids, and the endings of those that must not be made twice. It skips
// calls that are under way in this process.
func (s *Stepper) Resume(underWay func(reactive.Request) bool) (again []reactive.Request, interrupted []journal.Event) {
	s.root.TakeCancels()
	s.root.TakeCalls()
	for _, req := range s.root.OpenCalls() {
		switch {
		case underWay(req):
		case req.Decision == 0 && s.root.Place(req.Node).Step.NonIdempotent:
			interrupted = append(interrupted, s.About(req.Node, Ending(req, call.Result{Failure: call.NewFailure(reactive.CodeInterrupted,
				"the process ended while the call was under way, and the step is not idempotent")})))
		default:
			again = append(again, req)
		}
	}
	return again, interrupted
}

// OpenCalls returns the calls that are requested and unanswered; none if the run has finished.
func (s *Stepper) OpenCalls() []reactive.Request {
	if s.root.Finished() != nil {
		return nil
	}
	return s.root.OpenCalls()
}

// NextDue returns the instant of the run's next timer, in Unix nanoseconds; 0: it has none.
func (s *Stepper) NextDue() int64 { return s.root.NextDue() }

// Done returns the event by which the run has finished; nil before that.
func (s *Stepper) Done() *journal.Event { return s.root.Finished() }

// Paused reports whether nothing new is started until the run is resumed.
func (s *Stepper) Paused() bool { return s.root.Paused() }

// Room returns the room that Step has reserved. The driver counts it down when it makes the calls.
func (s *Stepper) Room() *Reserved { return &s.Reserved }
