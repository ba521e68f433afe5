package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Bounds of a page: at least one record, then more until either is reached.
const (
	pageRecords = 512
	pageBytes   = 1 << 20
)

// LoadPage calls use with the records of a page between two keys, and returns the first key of the next page, or nil. use must not
// keep its arguments.
func LoadPage(db pebble.Reader, lower, upper []byte, use func(key, record []byte) error) (next []byte, err error) {
	it, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	count, size := 0, 0
	for ok := it.First(); ok; ok = it.Next() {
		if count == pageRecords || size >= pageBytes {
			return bytes.Clone(it.Key()), nil
		}
		record, err := it.ValueAndErr()
		if err == nil {
			err = use(it.Key(), record)
		}
		if err != nil {
			return nil, err
		}
		count, size = count+1, size+len(record)
	}
	return nil, it.Error()
}

// Swept is a store during a sweep.
type Swept interface {
	// View calls use with its database.
	View(use func(db pebble.Reader) error) error

	// Drop deletes a content stream, unless an event has referred to it meanwhile.
	Drop(ctx context.Context, stream string) (deleted bool, err error)

	// Expire deletes the tombstone of a free id.
	Expire(ctx context.Context, stream string) error
}

// Range is a range of keys: Lower ≤ key < Upper.
type Range struct{ Lower, Upper []byte }

// The keys of content, and the keys of the events of all other streams.
var (
	values, definitions = contentRanges()

	others = []Range{{[]byte{SpaceEvents}, values.Lower}, {values.Upper, definitions.Lower}, {definitions.Upper, []byte{SpaceEvents + 1}}}
)

// contentRanges returns the keys of large values and of definitions.
func contentRanges() (values, definitions Range) {
	after := func(prefix string) Range { // a prefix does not end with the greatest byte
		lower := append([]byte{SpaceEvents}, prefix...)
		upper := slices.Clone(lower)
		upper[len(upper)-1]++
		return Range{lower, upper}
	}
	v, d := journal.ContentPrefixes()
	return after(v), after(d)
}

// Sweep carries out a sweep of a store.
func Sweep(ctx context.Context, s Swept, w *journal.StreamSweep) error {
	err := sweepTombstones(ctx, s, w)
	for _, content := range []Range{values, definitions} {
		for err == nil && content.Lower != nil {
			content.Lower, err = sweepRound(ctx, s, w, content)
		}
	}
	return err
}

// page is LoadPage for a Swept.
func page(s Swept, lower, upper []byte, use func(key, record []byte) error) (next []byte, err error) {
	err = s.View(func(db pebble.Reader) (err error) {
		next, err = LoadPage(db, lower, upper, use)
		return err
	})
	return next, err
}

// endingNow returns the range up to its current last key. The references of later events are noted. Without this end, a busy store
// could grow faster than a sweep reads it.
func (r Range) endingNow(s Swept) (Range, error) {
	err := s.View(func(db pebble.Reader) error {
		it, err := db.NewIter(&pebble.IterOptions{LowerBound: r.Lower, UpperBound: r.Upper})
		if err != nil {
			return err
		}
		if r.Upper = r.Lower; it.Last() {
			r.Upper = append(bytes.Clone(it.Key()), 0)
		}
		return errors.Join(it.Error(), it.Close())
	})
	return r, err
}

// Pages calls use with the records in a range, a page at a time.
func Pages(ctx context.Context, s Swept, w *journal.StreamSweep, r Range, use func(key, record []byte) error) error {
	for r.Lower != nil {
		err := w.Rest(ctx)
		if err == nil {
			r.Lower, err = page(s, r.Lower, r.Upper, use)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sweepTombstones deletes the tombstones of free ids.
func sweepTombstones(ctx context.Context, s Swept, w *journal.StreamSweep) error {
	if w.Dry {
		return nil
	}
	var free []string
	find := func(key, record []byte) error {
		if h, err := OpenHead(record, key); err == nil && h.Deleted != nil && h.Deleted.Free(w.Now) { // damage is reported by other checks
			free = append(free, string(key[1:]))
		}
		return nil
	}
	for lower := []byte{SpaceHeads}; lower != nil; free = free[:0] {
		err := w.Rest(ctx)
		if err == nil {
			lower, err = page(s, lower, []byte{SpaceHeads + 1}, find)
		}
		for i := 0; i < len(free) && err == nil; i++ {
			if err = s.Expire(ctx, free[i]); errors.Is(err, journal.ErrNotFound) {
				err = nil
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Bounds of the content streams visited in one round, and deleted between two pauses.
const (
	roundStreams = 1 << 18
	sliceStreams = 256
)

// sweepRound deletes the content in a range to which no event refers. It visits up to roundStreams streams, and returns the
// first key of the next round, or nil.
func sweepRound(ctx context.Context, s Swept, w *journal.StreamSweep, content Range) (next []byte, err error) {
	u := unreferred{bytes: map[string]int64{}, sweep: w}
	for next = content.Lower; next != nil && len(u.bytes) < roundStreams; {
		if err = w.Rest(ctx); err == nil {
			next, err = page(s, next, content.Upper, u.add)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, events := range others {
		if err := u.mark(ctx, s, events); err != nil {
			return nil, err
		}
	}
	return next, u.drop(ctx, s)
}

// unreferred holds content streams, with their sizes, to which no event is known to refer.
type unreferred struct {
	bytes map[string]int64 // by stream
	sweep *journal.StreamSweep

	refers []string
}

// add adds the stream of a record of events.
func (u *unreferred) add(key, record []byte) error {
	u.bytes[streamOf(key)] = int64(len(key) + len(record))
	return nil
}

// mark removes the streams to which the events in a range refer, until no stream is left.
func (u *unreferred) mark(ctx context.Context, s Swept, events Range) error {
	events, err := events.endingNow(s)
	for err == nil && events.Lower != nil && len(u.bytes) > 0 {
		if err = u.sweep.Rest(ctx); err == nil {
			events.Lower, err = page(s, events.Lower, events.Upper, u.strike)
		}
	}
	return err
}

// strike removes the streams to which the events in a record refer.
func (u *unreferred) strike(key, record []byte) error {
	stream := streamOf(key)
	if !u.sweep.Counts(stream) {
		return nil
	}
	content, err := Unseal(record, key)
	if err == nil {
		u.refers, err = journal.AppendReferences(u.refers[:0], content)
	}
	if err != nil {
		return fmt.Errorf("what the events of %s refer to is unknown: %w", stream, err)
	}
	for _, name := range u.refers {
		delete(u.bytes, name)
	}
	return nil
}

// drop deletes the remaining streams.
func (u *unreferred) drop(ctx context.Context, s Swept) error {
	count := 0
	for stream, size := range u.bytes {
		if count++; count%sliceStreams == 0 {
			if err := u.sweep.Rest(ctx); err != nil {
				return err
			}
		}
		deleted, err := s.Drop(ctx, stream)
		if err != nil && !errors.Is(err, journal.ErrNotFound) {
			return err
		}
		if deleted {
			u.sweep.Tell(stream, size)
		}
	}
	return nil
}

// streamOf returns the name of the stream to which a key of events or content belongs.
func streamOf(key []byte) string {
	name, _, _ := bytes.Cut(key[1:], []byte{0})
	return string(name)
}
