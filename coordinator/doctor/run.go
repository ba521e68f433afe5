package doctor

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template/expr"
)

// Consequences of damage for the users of the run, for Fault.Means.
const (
	meansUnderived = "the run is parked: it cannot go on, and its steps cannot be shown"
	meansNewer     = "this version of Sluice cannot read it: use the one that wrote it"
)

// exam checks one run: its events from the first to the last, and then its head.
type exam struct {
	*doctor
	id     string
	next   uint64 // sequence of the next event
	behind uint64 // first event behind the trimmed ones, by the head; 0: none were trimmed
	torn   bool   // the previous record could not be read, so its number of events is unknown
	broken bool   // events are damaged or missing
	start  *journal.Start
	moved  uint64         // sequence of the newest move; 0: none
	began  int64          // start of the run, Unix nanoseconds
	last   journal.Event  // the last readable event, without its value
	ended  *journal.Event // the event that finished the run; nil: none did, or the run was reopened
	root   *reactive.Root // nil: statuses cannot be derived
}

// run checks one run.
func (d *doctor) run(ctx context.Context, id string) error {
	head, unread := d.raw.Head(id)
	x := &exam{doctor: d, id: id, next: 1, behind: head.First}
	for record, err := range d.raw.Records(ctx, id) {
		if err != nil && ctx.Err() == nil {
			err = x.damaged(fmt.Sprintf("the events from %d on cannot be read: %s", x.next, sentence(err)), err)
			x.torn = true
		} else if err == nil {
			err = x.record(ctx, &record)
		}
		if err != nil {
			return err
		}
	}
	if err := x.contents(ctx); err != nil {
		return err
	}
	if x.next == 1 && !x.torn && (errors.Is(unread, disk.ErrNoHead) || errors.Is(unread, journal.ErrDeleted)) {
		return nil // the run does not exist, or no longer exists
	}
	d.report.Runs++
	return x.judge(head, unread)
}

// contents checks the content that the run keeps beside its events.
func (x *exam) contents(ctx context.Context) error {
	for content, err := range x.raw.Contents(ctx, x.id) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		f := Fault{Kind: Content, Means: "it is lost to the run"}
		switch x.report.Contents++; {
		case err != nil:
			f.What = "content of the run cannot be read: " + sentence(err)
		case content.Err != nil:
			f.Content, f.What = hex.EncodeToString(content.Hash[:]), sentence(content.Err)
		case x.next == 1 && !x.torn:
			f.Content, f.What, f.Means = hex.EncodeToString(content.Hash[:]), "it is content of a run without events", "the run is lost"
		default:
			continue
		}
		if err = x.fault(f); err != nil {
			return err
		}
	}
	return nil
}

// fault reports a fault of this run.
func (x *exam) fault(f Fault) error {
	f.Run = x.id
	return x.doctor.fault(f)
}

// damaged reports missing or unreadable events, from the next one on. Statuses can no longer be derived.
func (x *exam) damaged(what string, err error) error {
	x.broken, x.root = true, nil
	means := "the run is parked: it cannot go on, and nothing behind this event can be shown"
	if errors.Is(err, journal.ErrVersion) {
		means = meansNewer
	}
	return x.fault(Fault{Kind: Event, Event: x.next, What: what, Means: means})
}

// record checks the next record of the journal.
func (x *exam) record(ctx context.Context, r *disk.Record) (err error) {
	switch {
	case x.torn && r.First > x.next:
		x.next = r.First
	case r.First > x.next:
		if x.skipTrimmed(r.First); r.First > x.next {
			err = x.damaged(missing(x.next, r.First-1), nil)
		}
		x.next = r.First
	case r.First < x.next:
		return x.damaged(fmt.Sprintf("a record that begins with event %d follows event %d", r.First, x.next-1), nil)
	}
	x.torn = false
	for i := range r.Events {
		if err == nil {
			err = x.event(ctx, &r.Events[i])
		}
		x.next++
	}
	if r.Err != nil && err == nil {
		x.torn = true
		err = x.damaged(fmt.Sprintf("event %d cannot be read: %s", x.next, sentence(r.Err)), r.Err)
	}
	return err
}

