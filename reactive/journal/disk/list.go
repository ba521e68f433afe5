package disk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// The number of heads that the first and each further access to the database reads.
const (
	listFirst = 128
	listMore  = 1024
)

// Work counts the operations of a Store, for tests and measurements.
type Work = records.Work

// Work returns the counts since the store was opened.
func (s *Store) Work() Work {
	return Work{HeadsRead: s.headsRead.Load(), IndexMade: s.indexMade.Load(), IndexWritten: s.indexWritten.Load(), BlobsRead: s.blobsRead.Load()}
}

// stageIndex adds the keys in which the new head of a stream differs from the old one. Most appends change no keys, and compute none.
func (c *committer) stageIndex(b *pebble.Batch, r *request, t *records.Tip) error {
	if len(r.head) == 0 || r.indexSum == t.Sum {
		return nil
	}
	c.before, c.after = c.keysOf(t), c.after[:0].Append(&r.indexed)
	c.s.indexMade.Add(1)
	written, err := records.StageIndex(b, c.before, c.after)
	c.s.indexWritten.Add(int64(written))
	t.Sum = r.indexSum
	return err
}

// keysOf returns the keys of the current head of a stream.
func (c *committer) keysOf(t *records.Tip) records.IndexKeys {
	if len(t.Head) > 0 {
		if h, err := journal.DecodeHead(t.Head); err == nil { // otherwise the old keys stay, and lists skip them
			return c.before[:0].Append(&h)
		}
	}
	return c.before[:0]
}

// logChanges adds the record of the change log to a batch.
func (c *committer) logChanges(b *pebble.Batch) error {
	c.log.Begin(c.number+1, time.Now().UnixNano())
	for i := range c.moves {
		if m := &c.moves[i]; journal.IsRun(m.Stream) {
			c.log.Add(m.Stream, m.Last)
		}
	}
	return c.log.Stage(c.s.db, b)
}

// List implements journal.Store. It reads only the heads that it yields, in pages.
func (s *Store) List(ctx context.Context, q journal.Query) iter.Seq2[journal.Head, error] {
	return func(yield func(journal.Head, error) bool) {
		err := journal.CheckQuery(&q)
		r := records.IndexRangeOf(&q)
		for most := listFirst; err == nil; most = listMore {
			var page []listed
			var more bool
			if err = ctx.Err(); err == nil {
				page, more, err = s.loadList(&q, &r, most)
			}
			for _, one := range page {
				if !yield(one.head, one.err) {
					return
				}
			}
			if err == nil && !more {
				return
			}
		}
		yield(journal.Head{}, fmt.Errorf("list runs: %w", err))
	}
}

// loadList reads the heads at the front of a range, and removes them from it. It reports whether there may be more.
func (s *Store) loadList(q *journal.Query, r *records.IndexRange, most int) (page []listed, more bool, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if err := s.listable(); err != nil {
		return nil, false, err
	}
	db := s.snapshot()
	defer db.Close()
	if q.Index == journal.ByRun {
		return s.loadRun(db, q)
	}
	places, err := r.Load(db, make([]journal.Position, 0, most), most)
	if err != nil {
		return nil, false, s.readFault(readError(err))
	}
	s.headsRead.Add(int64(len(places)))
	whole := journal.Query{Index: q.Index, Key: q.Key, Value: q.Value}
	for _, p := range places {
		h, err := s.headFrom(db, p.Run)
		switch {
		case err != nil:
			page = append(page, listed{journal.Head{Run: p.Run, Started: p.At}, s.readFault(err)})
		case whole.Selects(&h) && journal.PositionOf(q.Index, &h) == p: // otherwise the key is stale
			page = append(page, listed{h, nil})
		}
		r.GoOn(p)
	}
	return page, len(places) == most, nil
}

// loadRun reads the head of the run that a query names. If the head cannot be read, the instant is from the index.
func (s *Store) loadRun(db pebble.Reader, q *journal.Query) (page []listed, more bool, err error) {
	s.headsRead.Add(1)
	h, unreadable := s.headFrom(db, q.Key)
	if unreadable != nil {
		h, err = records.Indexed(db, q.Key)
	}
	if q.Selects(&h) {
		page = append(page, listed{h, s.readFault(unreadable)})
	}
	return page, false, s.readFault(readError(err))
}

// Published implements journal.Store.
func (s *Store) Published(ctx context.Context, begun string) iter.Seq2[string, error] {
	return records.Published(ctx, begun, func(use func(pebble.Reader) error) error {
		return swept{Store: s}.View(func(pebble.Reader) error {
			db := s.snapshot()
			return errors.Join(use(db), db.Close())
		})
	})
}

// snapshot returns the durable state of the database. It waits for a commit in progress.
func (s *Store) snapshot() *pebble.Snapshot {
	s.syncing.Lock()
	defer s.syncing.Unlock()
	return s.db.NewSnapshot()
}

// headFrom reads a head. It returns the zero Head if there is none.
func (s *Store) headFrom(db pebble.Reader, run string) (h journal.Head, err error) {
	key := appendHeadKey(nil, run)
	record, closer, err := db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return h, nil
	}
	if err != nil {
		return h, readError(err)
	}
	defer closer.Close()
	return headIn(record, key)
}

// listable returns an error if there are no lists.
func (s *Store) listable() error {
	switch {
	case s.closed.Load():
		return journal.ErrClosed
	case s.unlisted:
		return fmt.Errorf("its lists are not made yet: %w", s.refusal())
	}
	return nil
}

// Changes implements journal.Store.
func (s *Store) Changes(ctx context.Context, after journal.Place) iter.Seq2[journal.Change, error] {
	return func(yield func(journal.Change, error) bool) {
		var r *records.ChangeRange
		for {
			page, err := s.loadChanges(ctx, &r, after)
			for _, one := range page {
				if !yield(one, nil) {
					return
				}
			}
			if err != nil {
				yield(journal.Change{}, fmt.Errorf("read changes: %w", err))
			}
			if err != nil || len(page) == 0 {
				return
			}
		}
	}
}

// loadChanges reads the changes at the front of a range, which it creates if *r is nil. It returns no changes at the end of the range.
func (s *Store) loadChanges(ctx context.Context, r **records.ChangeRange, after journal.Place) ([]journal.Change, error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if err := errors.Join(ctx.Err(), s.listable()); err != nil {
		return nil, err
	}
	if *r == nil {
		first, err := records.ChangesBehind(s.db, after, s.newest.Load())
		if err != nil {
			return nil, s.readFault(readError(err))
		}
		*r = &first
	}
	page, err := (*r).Load(s.db, nil, listMore)
	return page, s.readFault(readError(err))
}

// Newest implements journal.Store.
func (s *Store) Newest(ctx context.Context) (journal.Place, error) {
	if err := errors.Join(ctx.Err(), s.listable()); err != nil {
		return "", fmt.Errorf("read changes: %w", err)
	}
	return records.PlaceOf(s.newest.Load()), nil
}

// AwaitChange implements journal.Store.
func (s *Store) AwaitChange(ctx context.Context, after journal.Place) error {
	grown, leave := s.live.Wait(records.AnyStream) // before reading, so that no change is missed
	defer leave()
	newest, err := s.Newest(ctx)
	if err == nil && newest == after {
		err = pause(ctx, s, grown)
	}
	return err
}
