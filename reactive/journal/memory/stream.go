package memory

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Chunks double from 8 events to 1,024: a run of a few events costs little, a long one wastes at most the room of 1,024 events,
// and no event is ever copied to a larger chunk.
//
//	chunk     0      1       2             7               8
//	events  [0,8) [8,24) [24,56) … [1016,2040) [2040,3064) …
const (
	firstBits   = 3
	lastBits    = 10
	lastChunk   = lastBits - firstBits       // the first of the largest chunks
	doubledSize = 1<<lastBits - 1<<firstBits // events in the chunks before it
	chunkMask   = 1<<lastBits - 1            // offset within a chunk of the largest size
)

// stream is one stream. Events in [1, last] never change, so readers read them without the lock.
type stream struct {
	mu      sync.Mutex
	log     log
	head    journal.Head
	content map[journal.Hash][]byte
	changed change
	grown   chan struct{} // closed by the next append; nil while no reader waits
}

// log is the list of events of a stream at one moment. All chunks except the last are full. Chunks with only trimmed events are
// nil.
type log struct {
	chunks  [][]journal.Event
	last    uint64
	first   uint64                // the event behind the trimmed ones; 0: nothing was trimmed
	start   []journal.Event       // event 1, if others were trimmed
	deleted *journal.DeletedError // the stream was deleted; nil: it was not
}

// append stores events after sequence after, as the next change of the store. If after is not the last sequence, or the stream
// was deleted, it changes nothing and returns an error. With gap, the last sequence must be 1, and the events up to after count
// as trimmed.
func (s *stream) append(after uint64, events []journal.Event, head *journal.Head, gap bool, changes *atomic.Uint64) (last uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone := s.log.deleted; gone != nil {
		if !gone.Begins(after, events) {
			return 0, gone
		}
		s.log = log{}
	}
	expected := after
	if gap {
		expected = 1
	}
	if s.log.last != expected || gap && s.log.first != 0 {
		return 0, fmt.Errorf("it is at %d: %w", s.log.last, journal.ErrConflict)
	}
	if gap {
		s.log = s.log.behind(after)
	}
	for rest := events; len(rest) > 0; {
		rest = rest[s.log.fill(rest):]
	}
	if !head.IsZero() {
		s.head = *head
	}
	s.head.Last, s.head.First = s.log.last, s.log.first
	s.changed = change{changes.Add(1), s.log.last}
	if len(events) > 0 {
		s.wake()
	}
	return s.log.last, nil
}

// wake wakes the waiting readers. The caller holds mu.
func (s *stream) wake() {
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
}

// lastNow returns the last sequence.
func (s *stream) lastNow() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.last
}

// changeNow returns the newest change.
func (s *stream) changeNow() change {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// fill copies events into the room of the last chunk, numbers them, packs their values, and returns the number of copied
// events.
func (l *log) fill(events []journal.Event) int {
	chunk, offset := place(l.last)
	if chunk == len(l.chunks) {
		l.chunks = append(l.chunks, make([]journal.Event, 1<<min(firstBits+chunk, lastBits)))
	}
	room := l.chunks[chunk][offset:]
	n := copy(room, events)
	for i := range n {
		l.last++
		room[i].Seq = l.last
		room[i].Value = value.Pack(room[i].Value)
	}
	return n
}

// place returns the chunk and the offset of the event with index i (its sequence minus one).
func place(i uint64) (chunk, offset int) {
	if i >= doubledSize {
		i -= doubledSize
		return lastChunk + int(i>>lastBits), int(i & chunkMask)
	}
	i += 1 << firstBits
	width := bits.Len64(i) - 1
	return width - firstBits, int(i) - 1<<width
}

// run returns the events from sequence seq (at most last) to the end of their chunk, of the log, or of start.
func (l *log) run(seq uint64) ([]journal.Event, error) {
	switch {
	case seq < l.first && seq > 1:
		return nil, &journal.TrimmedError{First: l.first}
	case seq < l.first:
		return l.start, nil
	}
	chunk, offset := place(seq - 1)
	events := l.chunks[chunk][offset:]
	return events[:min(uint64(len(events)), l.last-seq+1)], nil
}

// trimmed returns the log without the events from 2 to before-1. It does not change l, which readers may be reading.
func (l log) trimmed(before uint64) log {
	if l.start == nil {
		l.start = slices.Clone(l.chunks[0][:1])
	}
	keep, _ := place(before - 1)
	l.first, l.chunks = before, slices.Clone(l.chunks)
	clear(l.chunks[:keep])
	return l
}

// behind returns a log with event 1 that continues behind a gap. It does not change l.
func (l log) behind(gap uint64) log {
	l.start = slices.Clone(l.chunks[0][:1])
	l.first, l.last = gap+1, gap
	chunk, offset := place(gap)
	l.chunks = make([][]journal.Event, chunk, chunk+1)
	if offset > 0 {
		l.chunks = append(l.chunks, make([]journal.Event, 1<<min(firstBits+chunk, lastBits)))
	}
	return l
}

// snapshot returns the current log and, if wait is true, a channel that is closed when the log grows.
func (s *stream) snapshot(wait bool) (log, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if wait && s.grown == nil {
		s.grown = make(chan struct{})
	}
	return s.log, s.grown
}

// headNow returns the head, or the zero Head.
func (s *stream) headNow() journal.Head {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.head
}
