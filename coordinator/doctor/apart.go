package doctor

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/bulk"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
)

// otherStream checks a stream that belongs to neither a run nor content: the versions of a workflow, the marks of held runs, the retention
// rules, or acts on many runs.
func (d *doctor) otherStream(ctx context.Context, stream string) error {
	means, check := "the name may not stand for its newest workflow", d.version
	switch stream {
	case journal.HeldStream():
		means, check = "a run that is held may go on, or one that is not may stand still", mark
	case journal.BulkIndex():
		means, check = "no act on many runs can begin, or go on", d.acts(stream)
	case journal.RetentionStream:
		means, check = "runs are no longer deleted, neither automatically nor with sluice gc", rules
	}
	if journal.BulkIn(stream) != "" {
		means, check = "this act on many runs cannot go on, and its report cannot be read", d.acts(stream)
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
			return fault(next, fmt.Sprintf("the entries from %d on cannot be read: %s", next, sentence(err)))
		case record.First != next:
			return fault(next, missing(next, record.First-1))
		}
		for i := range record.Events {
			e := &record.Events[i]
			if what := check(ctx, e); what != "" {
				if err := fault(next, fmt.Sprintf("entry %d %s", next, what)); err != nil {
					return err
				}
			}
			if stream == journal.HeldStream() {
				d.holds.Take(e)
			}
			next++
		}
	}
	return d.last(stream, next-1)
}

// last checks the number of the last entry of a stream that belongs to no run. Without that number, nothing can be added to it.
func (d *doctor) last(stream string, last uint64) error {
	f := Fault{Kind: Head, Derived: true, Run: stream, Means: "nothing can be added to it"}
	switch h, err := d.raw.Head(stream); {
	case err == nil:
		f.What, f.Means = "there is a head, but only runs have one", "lists show a run that does not exist"
	case errors.Is(err, disk.ErrNoHead) && h.Last == last, errors.Is(err, journal.ErrDeleted) && last == 0:
		return nil
	case errors.Is(err, disk.ErrNoHead):
		f.What = fmt.Sprintf("its last entry is %d, but its recorded number is %d", last, h.Last)
	default:
		f.What = "the number of its last entry cannot be read: " + sentence(err)
	}
	if d.mend {
		if err := d.raw.PutLast(stream, last); err != nil {
			return fmt.Errorf("mend the number of the last entry of %s: %w", stream, err)
		}
		f.Mended = fmt.Sprintf("the number was set to %d", last)
	}
	return d.fault(f)
}

// version returns the fault of an entry about a version of a workflow.
func (d *doctor) version(ctx context.Context, e *journal.Event) string {
	if e.Type != journal.WorkflowPublished || e.Detail == nil || e.Detail.Start == nil {
		return fmt.Sprintf("is an event %s that describes no workflow", e.Type)
	}
	if _, lost := d.plan(ctx, e.Detail.Start.Workflow); errors.Is(lost, errAbsent) {
		return fmt.Sprintf("has a definition that is missing, %s", e.Detail.Start.Workflow)
	}
	return ""
}

// rules returns the fault of an entry with retention rules.
func rules(_ context.Context, e *journal.Event) string {
	if err := retention.Check(e); err != nil {
		return "has no rules: " + sentence(err)
	}
	return ""
}

// acts returns a check of the entries of a stream about acts on many runs.
func (d *doctor) acts(stream string) func(context.Context, *journal.Event) string {
	return func(ctx context.Context, e *journal.Event) string {
		if err := bulk.Check(stream, e); err != nil {
			return "is no entry of an act on many runs: " + sentence(err)
		}
		if start := e.Detail.Start; start != nil {
			if _, lost := d.plan(ctx, start.Workflow); errors.Is(lost, errAbsent) {
				return "has a definition that is missing, " + start.Workflow
			}
		}
		return ""
	}
}

// mark returns the fault of a mark of held runs.
func mark(_ context.Context, e *journal.Event) string {
	runs, ok := e.Value.([]any)
	for _, run := range runs {
		_, isText := run.(string)
		ok = ok && isText
	}
	if !ok || e.Type != journal.RunPaused && e.Type != journal.RunResumed {
		return fmt.Sprintf("is an event %s that names no runs", e.Type)
	}
	return ""
}
