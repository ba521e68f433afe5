package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sluiceflow/sluice/coordinator/compiled"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/template/plan"
)

// spot is the place of a line in a file.
type spot struct {
	offset int64
	size   int
}

// source is a file from which runs are imported.
type source struct {
	file   io.ReaderAt
	stored map[string]spot // definitions and large values, by stream
	plans  map[string]planned
	large  journal.Hash // of the large value that was read last
	value  any
}

// planned is a compiled definition, or the error that prevents compiling it.
type planned struct {
	plan *plan.Plan
	err  error
}

// plansMax bounds the compiled definitions that are kept.
const plansMax = 64

func newSource(file io.ReaderAt) *source {
	return &source{file: file, stored: map[string]spot{}, plans: map[string]planned{}}
}

// visitor is called with the contents of a file. An error refuses the file, at the line that was read last.
type visitor interface {
	stored(*archive.Stored) error                    // a definition or a large value
	begin(run string) error                          // a run begins
	event(f *fold, e *journal.Event, size int) error // which f has taken
	content(f *fold, data []byte) error              // of a snapshot
	end(f *fold, head journal.Head) error
}

// visit reads the file, folds its runs, and calls v. Errors about the file are an *archive.Error.
func (s *source) visit(ctx context.Context, v visitor) error {
	var f *fold
	for item, err := range archive.NewReader(io.NewSectionReader(s.file, 0, math.MaxInt64)).Items() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		at := spot{item.Offset, item.Size}
		switch {
		case item.Definition != nil:
			s.stored[item.Definition.Stream] = at
			err = v.stored(item.Definition)
		case item.Value != nil:
			s.stored[item.Value.Stream] = at
			s.large, s.value = journal.Hash{}, nil
			err = v.stored(item.Value)
		case item.Event != nil:
			if err = s.complete(item.Event, item.Blob); err == nil {
				err = f.add(item.Event, at)
			}
			if err == nil {
				err = v.event(f, item.Event, s.sizeOf(&item))
			}
		case item.Content != nil:
			f.contents[hashOf(item.Content)] = at
			err = v.content(f, item.Content)
		case item.End:
			var head journal.Head
			if head, err = f.end(); err == nil {
				err = v.end(f, head)
			}
		default:
			f = &fold{source: s, contents: map[journal.Hash]spot{}}
			err = v.begin(item.Run)
		}
		if err != nil {
			return refused(item.Line, err)
		}
	}
	return nil
}

// refused returns an error about a line; of a failure, the error in it.
func refused(line int, err error) error {
	if failed, ok := errors.AsType[*failure](err); ok {
		return failed.error
	}
	return &archive.Error{Line: line, Cause: err}
}

// failure is an error that is not about the file.
type failure struct{ error }

func (f *failure) Unwrap() error { return f.error }

// sizeOf returns the approximate number of bytes of an event and its value.
func (s *source) sizeOf(item *archive.Item) int {
	if item.Blob == (journal.Hash{}) {
		return item.Size
	}
	return item.Size + s.stored[item.Blob.Stream()].size
}

// complete sets the large value of an event.
func (s *source) complete(e *journal.Event, blob journal.Hash) (err error) {
	if blob == (journal.Hash{}) {
		return nil
	}
	if blob != s.large {
		at := s.stored[blob.Stream()]
		if s.value, err = archive.StoredAt(s.file, at.offset, at.size); err != nil {
			return err
		}
		s.large = blob
	}
	e.Value = s.value
	return nil
}

// plan returns a definition compiled.
func (s *source) plan(hash string) (*plan.Plan, error) {
	if known, ok := s.plans[hash]; ok {
		return known.plan, known.err
	}
	at := s.stored[journal.DefinitionStream(hash)]
	var c planned
	definition, err := archive.StoredAt(s.file, at.offset, at.size)
	if err == nil {
		c.plan, err = compiled.Plan(definition)
	}
	if err != nil {
		c.err = fmt.Errorf("the workflow %s cannot be used: %w", hash, err)
	}
	if len(s.plans) >= plansMax {
		clear(s.plans)
	}
	s.plans[hash] = c
	return c.plan, c.err
}
