package pool

import (
	"errors"
	"fmt"
	"io"

	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template/value"
)

var _ operation.Reporter = (*Call)(nil)

// errUnloaded means that this process does not journal a report: the call is made again, and reports again.
var errUnloaded = errors.New("the run has left memory")

// Writes returns a writer that passes on a stream of the call's program to the readers of the run's log.
func (c *Call) Writes(stream string) io.WriteCloser {
	return c.run.pool.logs.Writer(c.run.ID, calllog.Entry{Step: c.Step, Attempt: c.Of.Attempt, Participant: c.Of.Participant, Stream: stream})
}

// Report passes a report of the call to its owner. It is called on the goroutine that makes the call.
func (c *Call) Report(p operation.Progress) (<-chan error, error) {
	if c.Of.Decision != 0 || c.op.Pure { // a pure operation runs on the loop that the report would wait for
		return nil, operation.ErrNoCall
	}
	payload := p.Payload
	if c.run.Ring != nil {
		p.Kind, payload = c.run.Ring.RedactText(p.Kind), c.run.Ring.Redact(payload)
	}
	encoded, err := value.Encode(payload)
	if err != nil {
		return nil, fmt.Errorf("payload of report %d: %w", p.Number, err)
	}
	if len(encoded) > reactive.ReportBytesMax {
		return nil, fmt.Errorf("%w: report %d has %d bytes, at most %d are allowed", operation.ErrReportTooLarge, p.Number, len(encoded), reactive.ReportBytesMax)
	}
	done := make(chan error, 1)
	event := decide.Reported(c.Of, c.Making, p.Number, p.Kind, payload)
	event.Node = c.Step
	if !c.run.owner.AddReport(event, func(err error) { done <- err }) {
		return nil, errUnloaded
	}
	return done, nil
}
