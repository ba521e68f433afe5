package disk

import (
	"context"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// Size implements journal.Store. It reads all records of the stream.
func (s *Store) Size(ctx context.Context, stream string) (bytes int64, err error) {
	add := func(key, record []byte) error { bytes += int64(len(key) + len(record)); return nil }
	w := &journal.StreamSweep{}
	for _, prefix := range [][]byte{appendStreamPrefix(nil, stream), appendContentPrefix(nil, stream)} {
		if err == nil {
			err = records.Pages(ctx, swept{s, w}, w, records.Range{Lower: prefix, Upper: behind(prefix)}, add)
		}
	}
	if err != nil {
		err = fmt.Errorf("size of %s: %w", stream, err)
	}
	return bytes, err
}

// SweepStreams implements journal.Store. If there is content, it reads all events, in pages, and holds nothing between the
// pages: once for each quarter of a million content streams.
func (s *Store) SweepStreams(ctx context.Context, w *journal.StreamSweep) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	s.committer.watch(map[string]bool{}) // no append is in progress: all content and references are in the database, or are noted from now on
	defer s.committer.watch(nil)
	if err := records.Sweep(ctx, swept{s, w}, w); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// swept is a Store that is being swept.
type swept struct {
	*Store
	sweep *journal.StreamSweep
}

// View implements records.Swept.
func (s swept) View(use func(db pebble.Reader) error) error {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return journal.ErrClosed
	}
	return s.readFault(readError(use(s.db)))
}

// Drop implements records.Swept.
func (s swept) Drop(ctx context.Context, stream string) (deleted bool, err error) {
	d := &unreferred{sweep: s.sweep}
	err = s.commitChange(ctx, stream, d)
	return d.deleted, err
}

// Expire implements records.Swept.
func (s swept) Expire(ctx context.Context, stream string) error {
	return s.commitChange(ctx, stream, expiry{s.sweep.Now})
}

// unreferred deletes a stream of content to which no event refers.
type unreferred struct {
	sweep   *journal.StreamSweep
	deleted bool
}

func (*unreferred) size() int { return 0 }

// stage checks the streams referred to since the mark: the committer writes nothing else between this and the deletion.
func (d *unreferred) stage(c *committer, b *pebble.Batch, stream string, _ *records.Tip) error {
	if d.deleted = !c.referred[stream] && !d.sweep.Spares(stream); !d.deleted || d.sweep.Dry {
		return nil
	}
	c.s.live.Renew(stream)
	return b.Delete(appendEventsKey(nil, stream, 1), nil)
}

// expiry deletes the tombstone of a free id.
type expiry struct{ now int64 }

func (expiry) size() int { return 0 }

func (x expiry) stage(c *committer, b *pebble.Batch, stream string, t *records.Tip) error {
	if t.Deleted == nil || !t.Deleted.Free(x.now) {
		return nil // a run with this id has begun meanwhile
	}
	c.s.live.Renew(stream)
	return b.Delete(appendHeadKey(nil, stream), nil)
}

// watch makes the committer note appended and referenced content in a set. A nil set ends that.
func (c *committer) watch(set map[string]bool) {
	c.turn.Lock()
	c.referred = set
	c.unlock()
}

// note notes the content of r and its references, also if r is not accepted: a conflict proves to a caller that content exists.
func (c *committer) note(r *request) {
	if c.referred == nil {
		return
	}
	for _, stream := range r.refers {
		c.referred[stream] = true
	}
	if r.change == nil && journal.IsContent(r.stream) {
		c.referred[r.stream] = true
	}
}

// begins reports whether r begins a stream in place of a tombstone.
func (r *request) begins(gone *journal.DeletedError) bool {
	return r.change == nil && r.after == 0 && len(r.record) > 0 && gone.Free(r.first)
}
