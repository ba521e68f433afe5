package disk

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// request is one append, or another change of a stream. The goroutine of its caller encodes it, so that the single committer only
// copies bytes, and then waits on done.
type request struct {
	stream      string
	after, last uint64
	key, record []byte // of the events; record is empty if there are none
	headKey     []byte
	head        []byte       // the encoded head; empty: the stream's head is not replaced
	indexed     journal.Head // the head before encoding
	indexSum    uint64       // of its keys in the indexes
	blobs       []blob       // values stored outside of their events
	large       int          // bytes of their records
	codec       journal.Codec
	at          int64    // At of the event that is being encoded
	first       int64    // At of the first event
	refers      []string // definitions that the events refer to
	change      change   // replaces the append; nil: it is an append
	gap         bool     // the events between event 1 and the new ones count as trimmed

	state atomic.Int32
	err   error      // the answer, which the committer keeps until the sync
	done  chan error // at most one answer per request, so that sending it never blocks
}

// blob is a value that becomes the content of a content stream.
type blob struct {
	stream      string
	key, record []byte
}

// The states of a request. It begins as queued; then exactly one of the committer and the caller takes it.
const (
	queued    int32 = iota
	taken           // the committer will answer it
	withdrawn       // the caller has returned, and the request is not written
)

var requests = sync.Pool{New: func() any {
	r := &request{done: make(chan error, 1)}
	r.codec = journal.Codec{Spill: r.spill, SpillBytes: spillBytes}
	return r
}}

// Append implements journal.Store. It returns when the batch is synced, together with other appends in the meantime. If ctx ends
// while the append is queued, Append writes nothing and returns ctx's error; after the committer has taken it, Append waits for the
// outcome, at most for two syncs. It refuses a batch beyond the bounds of the package with ErrTooLarge. After an error that wraps
// ErrReadOnly because a write failed, it is not known whether the batch is stored until the directory is opened again.
func (s *Store) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	return appendTo(ctx, s, stream, after, events, &head, false)
}

// AppendBehind implements journal.ContentStore.
func (s *Store) AppendBehind(ctx context.Context, stream string, gap uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if err := journal.CheckAppendBehind(gap, events, &head); err != nil {
		return 0, err
	}
	return appendTo(ctx, s, stream, gap, events, &head, true)
}

func appendTo(ctx context.Context, s *Store, stream string, after uint64, events []journal.Event, head *journal.Head, gap bool) (uint64, error) {
	if err := s.writable(ctx, stream != journal.RetentionStream); err != nil {
		return 0, fmt.Errorf("append to %s: %w", stream, err)
	}
	if err := journal.CheckAppend(stream, after, events, head); err != nil {
		return 0, err
	}
	r := requests.Get().(*request)
	r.gap = gap
	if err := r.encode(stream, after, events, head); err != nil {
		r.release()
		return 0, fmt.Errorf("append to %s: %w", stream, err)
	}
	last := r.last
	if err := s.commit(ctx, r); err != nil {
		return 0, fmt.Errorf("append to %s after %d: %w", stream, after, err)
	}
	return last, nil
}

// writable returns an error if the store cannot be written. adds is true for writes other than removals.
func (s *Store) writable(ctx context.Context, adds bool) error {
	if err := s.refusal(); err != nil && (adds || s.readOnly.Load() != nil) {
		return err
	}
	if s.closed.Load() {
		return journal.ErrClosed
	}
	return ctx.Err()
}

// commit queues r, commits the queue if no other goroutine does, and waits for the answer, unless the caller must return
// before r is taken.
func (s *Store) commit(ctx context.Context, r *request) error {
	r.state.Store(queued)
	select {
	case s.queue <- r:
	case <-ctx.Done():
		r.release()
		return ctx.Err()
	case <-s.closing:
		r.release()
		return journal.ErrClosed
	}
	s.committer.lead()
	leave := journal.ErrClosed
	select {
	case err := <-r.done:
		r.release()
		return err
	case <-ctx.Done():
		leave = ctx.Err()
	case <-s.stopped:
	}
	if r.state.CompareAndSwap(queued, withdrawn) {
		return leave // the goroutine that finds r in the queue releases it
	}
	err := <-r.done
	r.release()
	return err
}

// encode fills in r with the bytes to write if the stream ends at after.
func (r *request) encode(stream string, after uint64, events []journal.Event, head *journal.Head) (err error) {
	r.stream, r.after, r.last = stream, after, after+uint64(len(events))
	r.headKey = appendHeadKey(r.headKey[:0], stream)
	r.record, r.head, r.blobs, r.large, r.refers = r.record[:0], r.head[:0], r.blobs[:0], 0, nil
	if len(events) > 0 {
		r.first = events[0].At
		r.key = appendEventsKey(r.key[:0], stream, after+1)
		r.record = beginRecord(r.record)
	}
	most, first := BatchMaxBytes, after == 0 && len(events) > 1
	if r.codec.SpillBytes = spillBytes; first || len(events) == 1 {
		most = EventMaxBytes
	}
	for i := range events {
		e := events[i]
		e.Seq, r.at = after+uint64(i)+1, e.At
		r.refers = append(r.refers, journal.Definitions(&e)...)
		if r.record, err = r.codec.Append(r.record, &e); err != nil {
			return err
		}
		switch size := len(r.record); {
		case size > most, !first && r.size() > most: // too large, even without the rest
			return fmt.Errorf("%w: more than %d bytes", journal.ErrTooLarge, most)
		case size > BatchMaxBytes && first:
			r.codec.SpillBytes = spillFirstBytes
		}
	}
	if len(events) > 0 {
		seal(r.record, r.key)
	}
	if head.IsZero() {
		return nil
	}
	h := *head
	h.Last, h.First = 0, 0 // they are in the record, where they also are for streams without a head
	r.indexed, r.indexSum = h, records.SumOf(&h)
	r.head, err = journal.AppendHead(r.head, &h)
	return err
}

// spill makes a blob of a large value.
func (r *request) spill(hash journal.Hash, encoded []byte) {
	stream, key := hash.Stream(), appendEventsKey(nil, hash.Stream(), 1)
	record := journal.AppendContent(beginRecord(make([]byte, 0, len(encoded)+64)), r.at, encoded)
	seal(record, key)
	r.blobs = append(r.blobs, blob{stream, key, record})
	r.large += len(record)
}

// adds reports whether r adds to the store. Removals do not, and appends to the retention stream do not count, because they lead to
// removals.
func (r *request) adds() bool {
	_, puts := r.change.(*put)
	return (r.change == nil || puts) && r.stream != journal.RetentionStream
}

// size returns the number of bytes that r writes, without its keys and its head.
func (r *request) size() int {
	if r.change != nil {
		return r.change.size()
	}
	return len(r.record) + r.large
}

// release returns r to the pool, without its large buffers.
func (r *request) release() {
	const keepBytes = 64 << 10
	if cap(r.record) > keepBytes {
		r.record = nil
	}
	clear(r.blobs[:cap(r.blobs)])
	r.stream, r.err, r.change, r.indexed, r.refers, r.gap = "", nil, nil, journal.Head{}, nil, false
	requests.Put(r)
}
