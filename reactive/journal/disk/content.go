package disk

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// change is the effect of a request other than an append on an existing stream. The committer writes it to the log in the order of
// the queue; the next append syncs it: see writeLater.
type change interface {
	stage(c *committer, b *pebble.Batch, stream string, t *records.Tip) error
	size() int // bytes
}

// stageChange adds the change of r, whose stream ends at t, to the batch.
func (c *committer) stageChange(b *pebble.Batch, r *request, t *records.Tip) error {
	if t.Last == 0 {
		return journal.ErrNotFound
	}
	return r.change.stage(c, b, r.stream, t)
}

// commitChange commits a change of a stream.
func (s *Store) commitChange(ctx context.Context, stream string, what change) error {
	r := requests.Get().(*request)
	r.stream, r.change = stream, what
	if err := s.writable(ctx, r.adds()); err != nil {
		r.release()
		return err
	}
	r.headKey = appendHeadKey(r.headKey[:0], stream)
	return s.commit(ctx, r)
}

// putBytes bounds the bytes of blobs that are written at a time, so that other callers do not wait for all.
const putBytes = 1 << 20

// PutContent implements journal.ContentStore. It returns when the blobs are in Pebble's log, which the next append syncs.
func (s *Store) PutContent(ctx context.Context, stream string, blobs [][]byte) error {
	hashes, err := journal.CheckContent(stream, blobs)
	if err == nil {
		s.sweeps.Put(stream, hashes)
		err = putAll(ctx, s, stream, hashes, blobs)
	}
	if err != nil {
		return fmt.Errorf("put content of %s: %w", stream, err)
	}
	return nil
}

// putAll puts blobs, a part at a time. If there are no blobs, an empty part checks that the stream exists.
func putAll(ctx context.Context, s *Store, stream string, hashes []journal.Hash, blobs [][]byte) error {
	part := new(put)
	for i, blob := range blobs {
		if part.add(stream, hashes[i], blob); part.bytes < putBytes || i == len(blobs)-1 {
			continue
		}
		if err := s.commitChange(ctx, stream, part); err != nil {
			return err
		}
		part = new(put)
	}
	return s.commitChange(ctx, stream, part)
}

// put is the change that writes content.
type put struct {
	keys, records [][]byte
	bytes         int
}

func (p *put) add(stream string, hash journal.Hash, blob []byte) {
	key := appendContentKey(make([]byte, 0, len(stream)+2+sha256.Size), stream, hash)
	record := append(beginRecord(make([]byte, 0, recordHeader+len(blob))), blob...)
	seal(record, key)
	p.keys, p.records = append(p.keys, key), append(p.records, record)
	p.bytes += len(record)
}

func (p *put) size() int { return p.bytes }

func (p *put) stage(c *committer, b *pebble.Batch, _ string, _ *records.Tip) error {
	c.puts = true
	for i, key := range p.keys {
		if err := b.Set(key, p.records[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// Content implements journal.ContentStore.
func (s *Store) Content(ctx context.Context, stream string, hash journal.Hash) (content []byte, err error) {
	if err = ctx.Err(); err == nil {
		content, err = s.kept(stream, hash)
	}
	if err != nil {
		return nil, fmt.Errorf("content %x of %s: %w", hash, stream, err)
	}
	return content, nil
}

func (s *Store) kept(stream string, hash journal.Hash) (content []byte, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return nil, journal.ErrClosed
	}
	key := appendContentKey(nil, stream, hash)
	found, err := s.get(key, func(record []byte) error {
		inside, err := openContent(record, key, hash)
		content = append([]byte(nil), inside...)
		return err
	})
	if err == nil && !found {
		err = journal.ErrNotFound
	}
	return content, err
}

// openContent checks a record of content found under key. The returned content is part of the record.
func openContent(record, key []byte, hash journal.Hash) ([]byte, error) {
	content, err := unseal(record, key)
	if err == nil && sha256.Sum256(content) != hash {
		err = fmt.Errorf("%w: it has another hash", journal.ErrDamaged)
	}
	return content, err
}

// pageContent is the number of hashes that one access to the database reads.
const pageContent = 1024

// SweepContent implements journal.ContentStore. It reads all content of the stream once, in pages. Other callers wait at most
// for the deletion of one page.
func (s *Store) SweepContent(ctx context.Context, stream string, keep func(journal.Hash) bool) error {
	if err := sweepContent(ctx, s, stream, keep); err != nil {
		return fmt.Errorf("sweep content of %s: %w", stream, err)
	}
	return nil
}

func sweepContent(ctx context.Context, s *Store, stream string, keep func(journal.Hash) bool) error {
	sweep := s.sweeps.Begin(stream)
	defer sweep.End()
	prefix := appendContentPrefix(nil, stream)
	for from := prefix; from != nil; {
		page, next, err := s.loadHashes(prefix, from)
		if err != nil {
			return err
		}
		d := &deletion{sweep: sweep}
		for _, hash := range page {
			if !keep(hash) {
				d.hashes = append(d.hashes, hash)
			}
		}
		if err = s.commitChange(ctx, stream, d); err != nil {
			return err
		}
		from = next
	}
	return nil
}

// loadHashes reads a page of the hashes of a stream's content from a key on. It returns the key of the next page, or nil.
func (s *Store) loadHashes(prefix, from []byte) (page []journal.Hash, next []byte, err error) {
	s.life.RLock()
	defer s.life.RUnlock()
	if s.closed.Load() {
		return nil, nil, journal.ErrClosed
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: behind(prefix)})
	if err != nil {
		return nil, nil, readError(err)
	}
	defer it.Close()
	for ok := it.First(); ok; ok = it.Next() {
		if len(page) == pageContent {
			return page, append(next, it.Key()...), nil
		}
		if hash, ours := hashOf(it.Key(), prefix); ours {
			page = append(page, hash)
		}
	}
	return page, nil, s.readFault(readError(it.Error()))
}

// deletion deletes a page of content.
type deletion struct {
	sweep  *journal.Sweep
	hashes []journal.Hash
}

func (d *deletion) size() int { return len(d.hashes) * sha256.Size }

// stage reads the hashes that are being put: the committer writes nothing else between this and the deletion.
func (d *deletion) stage(c *committer, b *pebble.Batch, stream string, _ *records.Tip) error {
	for _, hash := range d.hashes {
		if d.sweep.Spares(hash) {
			continue
		}
		c.key = appendContentKey(c.key[:0], stream, hash)
		if err := b.Delete(c.key, nil); err != nil {
			return err
		}
	}
	return nil
}
