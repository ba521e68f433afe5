package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// name checks a stream that belongs to neither a run nor content: the definitions that the name of a workflow has stood for, or how
// long runs are kept.
func (d *doctor) name(ctx context.Context, stream string) error {
	means := "the name may not stand for its newest workflow"
	if stream == journal.RetentionStream {
		means = "no run is deleted by itself any more, nor with sluice gc"
	}
	fault := func(event uint64, what string) error {
		return d.fault(Fault{Kind: Event, Run: stream, Event: event, What: what, Means: means})
	}
	next := uint64(1)
	for record, err := range d.raw.Records(ctx, stream) {
		if err == nil {
			err = record.Err
		}
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			return fault(next, fmt.Sprintf("the versions from %d on cannot be read: %s", next, sentence(err)))
		case record.First != next:
			return fault(next, missing(next, record.First-1))
		}
		for i := range record.Events {
			e := &record.Events[i]
			d.report.Events++
			if stream == journal.RetentionStream {
				if wrong := retention.Check(e); wrong != nil {
					if err := fault(next, sentence(wrong)); err != nil {
						return err
					}
				}
			} else if e.Type != journal.WorkflowPublished || e.Detail == nil || e.Detail.Start == nil {
				if err := fault(next, fmt.Sprintf("version %d is an event %s that describes no workflow", next, e.Type)); err != nil {
					return err
				}
			} else if _, lost := d.plan(ctx, e.Detail.Start.Workflow); errors.Is(lost, errAbsent) {
				if err := fault(next, fmt.Sprintf("the definition %s of version %d is missing", e.Detail.Start.Workflow, next)); err != nil {
					return err
				}
			}
			next++
		}
	}
	switch _, err := d.raw.Head(stream); {
	case errors.Is(err, disk.ErrNoHead):
		return nil
	case err != nil:
		return fault(0, "the number of the last version cannot be read: "+sentence(err))
	}
	return d.strayHead(Fault{Run: stream, What: "there is a head, but only runs have one"})
}
