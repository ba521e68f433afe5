package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// Delete implements journal.Store. It replaces the head by a record of a few bytes and returns when that is synced. The space
// is free when Pebble has compacted the tables with the events.
func (s *Store) Delete(ctx context.Context, stream string, t journal.Tombstone) error {
	err := journal.CheckDelete(stream, &journal.Head{})
	if err == nil {
		err = s.commitChange(ctx, stream, deletionOfAll{t})
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", stream, err)
	}
	return nil
}

// deletionOfAll is the removal of a stream.
type deletionOfAll struct{ journal.Tombstone }

func (deletionOfAll) size() int { return 0 }

// stage makes the removal a commit, unlike other changes, so that it is synced and in the change log.
func (d deletionOfAll) stage(c *committer, b *pebble.Batch, stream string, t *records.Tip) error {
	var head journal.Head
	if len(t.Head) > 0 {
		var err error
		if head, err = journal.DecodeHead(t.Head); err != nil {
			return err
		}
	}
	if err := journal.CheckDelete(stream, &head); err != nil {
		return err
	}
	c.before = c.keysOf(t)
	written, err := records.StageIndex(b, c.before, nil)
	c.s.indexWritten.Add(int64(written))
	key, gone := appendHeadKey(nil, stream), &journal.DeletedError{Tombstone: d.Tombstone}
	err = errors.Join(err, c.deleteAll(b, appendStreamPrefix(nil, stream), t.Last != t.Durable),
		c.deleteAll(b, appendContentPrefix(nil, stream), c.puts), b.Set(key, records.Head{Last: t.Last, Deleted: gone}.Append(nil, key), nil))
	if err == nil {
		t.Sum, t.Deleted = 0, gone
		c.accept(records.Move{Stream: stream, Tip: t}, nil)
	}
	return err
}

// deleteSingly bounds the records that are deleted one by one. A deleted range makes later reads slower, until it is compacted.
const deleteSingly = 64

// deleteAll deletes the records whose keys have a prefix. If staged is true, the batch may have such records, so it deletes the
// whole range.
func (c *committer) deleteAll(b *pebble.Batch, prefix []byte, staged bool) error {
	upper := behind(prefix)
	if staged {
		return b.DeleteRange(prefix, upper, nil)
	}
	it, err := c.s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: upper})
	if err != nil {
		return readError(err)
	}
	count := 0
	for ok := it.First(); ok && err == nil; ok = it.Next() {
		if count++; count > deleteSingly {
			err = b.DeleteRange(it.Key(), upper, nil)
			break
		}
		err = b.Delete(it.Key(), nil)
	}
	return errors.Join(err, c.s.readFault(readError(errors.Join(it.Error(), it.Close()))))
}
