package transfer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/plan"
)

// fold derives the head of a run from its events. For a run under the rules of another version, it derives only the fields that follow
// from single events.
type fold struct {
	source    *source
	start     *journal.Start
	moved     uint64 // sequence of the newest move; 0: none
	first     journal.Event
	last      journal.Event   // without its value
	ended     *journal.Event  // the event that finished the run; nil: none did, or it was reopened
	snapshots []journal.Event // of a world
	newest    journal.Event   // the newest of these; without a type: there is none
	upto      uint64          // sequence of the last event in the state of newest
	gap       uint64          // sequence of the first event behind the trimmed ones; 0: none were trimmed
	tail      []journal.Event // of the events behind the gap, those that the newest snapshot does not have
	plan      *plan.Plan      // nil: it follows other rules
	root      *reactive.Root  // nil: statuses cannot be derived
	contents  map[journal.Hash]spot
	spots     []spot // of the events, unless the run is of a world
}

// add takes the next event.
func (f *fold) add(e *journal.Event, at spot) (err error) {
	if f.start == nil {
		err = f.begin(e)
	} else if e.Seq != f.last.Seq+1 {
		f.gap, f.root = e.Seq, nil
	}
	f.last = *e
	f.last.Value = nil
	switch e.Type {
	case journal.RunFinished:
		f.ended = &journal.Event{At: e.At, Detail: e.Detail}
	case journal.RunReopened:
		f.ended = nil
	case journal.WorldSnapshotted:
		f.snapshot(e)
	}
	switch {
	case err != nil:
	case f.gap > 0:
		f.tail = append(f.tail, *e)
	case f.root != nil && decide.IsMove(e):
		f.spots = append(f.spots, at)
		err = f.move(e)
	case f.root != nil:
		if world.Of(f.root) == nil {
			f.spots = append(f.spots, at)
		}
		err = f.apply(e)
	}
	return err
}

// move derives the state again, under the workflow that the run was moved to.
func (f *fold) move(moved *journal.Event) error {
	f.moved = moved.Seq
	if err := f.beginUnder(moved.Detail.Start); err != nil || f.root == nil {
		return err
	}
	for _, at := range f.spots {
		e, blob, err := archive.EventAt(f.source.file, at.offset, at.size)
		if err == nil {
			err = f.source.complete(&e, blob)
		}
		if err != nil {
			return err
		}
		e = decide.Under(&e, moved)
		if err := f.apply(&e); err != nil {
			return err
		}
	}
	return nil
}

// snapshot takes a snapshot of a world.
func (f *fold) snapshot(e *journal.Event) {
	f.snapshots = append(f.snapshots, *e)
	upto := world.Upto(e)
	if f.newest.Type != 0 && upto < f.upto {
		return
	}
	f.newest, f.upto = *e, upto
	f.tail = slices.DeleteFunc(f.tail, func(e journal.Event) bool { return e.Seq <= upto })
}

// begin takes the first event. The definitions must be those that this program compiles, unless it derives nothing from them.
func (f *fold) begin(e *journal.Event) (err error) {
	f.first = *e
	return f.beginUnder(e.Detail.Start)
}

// beginUnder begins to derive the state of a run with this start.
func (f *fold) beginUnder(start *journal.Start) (err error) {
	f.start, f.root = start, nil
	if decide.SameRules(f.start) != nil {
		return nil
	}
	for _, hash := range f.start.Children {
		if _, err := f.source.plan(hash); err != nil {
			return err
		}
	}
	if f.plan, err = f.source.plan(f.start.Workflow); err == nil {
		f.root = decide.NewRoot(f.plan)
	}
	return err
}

