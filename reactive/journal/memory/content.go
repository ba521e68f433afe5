package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// PutContent implements journal.ContentStore.
func (s *Store) PutContent(ctx context.Context, name string, blobs [][]byte) error {
	hashes, err := journal.CheckContent(name, blobs)
	if err != nil {
		return fmt.Errorf("put content of %s: %w", name, err)
	}
	copies := make([][]byte, len(blobs))
	for i, blob := range blobs {
		copies[i] = slices.Clone(blob)
	}
	s.sweeps.Put(name, hashes)
	return s.change(ctx, "put content of", name, func(st *stream) error {
		if st.content == nil {
			st.content = map[journal.Hash][]byte{}
		}
		for i, hash := range hashes {
			st.content[hash] = copies[i]
		}
		return nil
	})
}

// Content implements journal.ContentStore. It does not check the hash, since the bytes cannot have changed.
func (s *Store) Content(ctx context.Context, name string, hash journal.Hash) (content []byte, err error) {
	err = s.change(ctx, "content of", name, func(st *stream) error {
		kept, ok := st.content[hash]
		if !ok {
			return fmt.Errorf("%w: %x", journal.ErrNotFound, hash)
		}
		content = bytes.Clone(kept)
		return nil
	})
	return content, err
}

// SweepContent implements journal.ContentStore.
func (s *Store) SweepContent(ctx context.Context, name string, keep func(journal.Hash) bool) error {
	sweep := s.sweeps.Begin(name)
	defer sweep.End()
	var hashes []journal.Hash
	err := s.change(ctx, "sweep content of", name, func(st *stream) error {
		hashes = slices.SortedFunc(maps.Keys(st.content), func(a, b journal.Hash) int { return bytes.Compare(a[:], b[:]) })
		return nil
	})
	hashes = slices.DeleteFunc(hashes, keep)
	if err != nil {
		return err
	}
	return s.change(ctx, "sweep content of", name, func(st *stream) error {
		for _, hash := range hashes {
			if !sweep.Spares(hash) {
				delete(st.content, hash)
			}
		}
		return nil
	})
}

// Trim implements journal.ContentStore. It frees events in chunks, so up to 1,023 trimmed events stay in memory.
func (s *Store) Trim(ctx context.Context, name string, before uint64) error {
	return s.change(ctx, "trim", name, func(st *stream) error {
		if err := journal.CheckTrim(&st.head, before); err != nil {
			return err
		}
		if before > max(st.log.first, 2) {
			st.log = st.log.trimmed(before)
			st.head.First = before
		}
		return nil
	})
}

// Head implements journal.ContentStore.
func (s *Store) Head(ctx context.Context, name string) (head journal.Head, err error) {
	if err = s.usable(ctx); err == nil {
		if st, ok := s.streams.Load(name); ok {
			head = st.(*stream).headNow()
		}
		if head.Run == "" {
			err = journal.ErrNotFound
		}
	}
	if err != nil {
		return journal.Head{}, fmt.Errorf("head of %s: %w", name, err)
	}
	return head, nil
}

// change calls do with an existing stream, under its lock. The error names the operation, doing, and the stream.
func (s *Store) change(ctx context.Context, doing, name string, do func(*stream) error) error {
	err := s.usable(ctx)
	if err == nil {
		err = journal.ErrNotFound
		if st, ok := s.streams.Load(name); ok {
			err = st.(*stream).locked(do)
		}
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", doing, name, err)
	}
	return nil
}

// locked calls do under the lock, or returns an error if the stream has no event.
func (s *stream) locked(do func(*stream) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.log.deleted != nil:
		return s.log.deleted
	case s.log.last == 0:
		return journal.ErrNotFound
	}
	return do(s)
}