// skipTrimmed skips the events before a record that a snapshot has replaced. Statuses cannot be derived without them.
func (x *exam) skipTrimmed(first uint64) {
	if x.next > 1 && x.next < x.behind {
		x.next, x.root = min(first, x.behind), nil
	}
}

func missing(from, to uint64) string {
	if from == to {
		return fmt.Sprintf("event %d is missing", from)
	}
	return fmt.Sprintf("events %d to %d are missing", from, to)
}

// event checks the next readable event, and applies it.
func (x *exam) event(ctx context.Context, e *journal.Event) (err error) {
	x.report.Events++
	if e.Seq == 1 {
		err = x.first(ctx, e)
	}
	x.last = *e
	x.last.Value = nil
	switch e.Type {
	case journal.RunFinished:
		x.ended = &journal.Event{Detail: e.Detail}
	case journal.RunReopened:
		x.ended = nil
	}
	if x.root == nil || err != nil {
		return err
	}
	if decide.IsMove(e) {
		return x.move(ctx, e)
	}
	return x.apply(e)
}

// apply applies an event to the state.
func (x *exam) apply(e *journal.Event) error {
	panicked := usercode.Call(func() error { x.root.Apply(e); return nil })
	if panicked == nil {
		return nil
	}
	x.root = nil
	return x.fault(Fault{Kind: Run, Event: e.Seq, Means: meansUnderived,
		What: fmt.Sprintf("event %d cannot be applied to the events before it: %s", e.Seq, sentence(panicked))})
}

// move derives the state again, under the workflow that the run was moved to.
func (x *exam) move(ctx context.Context, moved *journal.Event) error {
	x.root, x.start, x.moved = nil, moved.Detail.Start, moved.Seq
	if err := x.definitions(ctx, moved.Seq); err != nil {
		return err
	}
	for record, err := range x.raw.Records(ctx, x.id) {
		for i := 0; err == nil && i < len(record.Events) && x.root != nil && record.Events[i].Seq <= moved.Seq; i++ {
			e := decide.Under(&record.Events[i], moved)
			err = x.apply(&e)
		}
		if err != nil || x.root == nil || record.First > moved.Seq {
			return err
		}
	}
	return nil
}

// first checks the start of the run and the definitions that it refers to.
func (x *exam) first(ctx context.Context, e *journal.Event) error {
	if e.Type == journal.RunStarted && e.Detail != nil {
		x.start = e.Detail.Start
	}
	if x.start == nil || x.start.Run != x.id {
		x.start = nil
		return x.damaged("the journal does not begin with the start of this run", nil)
	}
	x.began = e.At
	return x.definitions(ctx, e.Seq)
}

// definitions checks the definitions to which an event refers.
func (x *exam) definitions(ctx context.Context, seq uint64) error {
	hashes := append(slices.Sorted(maps.Values(x.start.Children)), x.start.Workflow)
	for _, hash := range slices.Compact(hashes) {
		if err := x.definition(ctx, hash, seq); err != nil {
			return err
		}
	}
	return nil
}

// definition checks a definition that the run refers to: its content, and, unless the run was started under other rules, that
// it compiles. From the run's own definition it makes the root.
func (x *exam) definition(ctx context.Context, hash string, seq uint64) (err error) {
	if x.start.Engine != decide.EngineVersion || x.start.Expressions != expr.Version {
		_, err = x.load(ctx, journal.DefinitionStream(hash))
	} else if p, planErr := x.plan(ctx, hash); planErr != nil {
		err = planErr
	} else if hash == x.start.Workflow {
		x.root = decide.NewRoot(p)
	}
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	return x.fault(Fault{Kind: Content, Event: seq, Content: journal.DefinitionStream(hash), Means: meansUnderived,
		What: fmt.Sprintf("the definition %s, which it follows, cannot be used: %s", hash, sentence(err))})
}
