package disk

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// rebuildingKey exists while the indexes are rebuilt: if the process dies meanwhile, they are incomplete.
var rebuildingKey = []byte("rebuilding")

// logEvery is the number of runs after which a rebuild logs its progress.
const logEvery = 100_000

// Rebuild implements journal.Store. It takes about three seconds for a million runs, and appends wait meanwhile.
func (s *Store) Rebuild(ctx context.Context) error {
	err := s.writable(ctx, true)
	if err == nil {
		s.committer.turn.Lock()
		defer s.committer.unlock()
		if err = journal.ErrClosed; !s.committer.ended {
			err = s.rebuild(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("rebuild indexes: %w", err)
	}
	return nil
}

// rebuild makes all indexes from the heads. No commit may be in progress.
func (s *Store) rebuild(ctx context.Context) error {
	b := s.db.NewBatch()
	defer b.Close()
	err := errors.Join(b.Set(rebuildingKey, nil, nil), records.DropChangeLog(b),
		b.DeleteRange([]byte{records.IndexSpace}, []byte{records.IndexSpace + 1}, nil))
	if err == nil {
		err = s.write(b, true)
	}
	var page []listed
	var keys records.IndexKeys
	runs := 0
	for after, more := "", true; more && err == nil; {
		if err = ctx.Err(); err == nil {
			page, after, more, err = s.loadHeads(page[:0], after, pageHeads)
		}
		for i := range page {
			if page[i].err != nil {
				continue // it is in no list until its head is rebuilt
			}
			keys = keys[:0].Append(&page[i].head)
			written, stageErr := records.StageIndex(b, nil, keys)
			s.indexWritten.Add(int64(written))
			err = errors.Join(err, stageErr)
		}
		if before := runs; (before+len(page))/logEvery > before/logEvery {
			s.log.Info("the lists of runs are made anew", "dir", s.dir, "runs", before+len(page))
		}
		runs += len(page)
		if err == nil && b.Len() > rawBatchBytes {
			err = s.write(b, false)
		}
	}
	if err == nil {
		err = b.Delete(rebuildingKey, nil)
	}
	if err == nil {
		err = s.write(b, true)
	}
	return err
}

// Rebuild makes all indexes from the heads.
func (r *Raw) Rebuild(ctx context.Context) error {
	r.changed = false
	err := r.s.rebuild(ctx)
	if err == nil {
		err = records.WriteVersion(r.s.files, r.s.dir)
	}
	return err
}

// Indexes returns an error if the indexes do not follow from the heads. It returns nil for a directory of an older program,
// which has no indexes, and if Close rebuilds them. It calls rest from time to time, and returns its error.
func (r *Raw) Indexes(ctx context.Context, rest func(context.Context) error) error {
	if r.version < records.NewestVersion || r.changed {
		return nil
	}
	c := records.IndexCheck{DB: r.s.db}
	for after, more := "", true; more; {
		var page []listed
		err := rest(ctx)
		if err == nil {
			page, after, more, err = r.s.loadHeads(nil, after, pageHeads)
		}
		for i := 0; i < len(page) && err == nil; i++ {
			if page[i].err == nil {
				err = c.Add(&page[i].head)
			} else {
				c.Unknown = true
			}
		}
		if err != nil {
			return readError(err)
		}
	}
	return readError(c.End())
}

// write writes a batch and empties it. If durable is true, it waits for a sync. The log does not report a failed write: see stood.
func (s *Store) write(b *pebble.Batch, durable bool) error {
	if err := s.commits.Apply(s.db, b, durable); err != nil {
		return s.fail(s.dir, err)
	}
	b.Reset()
	return s.checkWritten()
}

// complete makes missing or incomplete indexes of a directory, and then raises its version, because an older program would not
// update them.
func (s *Store) complete(version int) error {
	partly, err := s.get(rebuildingKey, func([]byte) error { return nil })
	if err != nil || version == records.NewestVersion && !partly {
		return err
	}
	if s.refusal() != nil {
		s.unlisted = true
		return nil
	}
	if err := s.rebuild(context.Background()); err != nil {
		return err
	}
	return records.WriteVersion(s.files, s.dir)
}
