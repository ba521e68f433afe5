package coordinator

import (
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/value"
)

var _ operation.Reporter = (*flight)(nil)

// Report puts a report of the call to its run's loop. It is called by the goroutine that carries the call out.
func (f *flight) Report(p operation.Progress) (<-chan error, error) {
	if f.req.Decision != 0 || f.op.Pure { // which is called by the loop that the report would wait for
		return nil, operation.ErrNoCall
	}
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
	event := decide.Reported(f.req, f.making, p.Number, p.Kind, payload)
	event.Node = f.key
	if !f.run.inbox.add(decide.Item{Event: event, Received: f.run.engine.clock.now(), Reply: func(err error) { done <- err }}) {
		return nil, errLeft
	}
	return done, nil
}
