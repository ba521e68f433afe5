package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/index"
	"github.com/sluiceflow/sluice/reactive/journal/disk/live"
)

// Delete implements journal.Store. What stays is a record of a few bytes in the place of the head. It returns when that is synced;
// the space is free when Pebble has compacted the tables that hold the events.
func (s *Store) Delete(ctx context.Context, stream string) error {
	err := journal.CheckDelete(stream, &journal.Head{})
	if err == nil {
		err = s.alter(ctx, stream, deletionOfAll{})
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", stream, err)
	}
	return nil
}

// deletionOfAll is the removal of a stream.
type deletionOfAll struct{}

func (deletionOfAll) size() int { return 0 }

// stage makes a commit of the removal, unlike other changes, so that it is synced and in the change log.
func (deletionOfAll) stage(c *committer, b *pebble.Batch, stream string, t *live.Tip) error {
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
	written, err := index.Stage(b, c.before, nil)
	c.s.indexWritten.Add(int64(written))
	events, content := appendStreamPrefix(nil, stream), appendContentPrefix(nil, stream)
	key := appendHeadKey(nil, stream)
	err = errors.Join(err, b.DeleteRange(events, behind(events), nil), b.DeleteRange(content, behind(content), nil),
		b.Set(key, headRecord{last: t.Last, deleted: true}.append(nil, key), nil))
	if err == nil {
		t.Sum, t.Deleted = 0, true
		c.accept(live.Move{Stream: stream, Tip: t}, nil)
	}
	return err
}
