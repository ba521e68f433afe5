package coordinator

import (
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

var _ operation.Reporter = (*flight)(nil)

// Report puts a report of the call to its run's loop. It is called by the goroutine that carries the call out.
func (f *flight) Report(p operation.Progress) (<-chan error, error) {
	payload := p.Payload
	if f.run.ring != nil {
		p.Kind, payload = f.run.ring.RedactText(p.Kind), f.run.ring.Redact(payload)
	}
	encoded, err := value.Encode(payload)
	if err != nil {
		return nil, fmt.Errorf("payload of report %d: %w", p.Number, err)
	}
	if len(encoded) > reactive.ReportBytesMax {
		return nil, fmt.Errorf("%w: report %d has %d bytes, and %d are allowed", operation.ErrReportTooLarge, p.Number, len(encoded), reactive.ReportBytesMax)
	}
	done := make(chan error, 1)
	event := Reported(f.req, f.making, p.Number, p.Kind, payload)
	event.Node = f.key
	if !f.run.inbox.add(Item{Event: event, Received: f.run.engine.clock.now(), Reply: func(err error) { done <- err }}) {
		return nil, errLeft
	}
	return done, nil
}

// Reported is the event of a report: the number-th of a making of a call.
func Reported(req reactive.Request, making, number int32, kind string, payload value.Value) journal.Event {
	return journal.Event{Type: journal.CallReported, Attempt: req.Attempt, Value: payload, Detail: &journal.Detail{
		Participant: req.Participant, Making: making, Count: number, Name: kind,
	}}
}

// refuseReport says why a report is not journaled: its call has ended, or has reported too often.
func (s *Stepper) refuseReport(e *journal.Event) error {
	v, ok := s.root.Node(e.Node)
	if !ok {
		return fmt.Errorf("%w: %q", ErrStepNotFound, e.Node)
	}
	req := s.root.Request(v, e.Attempt)
	req.Participant = e.Detail.Participant
	switch {
	case s.root.Closed() || !s.root.Open(req):
		return errEnded
	case s.root.Reported(req) >= reactive.ReportsMax:
		return fmt.Errorf("%w: the call has reported %d times", ErrLimit, reactive.ReportsMax)
	}
	return nil
}
