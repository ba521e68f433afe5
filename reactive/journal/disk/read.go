package disk

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// A page is the result of one access to the database: at least one record, then more until either bound is reached. Between pages a
// reader holds no resources of the database, so a slow or abandoned reader does not keep old files and does not block Close.
const (
	pageEvents = 512
	pageBytes  = 1 << 20
)

// Read implements journal.Store. It yields only durable events. Reading n events takes about n/512 accesses to the database.
func (s *Store) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return s.ReadLean(ctx, stream, from, nil)
}

// ReadLean implements journal.LeanStore.
func (s *Store) ReadLean(ctx context.Context, stream string, from uint64, needs func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		if _, _, err := s.read(ctx, stream, from, needs, yield); err != nil {
			yield(journal.Event{}, fmt.Errorf("read %s: %w", stream, err))
		}
	}
}

// Tail implements journal.Store. A reader at the end of the stream waits for a channel that the next commit to the stream closes.
func (s *Store) Tail(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return s.TailLean(ctx, stream, from, nil)
}

// TailLean implements journal.LeanStore.
func (s *Store) TailLean(ctx context.Context, stream string, from uint64, needs func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for more := true; more; {
			var err error
			if from, more, err = follow(ctx, s, stream, from, needs, yield); err != nil {
				yield(journal.Event{}, fmt.Errorf("tail %s: %w", stream, err))
				return
			}
		}
	}
}

// follow is like read, but waits until the stream grows. yield may panic.
func follow(
	ctx context.Context, s *Store, stream string, from uint64, needs func(*journal.Event) bool, yield func(journal.Event, error) bool,
) (next uint64, more bool, err error) {
	grown, leave := s.live.Wait(stream) // before reading, so that no event is missed
	defer leave()
	next, more, err = s.read(ctx, stream, from, needs, yield)
	if err == nil && more {
		err = pause(ctx, s, grown)
	}
	return next, more, err
}

// pause waits until the stream has grown. It returns an error if the wait must end.
func pause(ctx context.Context, s *Store, grown <-chan struct{}) error {
	select {
	case <-grown:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.closing:
		return journal.ErrClosed
	}
}

// read yields the events from sequence from to the last one stored when it began. It returns the next sequence, and reports
// whether the caller wants more. It leaves large values in place, unless needs is nil or returns true.
func (s *Store) read(
	ctx context.Context, stream string, from uint64, needs func(*journal.Event) bool, yield func(journal.Event, error) bool,
) (next uint64, more bool, err error) {
	p := page{stream: stream, next: max(from, 1)}
	for {
		p.events, p.bytes = p.events[:0], 0
		if err = ctx.Err(); err == nil {
			err = s.load(&p)
		}
		// The events before a damaged one are valid.
		for i := range p.events {
			if e := &p.events[i]; needs == nil || needs(e) {
				if err := p.loadLarge(s, e); err != nil {
					return 0, false, err
				}
			}
			if !yield(p.events[i], nil) {
				return 0, false, nil
			}
		}
		if err != nil || p.next > p.to {
			return p.next, true, err
		}
	}
}

// page is a reader's place in a stream.
type page struct {
	stream string
	next   uint64 // the first sequence not yet read
	to     uint64 // the last one to be read; 0 before the first page
	end    uint64 // the last one of this page
	events []journal.Event
	bytes  int // size of the records in events
}

// load adds the events from p.next on to p, which must be empty, and advances p.next past them.
func (s *Store) load(p *page) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return journal.ErrClosed
	}
	it, durable, err := s.live.View(s.db, p.stream)
	if err != nil {
		return readError(err)
	}
	err = s.loadFrom(it, durable, p)
	if closeErr := it.Close(); err == nil && closeErr != nil {
		err = readError(closeErr)
	}
	return s.readFault(err)
}

func (s *Store) loadFrom(it *pebble.Iterator, durable uint64, p *page) error {
	last, first, err := boundsOf(it, p.stream)
	if err != nil {
		return err
	}
	if p.to == 0 {
		p.to = min(last, durable)
	}
	if p.end = p.to; p.next < first {
		if p.end = 1; p.next > 1 {
			return &journal.TrimmedError{First: first}
		}
	}
	if p.next > p.end {
		return nil
	}
	prefix := appendStreamPrefix(nil, p.stream)
	codec := journal.Codec{Leave: true}                 // a reader of one event of many does not wait for the values of the others
	it.SeekLT(appendEventsKey(nil, p.stream, p.next+1)) // the record that holds p.next begins there or before
	for {
		done, err := p.add(it, prefix, &codec)
		if done || err != nil {
			return err
		}
		it.Next()
	}
}

