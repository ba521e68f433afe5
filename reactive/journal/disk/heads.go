package disk

import (
	"context"
	"fmt"
	"iter"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// The number of heads that the first and each further access to the database reads. A caller often reads only one.
const (
	firstHeads = 8
	pageHeads  = 1024
)

// listed is a head of a page, or the error of reading it.
type listed struct {
	head journal.Head
	err  error
}

// Heads implements journal.Store. It reads only heads, never events: about a microsecond each. Each head is as of some moment
// of the iteration.
func (s *Store) Heads(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		var page []listed
		for most, more := firstHeads, true; more; most = pageHeads {
			err := ctx.Err()
			if err == nil {
				page, after, more, err = s.loadHeads(page[:0], after, most)
			}
			for _, one := range page {
				if !yield(one.head, one.err) {
					return
				}
			}
			if err != nil {
				yield(journal.Head{}, fmt.Errorf("list heads: %w", err))
				return
			}
		}
	}
}

// loadHeads appends the heads of the next streams after a name to page. It returns the name of the last stream read, and
// reports whether there may be more.
func (s *Store) loadHeads(page []listed, after string, most int) ([]listed, string, bool, error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return page, after, false, journal.ErrClosed
	}
	it, err := s.viewHeads(after)
	if err != nil {
		return page, after, false, readError(err)
	}
	defer it.Close()
	n := 0
	defer func() { s.headsRead.Add(int64(n)) }()
	for ok := it.First(); ok && n < most; ok = it.Next() {
		n++
		after = string(it.Key()[1:])
		h, err := headAt(it)
		if err != nil && journal.IsRun(after) { // heads of other streams are still readable
			h = journal.Head{Run: after}
		}
		if h.Run != "" {
			page = append(page, listed{h, s.readFault(err)})
		}
	}
	return page, after, n == most, s.readFault(readError(it.Error()))
}

// viewHeads opens an iterator over the heads of the streams after a name. It waits for a commit in progress, which could be
// visible before it is durable.
func (s *Store) viewHeads(after string) (*pebble.Iterator, error) {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	return s.db.NewIter(&pebble.IterOptions{
		LowerBound: append(appendHeadKey(nil, after), 0),
		UpperBound: []byte{spaceHeads + 1},
	})
}

// headAt returns the head at the iterator's position, or the zero Head for a stream without a head.
func headAt(it *pebble.Iterator) (h journal.Head, err error) {
	record, err := it.ValueAndErr()
	if err != nil {
		return h, readError(err)
	}
	return headIn(record, it.Key())
}

// headIn returns the head in a record found under key, or the zero Head if the record has none.
func headIn(record, key []byte) (h journal.Head, err error) {
	r, err := records.OpenHead(record, key)
	if err != nil || len(r.Encoded) == 0 {
		return h, err
	}
	if h, err = journal.DecodeHead(r.Encoded); err != nil {
		return h, fmt.Errorf("head of %s: %w", key[1:], err)
	}
	h.Last, h.First = r.Last, r.First
	return h, nil
}

// Head implements journal.ContentStore.
func (s *Store) Head(ctx context.Context, stream string) (h journal.Head, err error) {
	if err = ctx.Err(); err == nil {
		h, err = s.loadHead(stream)
	}
	if err == nil && h.Run == "" {
		err = journal.ErrNotFound
	}
	if err != nil {
		return journal.Head{}, fmt.Errorf("head of %s: %w", stream, err)
	}
	return h, nil
}

func (s *Store) loadHead(stream string) (h journal.Head, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return h, journal.ErrClosed
	}
	s.syncing.Lock() // as for viewHeads
	defer s.syncing.Unlock()
	s.headsRead.Add(1)
	h, err = s.headFrom(s.db, stream)
	return h, s.readFault(err)
}
