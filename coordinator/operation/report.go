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

// What Report refuses.
var (
	ErrNoCall         = errors.New("operation: the context is not that of a call that can report")
	ErrReportTooLarge = errors.New("operation: the report is too large")
)

// Report tells of the progress of the call that ctx belongs to: observers see it at once, the journal keeps it, and
// expressions read the last 100 of a step as `steps.x.reports`. It returns when the report is durable. Reports are numbered
// 1, 2, … in the order in which Report is called; a call that is made again after a crash begins at 1 again, and what it
// repeats is journaled as repeated. What the call returns still ends it.
//
// The payload is a value of package value, or what encodes to one, of at most 64 KiB; a call reports at most 10,000 times. A
// report beyond that returns an error, as do ErrNoCall outside a call, and the context's error when the call has ended.
func Report(ctx context.Context, kind string, payload any) error {
	return report(ctx, 0, kind, payload)
}

// ReportAt is Report for an operation that numbers its reports itself, from 1: one that goes on where it was when it is
// called again. A number at or below the highest so far is journaled as repeated.
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
		return fmt.Errorf("%w: its kind has %d bytes, and %d are allowed", ErrReportTooLarge, len(kind), kindMax)
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
	if err != nil && ctx.Err() != nil { // whatever came of it, the call has ended
		return context.Cause(ctx)
	}
	return err
}

// Progress is one report of a call.
type Progress struct {
	Number  int32
	Kind    string
	Payload value.Value
}

// Reporter takes the reports of a call, in the order of their numbers, and says when each is durable or why it is refused:
// ErrNoCall of a call that cannot report.
type Reporter interface {
	// Report takes the next report. From done one value is received, at once or when the report is durable: nil, or why it was
	// not journaled.
	Report(p Progress) (done <-chan error, err error)
}

// numbering counts the reports of a call that Report has numbered. Few calls report, so it is made by the first that does.
type numbering struct {
	sync.Mutex
	last int32
}

func (c *Call) numbering() *numbering {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reports == nil {
		c.reports = &numbering{}
	}
	return c.reports
}

// submit hands a report over. One at a time: numbers ascend.
func (c *Call) submit(number int, p Progress) (<-chan error, error) {
	n := c.numbering()
	n.Lock()
	defer n.Unlock()
	p.Number = int32(number)
	if number == 0 {
		n.last++
		p.Number = n.last
	}
	return c.host.Report(p)
}