// errHeadless means that the last sequence of a stream is unknown.
var errHeadless = fmt.Errorf("%w: it has events, but no head", journal.ErrDamaged)

// boundsOf returns the last sequence of a stream according to its head, and the first sequence behind the trimmed events, or 0.
// A content stream has no head, and one event.
func boundsOf(it *pebble.Iterator, stream string) (last, first uint64, err error) {
	prefix := appendStreamPrefix(nil, stream)
	if !journal.IsContent(stream) {
		key := appendHeadKey(nil, stream)
		if it.SeekGE(key) && string(it.Key()) == string(key) {
			record, err := it.ValueAndErr()
			if err != nil {
				return 0, 0, readError(err)
			}
			h, err := records.OpenHead(record, key)
			if h.Deleted != nil {
				err = h.Deleted
			}
			return h.Last, h.First, err
		}
		if err := it.Error(); err != nil {
			return 0, 0, readError(err)
		}
	}
	if !it.SeekGE(prefix) {
		return 0, 0, readError(it.Error())
	}
	if _, ours := firstOf(it.Key(), prefix); !ours {
		return 0, 0, nil
	}
	if !journal.IsContent(stream) {
		return 0, 0, errHeadless
	}
	return 1, 0, nil
}

// add decodes the record at the iterator's position. It reports whether the page is complete.
func (p *page) add(it *pebble.Iterator, prefix []byte, codec *journal.Codec) (done bool, err error) {
	missing := func() error {
		return fmt.Errorf("%w: the record of event %d is missing, and the stream ends at %d", journal.ErrDamaged, p.next, p.to)
	}
	if !it.Valid() {
		if err := it.Error(); err != nil {
			return true, fmt.Errorf("event %d: %w", p.next, readError(err))
		}
		return true, missing()
	}
	first, ours := firstOf(it.Key(), prefix)
	if !ours || first > p.next {
		return true, missing()
	}
	record, err := it.ValueAndErr()
	if err != nil {
		return true, fmt.Errorf("event %d: %w", p.next, readError(err))
	}
	content, err := unseal(record, it.Key())
	if err != nil {
		return true, fmt.Errorf("record of event %d: %w", first, err)
	}
	before := len(p.events)
	p.events, err = codec.DecodeAll(p.events, content)
	if err == nil {
		err = p.keep(before, first, missing)
	}
	if err != nil {
		p.events = p.events[:before]
		return true, err
	}
	p.bytes += len(record)
	return p.next > p.end || len(p.events) >= pageEvents || p.bytes >= pageBytes, nil
}

// keep checks the sequences of the events of one record, p.events[before:], and drops the events outside the page: at the front
// if a reader starts within a record, and at the end.
func (p *page) keep(before int, first uint64, missing func() error) error {
	added := p.events[before:]
	for i := range added {
		if want := first + uint64(i); added[i].Seq != want {
			return fmt.Errorf("%w: event %d stands where %d belongs", journal.ErrDamaged, added[i].Seq, want)
		}
	}
	end := min(first+uint64(len(added)), p.end+1)
	if end <= p.next {
		return missing()
	}
	kept := copy(added, added[p.next-first:end-first])
	p.events, p.next = p.events[:before+kept], end
	return nil
}

// content returns the encoding of a value stored outside of its event.
func (s *Store) content(hash journal.Hash) ([]byte, error) {
	s.blobsRead.Add(1)
	stream := hash.Stream()
	key := appendEventsKey(nil, stream, 1)
	record, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, fmt.Errorf("%w: %s is missing", journal.ErrDamaged, stream)
	}
	if err != nil {
		return nil, readError(err)
	}
	defer closer.Close()
	content, err := unseal(record, key)
	if err == nil {
		content, err = journal.DecodeContent(content)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", stream, err)
	}
	return append([]byte(nil), content...), nil
}

// loadLarge loads the large value of an event, if it was left in place. If that fails because the event no longer exists, it
// returns that error.
func (p *page) loadLarge(s *Store, e *journal.Event) error {
	if !journal.IsLarge(e) {
		return nil
	}
	err := p.fetch(s, e)
	if err != nil {
		if gone := s.load(&page{stream: p.stream, next: e.Seq}); gone != nil {
			return gone
		}
	}
	return err
}

func (*page) fetch(s *Store, e *journal.Event) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return journal.ErrClosed
	}
	codec := journal.Codec{Fetch: s.content}
	return s.readFault(codec.Load(e))
}

// readError converts an error of Pebble to one of package journal.
func readError(err error) error {
	if err != nil && pebble.IsCorruptionError(err) {
		return fmt.Errorf("%w: %w", journal.ErrDamaged, err)
	}
	return err
}
