package decide

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Resume decides about the open calls of a run that was rebuilt from its journal: those requested and not answered. It returns
// the calls to repeat, with the same request ids, and the ends of calls that must not be repeated. It skips calls that are in
// progress in this process.
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

// OpenCalls returns the calls that are requested and not answered; none if the run has finished.
func (s *Stepper) OpenCalls() []reactive.Request {
	if s.root.Finished() != nil {
		return nil
	}
	return s.root.OpenCalls()
}

// NextDue returns the instant of the run's next timer in Unix nanoseconds, or 0.
func (s *Stepper) NextDue() int64 { return s.root.NextDue() }

// Done returns the event that finished the run, or nil.
func (s *Stepper) Done() *journal.Event { return s.root.Finished() }

// Paused reports whether the run is paused, so that nothing new starts.
func (s *Stepper) Paused() bool { return s.root.Paused() }

// Room returns the room that Step has reserved. The driver decrements it when it makes the calls.
func (s *Stepper) Room() *Reserved { return &s.Reserved }
