package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Store keeps streams in the memory of this process. It is safe for concurrent use; appends to different streams share
// no lock. Make one with New.
type Store struct {
	streams sync.Map // name → *stream; never deleted from
	sweeps  journal.Sweeps
	refers  references
	changes atomic.Uint64 // number of the newest change
	awaited watch         // waits for changes
	fresh   atomic.Uint64 // the change log begins behind this one
	closed  chan struct{}
	closing atomic.Bool
}

var _ journal.ContentStore = (*Store)(nil)

// New returns an empty store.
func New() *Store { return &Store{closed: make(chan struct{})} }

// stream returns the stream with a name, creating it if necessary.
func (s *Store) stream(name string) *stream {
	if st, ok := s.streams.Load(name); ok {
		return st.(*stream)
	}
	st, _ := s.streams.LoadOrStore(strings.Clone(name), new(stream))
	return st.(*stream)
}

// Append implements journal.Store. It copies only the new events. Values and details are shared, not copied, except values of
// many nodes, which are stored encoded.
func (s *Store) Append(ctx context.Context, name string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	return s.append(ctx, name, after, events, &head, false)
}

// AppendBehind implements journal.ContentStore.
func (s *Store) AppendBehind(ctx context.Context, name string, gap uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if err := journal.CheckAppendBehind(gap, events, &head); err != nil {
		return 0, err
	}
	return s.append(ctx, name, gap, events, &head, true)
}

func (s *Store) append(ctx context.Context, name string, after uint64, events []journal.Event, head *journal.Head, gap bool) (uint64, error) {
	if err := s.usable(ctx); err != nil {
		return 0, fmt.Errorf("append to %s: %w", name, err)
	}
	if err := journal.CheckAppend(name, after, events, head); err != nil {
		return 0, err
	}
	defer s.refer(name, events)()
	last, err := s.stream(name).append(after, events, head, gap, &s.changes)
	s.awaited.wake()
	if err != nil {
		return 0, fmt.Errorf("append to %s after %d: %w", name, after, err)
	}
	return last, nil
}

func (s *Store) usable(ctx context.Context) error {
	if s.closing.Load() {
		return journal.ErrClosed
	}
	return ctx.Err()
}

// Read implements journal.Store. It takes the stream's lock once, and yields the events stored at that moment.
func (s *Store) Read(ctx context.Context, name string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		if err := s.usable(ctx); err != nil {
			yield(journal.Event{}, fmt.Errorf("read %s: %w", name, err))
			return
		}
		if st, ok := s.streams.Load(name); ok {
			log, _ := st.(*stream).snapshot(false)
			s.yield(ctx, name, log, from, yield)
		}
	}
}

// Tail implements journal.Store. A reader at the end of the stream waits for a channel that the next append closes.
func (s *Store) Tail(ctx context.Context, name string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		st, next := s.stream(name), max(from, 1)
		for {
			log, grown := st.snapshot(true)
			if !s.yield(ctx, name, log, next, yield) {
				return
			}
			next = max(next, log.last+1)
			select {
			case <-grown:
			case <-ctx.Done():
			case <-s.closed:
			}
			if err := s.usable(ctx); err != nil {
				yield(journal.Event{}, fmt.Errorf("tail %s: %w", name, err))
				return
			}
		}
	}
}

// yield yields the events of a log and reports whether the reader wants more.
func (s *Store) yield(ctx context.Context, name string, log log, from uint64, yield func(journal.Event, error) bool) bool {
	if log.deleted != nil {
		yield(journal.Event{}, fmt.Errorf("read %s: %w", name, log.deleted))
		return false
	}
	for seq := max(from, 1); seq <= log.last; {
		if err := s.usable(ctx); err != nil {
			yield(journal.Event{}, fmt.Errorf("read %s: %w", name, err))
			return false
		}
		events, err := log.run(seq)
		if err != nil {
			yield(journal.Event{}, fmt.Errorf("read %s: %w", name, err))
			return false
		}
		for i := range events {
			event := events[i]
			event.Value = value.Unpack(event.Value)
			if !yield(event, nil) {
				return false
			}
		}
		seq += uint64(len(events))
	}
	return true
}

// Heads implements journal.Store. It collects and sorts the heads of all streams when the iteration starts: O(n log n).
func (s *Store) Heads(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		heads := s.heads(func(h *journal.Head) bool { return h.Run > after })
		slices.SortFunc(heads, func(a, b journal.Head) int { return strings.Compare(a.Run, b.Run) })
		s.yieldHeads(ctx, heads, yield)
	}
}

// Close ends all readers and refuses further use.
func (s *Store) Close() error {
	if s.closing.CompareAndSwap(false, true) {
		close(s.closed)
	}
	return nil
}
