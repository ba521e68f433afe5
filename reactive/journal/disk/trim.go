package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// Trim implements journal.ContentStore. It deletes whole records. The records of event 1 and of event before stay, with any
// trimmed events in them, which are no longer read.
func (s *Store) Trim(ctx context.Context, stream string, before uint64) error {
	if err := s.commitChange(ctx, stream, trim{before}); err != nil {
		return fmt.Errorf("trim %s: %w", stream, err)
	}
	return nil
}

// trim removes the events from 2 to before-1.
type trim struct{ before uint64 }

func (trim) size() int { return 0 }

// stage replaces the head and deletes the records in one batch. The head distinguishes trimmed events from lost ones.
func (m trim) stage(c *committer, b *pebble.Batch, stream string, t *records.Tip) error {
	var head journal.Head
	if len(t.Head) > 0 {
		var err error
		if head, err = journal.DecodeHead(t.Head); err != nil {
			return err
		}
	}
	if err := journal.CheckTrim(&head, m.before); err != nil || m.before <= max(t.First, 2) {
		return err
	}
	from, to, err := c.trimmable(stream, m.before)
	if err != nil {
		return err
	}
	if from != nil {
		if err = b.DeleteRange(from, to, nil); err != nil {
			return err
		}
	}
	key := appendHeadKey(nil, stream)
	if err = b.Set(key, records.Head{Last: t.Last, First: m.before, Encoded: t.Head}.Append(nil, key), nil); err == nil {
		t.First = m.before
	}
	return err
}

// trimmable returns the range of keys of the records after the first that contain only events below before, or nil.
func (c *committer) trimmable(stream string, before uint64) (from, to []byte, err error) {
	prefix := appendStreamPrefix(nil, stream)
	it, err := c.s.db.NewIter(&pebble.IterOptions{LowerBound: appendEventsKey(nil, stream, 2), UpperBound: behind(prefix)})
	if err != nil {
		return nil, nil, readError(err)
	}
	if it.SeekLT(appendEventsKey(nil, stream, before+1)) { // the record with event before, or the last one before it
		to = append(to, it.Key()...)
		it.First()
		from = append(from, it.Key()...)
	}
	if bytes.Equal(from, to) {
		from = nil
	}
	return from, to, c.s.readFault(readError(errors.Join(it.Error(), it.Close())))
}