// apply applies an event to the state.
func (f *fold) apply(e *journal.Event) error {
	if err := e.CheckComplete(); err != nil {
		return err
	}
	err := usercode.Call(func() error {
		if err := f.root.Cells().Check(e); err != nil {
			return err
		}
		f.root.Apply(e)
		return f.root.Cells().Err()
	})
	if _, panicked := errors.AsType[*usercode.Panic](err); panicked {
		return fmt.Errorf("event %d does not follow from those before it, or lacks what a %s has", e.Seq, e.Type)
	}
	if err != nil {
		return fmt.Errorf("event %d does not follow from those before it: %w", e.Seq, err)
	}
	return nil
}

// end returns the head that follows from the events.
func (f *fold) end() (head journal.Head, err error) {
	if err := f.checkContents(); err != nil {
		return head, err
	}
	if f.gap > 0 {
		if err := f.restore(); err != nil {
			return head, err
		}
	}
	if f.root == nil {
		return f.single(), nil
	}
	err = usercode.Call(func() error { head = decide.HeadAfter(f.root, &f.last); return nil })
	if err != nil {
		err = fmt.Errorf("the state of the run cannot be derived: %w", err)
	}
	return head, err
}

// checkContents compares the content with the needs of the snapshots.
func (f *fold) checkContents() error {
	if len(f.snapshots) == 0 {
		switch {
		case len(f.contents) > 0:
			return errors.New("the run has content, and no snapshot that needs it")
		case f.gap > 0:
			return fmt.Errorf("events 2 to %d are missing, and no snapshot replaces them", f.gap-1)
		}
		return nil
	}
	p, err := f.source.plan(f.start.Workflow)
	if err != nil {
		return err
	}
	var hashes []journal.Hash
	if err := usercode.Call(func() (err error) { hashes, err = needed(p, f.start, f.snapshots, f.content); return err }); err != nil {
		return err
	}
	if len(hashes) != len(f.contents) { // the needed hashes are in the file
		return fmt.Errorf("the run has %d blobs of content, and its snapshots need %d", len(f.contents), len(hashes))
	}
	return nil
}

// content returns content of the run.
func (f *fold) content(hash journal.Hash) ([]byte, error) {
	at, ok := f.contents[hash]
	if !ok {
		return nil, fmt.Errorf("%w: content %x is not in the file", journal.ErrNotFound, hash[:])
	}
	return archive.ContentAt(f.source.file, at.offset, at.size)
}

// restore derives the state of a world from its newest snapshot.
func (f *fold) restore() error {
	switch {
	case f.upto+1 < f.gap || f.newest.Seq < f.gap:
		return fmt.Errorf("events 2 to %d are missing, and the newest snapshot is as of event %d", f.gap-1, f.upto)
	case f.upto >= f.newest.Seq:
		return fmt.Errorf("the snapshot of event %d is as of event %d", f.newest.Seq, f.upto)
	case f.plan == nil:
		return nil
	}
	root := decide.NewRoot(f.plan)
	err := usercode.Call(func() error {
		w := world.Of(root)
		w.Content(f.content, 0, world.Cache{})
		root.Apply(&f.first)
		if _, err := w.Restore(&f.newest); err != nil {
			return err
		}
		return w.Err()
	})
	if err != nil {
		return fmt.Errorf("the snapshot of event %d cannot be used: %w", f.newest.Seq, err)
	}
	f.root = root
	for i := range f.tail {
		if err := f.apply(&f.tail[i]); err != nil {
			return err
		}
	}
	return nil
}

// single returns the head that follows from single events.
func (f *fold) single() journal.Head {
	h := f.incompleteHead()
	if end := f.ended; end != nil && f.last.Type == journal.RunFinished && end.Detail != nil {
		h.Status, h.Open = end.Detail.State, false
	}
	return h
}

// incompleteHead returns the head of an incomplete run.
func (f *fold) incompleteHead() journal.Head {
	s := f.start
	return journal.Head{Run: s.Run, Workflow: s.Workflow, Name: s.Name, Labels: s.Labels, Status: string(reactive.RunRunning),
		Started: f.first.At, Updated: f.last.At, Open: true, Snapshot: f.newest.Seq, Moved: f.moved}
}
