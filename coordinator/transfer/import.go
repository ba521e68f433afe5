package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
)

// ErrOther is wrapped by the error about a run that the store has with other content.
var ErrOther = errors.New("coordinator: there is a run of that id with other content")

// Imported is the result of importing one run of a file.
type Imported struct {
	Run    string `json:"run"`            // id
	Events uint64 `json:"events"`         // sequence of its last event
	There  bool   `json:"there"`          // the store had the same already
	Held   bool   `json:"held,omitempty"` // it has not ended, and waits until it is resumed
}

// eventMax bounds an event in a file, its value included: stores take that many bytes as one.
const eventMax = 63 << 20

// Import writes the runs of a file into the store, or refuses the file as a whole. It returns the outcome of each run, in the
// order of the file. The actor is recorded as the holder of runs that have not ended. The error is an *archive.Error if the file is
// refused.
func (t *Transfer) Import(ctx context.Context, file io.ReaderAt, actor string) ([]Imported, error) {
	if err := limits.CheckActor(actor); err != nil {
		return nil, err
	}
	defer t.Holds.Import()()
	seen := newSurvey(ctx, t)
	err := newSource(file).visit(ctx, seen)
	seen.close()
	if err != nil {
		return nil, err
	}
	defer t.Registry.Use()() // until the runs refer to their definitions
	if err := t.write(ctx, file, actor, seen); err != nil {
		return nil, err
	}
	out := make([]Imported, len(seen.order))
	for i, id := range seen.order {
		r := seen.runs[id]
		out[i] = Imported{Run: id, Events: r.last, There: r.have == r.last, Held: r.open && t.Holds.Has(topOf(id))}
	}
	return out, nil
}

// write writes the records that the survey of the file found missing. A run that takes several writes is incomplete until it is there as
// a whole; if it has not ended, it is held from then on.
func (t *Transfer) write(ctx context.Context, file io.ReaderAt, actor string, seen *survey) error {
	open, parts := slices.Sorted(maps.Keys(seen.open)), slices.Sorted(maps.Keys(seen.parts))
	if err := t.Holds.HoldIncomplete(ctx, actor, parts...); err != nil {
		return err
	}
	atOnce := slices.DeleteFunc(slices.Clone(open), func(run string) bool { return seen.parts[run] })
	if err := t.Holds.Hold(ctx, actor, atOnce...); err != nil {
		return err
	}
	w := &writer{t: t, ctx: ctx, runs: seen.runs}
	err := newSource(file).visit(ctx, w)
	if err == nil {
		err = t.Holds.Hold(ctx, actor, open...)
	}
	if err == nil {
		ended := slices.DeleteFunc(parts, func(run string) bool { return seen.open[run] })
		err = t.Holds.Lift(ctx, actor, ended...)
	}
	if err != nil {
		return fmt.Errorf("the import is not complete, import the file again: %w", err)
	}
	return nil
}

// run is the state of a run of the file.
type run struct {
	state state
	have  uint64 // sequence of the last event that the store has
	last  uint64 // sequence of the last event
	open  bool
	parts bool   // it takes several writes
	kept  uint64 // sequence of the newest snapshot of a world; 0: none
}

type state uint8

const (
	absent state = iota // the store has nothing of it
	there               // the store has all of it
	part                // an import of it was interrupted
)

// survey compares the runs of a file with the store. It changes nothing.
type survey struct {
	t     *Transfer
	ctx   context.Context
	runs  map[string]*run
	order []string
	open  map[string]bool // runs to be held: the topmost runs above runs that have not ended
	parts map[string]bool // runs that take several writes, with all that belong to them

	now    *run
	bytes  int // of its events
	id     string
	others func() (journal.Event, error, bool) // the events that the store has
	stop   func()
}

func newSurvey(ctx context.Context, t *Transfer) *survey {
	return &survey{t: t, ctx: ctx, runs: map[string]*run{}, open: map[string]bool{}, parts: map[string]bool{}}
}

func (s *survey) stored(*archive.Stored) error { return nil }

// content is called with a blob, which is written separately.
func (s *survey) content(*fold, []byte) error {
	s.now.parts = true
	return nil
}

// begin checks the id of a run.
func (s *survey) begin(id string) error {
	top := topOf(id)
	if limits.CheckID(top) != nil {
		return fmt.Errorf("%q is no id of a run: the file was changed", id)
	}
	if id != top && s.runs[journal.ParentRun(id)] == nil {
		return fmt.Errorf("run %s was started by run %s, which does not stand before it in the file", id, journal.ParentRun(id))
	}
	if id <= s.id {
		return fmt.Errorf("run %s stands behind run %s; runs are in the order of their ids", id, s.id)
	}
	s.close()
	s.id, s.now, s.bytes = id, &run{}, 0
	s.runs[id], s.order = s.now, append(s.order, id)
	s.others, s.stop = iter.Pull2(journal.Remaining(s.ctx, s.t.Store, id, 1))
	return nil
}

// close ends reading the events of the store.
func (s *survey) close() {
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// event compares an event with the event in the store.
func (s *survey) event(f *fold, e *journal.Event, size int) error {
	if s.bytes += size; s.bytes > batchBytes || f.gap > 0 {
		s.now.parts = true
	}
	var codec journal.Codec
	if encoded, err := codec.Append(nil, e); err != nil {
		return err
	} else if len(encoded) > eventMax {
		return fmt.Errorf("event %d has %d bytes, and %d are possible", e.Seq, len(encoded), eventMax)
	}
	s.now.last = e.Seq
	if s.now.state == part || e.Seq > 1 && s.now.have == 0 {
		return nil
	}
	other, err, ok := s.others()
	switch {
	case !ok && s.now.have == 0:
		return nil
	case !ok && s.t.Holds.Has(topOf(s.id)):
		s.now.state = part
		return nil
	case !ok:
		return s.other("it ends with event %d there, and goes on in the file", s.now.have)
	case errors.Is(err, journal.ErrDeleted):
		return fmt.Errorf("run %s was deleted from the folder, and its id is not free; import the file into another folder", s.id)
	case err != nil:
		return &failure{fmt.Errorf("compare run %s: %w", s.id, err)}
	}
	same, err := archive.Equal(e, &other)
	if err == nil && !same {
		err = s.other("event %d is %s in the file, and event %d there is %s", e.Seq, e.Type, other.Seq, other.Type)
	}
	s.now.have = e.Seq
	return err
}

func (s *survey) other(format string, args ...any) error {
	return fmt.Errorf("%w: run %s: %s; delete that one, or import the file into another folder", ErrOther, s.id, fmt.Sprintf(format, args...))
}

// end decides the outcome of a run.
func (s *survey) end(_ *fold, head journal.Head) error {
	r, top := s.now, topOf(s.id)
	r.open, r.kept = head.Open, head.Snapshot
	if r.have > 0 && r.state != part {
		more, err, ok := s.others()
		switch {
		case ok && err != nil:
			return &failure{fmt.Errorf("compare run %s: %w", s.id, err)}
		case ok:
			return s.other("it ends with event %d in the file, and goes on there with event %d, %s", r.last, more.Seq, more.Type)
		}
		r.state = there
	}
	held := s.t.Holds.Has(top)
	if r.state == there && held {
		r.state = part // its content and its head may be missing
	}
	if r.state == absent && s.id != top && s.runs[top].state == there {
		return s.other("run %s to which it belongs is there without it", top)
	}
	if r.state != there {
		if r.open {
			s.open[top] = true
		}
		if r.parts || s.id != top || s.t.Holds.Incomplete(top) {
			s.parts[top] = true
		}
	}
	return nil
}
