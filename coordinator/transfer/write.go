package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
)

// batchBytes is the approximate number of bytes of events, and of content, that are written at a time.
const batchBytes = 4 << 20

// writer writes the runs of a file that was surveyed.
type writer struct {
	t    *Transfer
	ctx  context.Context
	runs map[string]*run

	now   *run // the run that is being written; nil: the store has it
	to    *archive.Appender
	batch []journal.Event
	bytes int
	blobs [][]byte
}

// stored writes a definition. Large values are written with their events.
func (w *writer) stored(s *archive.Stored) error {
	hash := journal.DefinitionIn(s.Stream)
	if hash == "" {
		return nil
	}
	if err := w.t.Registry.StoreDefinition(w.ctx, hash, func() any { return s.Value }); err != nil {
		return &failure{err}
	}
	return nil
}

func (w *writer) begin(id string) error {
	w.now, w.batch, w.bytes, w.blobs = w.runs[id], nil, 0, nil
	if w.now == nil {
		return &failure{fmt.Errorf("%w: it changes while it is read", archive.ErrRefused)}
	}
	w.to = archive.NewAppender(w.t.Store, id, w.now.have)
	if w.now.state == there {
		w.now = nil
	}
	return nil
}

// event adds an event to the batch.
func (w *writer) event(f *fold, e *journal.Event, size int) error {
	if w.now == nil || e.Seq <= w.now.have {
		return nil
	}
	if w.bytes > 0 && w.bytes+size > batchBytes {
		if err := w.flush(f, w.incompleteHead(f)); err != nil {
			return err
		}
	}
	w.batch = append(w.batch, *e)
	w.bytes += size
	return nil
}

// content keeps a blob, after the events that need it.
func (w *writer) content(f *fold, data []byte) error {
	if w.now == nil {
		return nil
	}
	if len(w.batch) > 0 {
		if err := w.flush(f, w.incompleteHead(f)); err != nil {
			return err
		}
	}
	if w.bytes+len(data) > batchBytes || len(w.blobs) == journal.PutMaxBlobs {
		if err := w.put(f); err != nil {
			return err
		}
	}
	w.blobs = append(w.blobs, data)
	w.bytes += len(data)
	return nil
}

// end writes the remaining content and events, and the head.
func (w *writer) end(f *fold, head journal.Head) error {
	if w.now == nil {
		return nil
	}
	if err := w.put(f); err != nil {
		return err
	}
	return w.flush(f, head)
}

// put puts the blobs.
func (w *writer) put(f *fold) error {
	if len(w.blobs) == 0 {
		return nil
	}
	keeper, ok := w.t.Store.(journal.ContentStore)
	if !ok {
		return &failure{errors.New("the store keeps no content")}
	}
	if err := keeper.PutContent(w.ctx, f.start.Run, w.blobs); err != nil {
		return &failure{err}
	}
	w.blobs, w.bytes = nil, 0
	return nil
}

// incompleteHead returns the head of the run while it is incomplete.
func (w *writer) incompleteHead(f *fold) journal.Head {
	h := f.incompleteHead()
	h.Snapshot = w.now.kept // the events of a world begin behind a gap only if it has one
	if n := len(w.batch); n > 0 {
		h.Updated = w.batch[n-1].At // the fold may be one event ahead
	}
	return h
}

// flush writes the batch, with a head.
func (w *writer) flush(f *fold, head journal.Head) error {
	if err := w.to.Append(w.ctx, w.batch, head, w.incompleteHead(f)); err != nil {
		return &failure{err}
	}
	w.batch, w.bytes = nil, 0
	return nil
}

func hashOf(data []byte) journal.Hash { return sha256.Sum256(data) }
