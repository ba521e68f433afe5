package operation

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/template/value"
)

// kindMax bounds the kind of a report, in bytes.
const kindMax = 256

// Errors of Report.
var (
	ErrNoCall         = errors.New("operation: the context belongs to no call that can report")
	ErrReportTooLarge = errors.New("operation: the report is too large")
)

// Report reports progress of the call to which ctx belongs: observers receive the report, the journal keeps it, and expressions
// read the last 100 of a step as `steps.x.reports`. Report returns when the report is durable. Reports are numbered 1, 2, … in
// the order of the calls of Report. A call that is made again after a crash begins at 1 again, and its repeated numbers are
// journaled as repeated. A report does not end the call.
//
// The payload is a value of package value, or encodes to one, of at most 64 KiB; a call reports at most 10,000 times. Report
// returns an error beyond these limits, ErrNoCall outside a call, and the context's error if the call has ended.
func Report(ctx context.Context, kind string, payload any) error {
	return report(ctx, 0, kind, payload)
}

// ReportAt is Report for an operation that numbers its reports itself, from 1, because it resumes its work when it is called again.
// A number that is not above the highest so far is journaled as repeated.
func ReportAt(ctx context.Context, number int, kind string, payload any) error {
	if number < 1 || number > reactive.ReportsMax {
		return fmt.Errorf("operation: report %d: a number is from 1 to %d", number, reactive.ReportsMax)
	}
	return report(ctx, number, kind, payload)
}

func report(ctx context.Context, number int, kind string, payload any) error {
	c := CallOf(ctx)
	if c == nil || c.host == nil {
		return ErrNoCall
	}
	if len(kind) > kindMax {
		return fmt.Errorf("%w: its kind has %d bytes, at most %d are allowed", ErrReportTooLarge, len(kind), kindMax)
	}
	v, err := value.Own(payload)
	if err != nil {
		return fmt.Errorf("operation: payload of report %q: %w", kind, err)
	}
	done, err := c.submit(number, Progress{Kind: kind, Payload: v})
	if err == nil {
		select {
		case err = <-done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if err != nil && ctx.Err() != nil { // the call has ended in any case
		return context.Cause(ctx)
	}
	return err
}

// CheckReport returns an error if the number, the kind or the size of a report from another process is invalid. The number of a
// report without a number is 0.
func CheckReport(number int, kind string, payload value.Value) error {
	if number < 0 || number > reactive.ReportsMax {
		return fmt.Errorf("a number is from 1 to %d", reactive.ReportsMax)
	}
	if len(kind) > kindMax {
		return fmt.Errorf("%w: its kind has %d bytes, at most %d are allowed", ErrReportTooLarge, len(kind), kindMax)
	}
	encoded, err := value.Encode(payload)
	if err == nil && len(encoded) > reactive.ReportBytesMax {
		err = fmt.Errorf("%w: its payload has %d bytes, at most %d are allowed", ErrReportTooLarge, len(encoded), reactive.ReportBytesMax)
	}
	return err
}

// Progress is one report of a call.
type Progress struct {
	Number  int32       // number of the report; each making of the call begins at 1
	Kind    string      // as passed to Report
	Payload value.Value // as passed to Report
}

// Reporter journals the reports of a call, in the order of their numbers. It returns ErrNoCall for a call that cannot report.
type Reporter interface {
	// Report accepts the next report. done receives one value: nil when the report is durable, or the error that prevented its
	// journaling.
	Report(p Progress) (done <-chan error, err error)
}

// reportNumbers counts the reports of a call. The first report makes it, because few calls report.
type reportNumbers struct {
	sync.Mutex
	last int32
}

func (c *Call) reportNumbers() *reportNumbers {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reports == nil {
		c.reports = &reportNumbers{}
	}
	return c.reports
}

// submit passes a report to the host. It passes one report at a time, so that numbers ascend.
func (c *Call) submit(number int, p Progress) (<-chan error, error) {
	n := c.reportNumbers()
	n.Lock()
	defer n.Unlock()
	p.Number = int32(number)
	if number == 0 {
		n.last++
		p.Number = n.last
	}
	return c.host.Report(p)
}
