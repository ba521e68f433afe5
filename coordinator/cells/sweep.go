package cells

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// Sweep deletes the content of the run that its last two snapshots do not need. If dry is true, it only counts. It returns the numbers of
// blobs that it has kept, and has deleted or would have deleted. The world goes on meanwhile, but makes no snapshot.
func (h Handle) Sweep(ctx context.Context, dry bool) (kept, deleted int, err error) {
	storage := h.run.Storage()
	storage.Lock.Lock()
	defer storage.Lock.Unlock()
	if err := h.keeps(ctx, storage.Content); err != nil {
		return 0, 0, err
	}
	var needed map[journal.Hash]bool
	var unknown error // the reason that the needed hashes are unknown
	err = storage.Content.SweepContent(ctx, h.run.ID(), func(hash journal.Hash) bool {
		if needed == nil && unknown == nil { // only now: the store spares the blobs that the world puts from now on
			needed, unknown = h.mark(ctx, storage.Content)
		}
		if needed[hash] || unknown != nil {
			kept++
			return true
		}
		deleted++
		return dry || storage.Dry
	})
	if err = cmp.Or(unknown, err); err != nil {
		return 0, 0, err
	}
	return kept, deleted, nil
}

// keeps returns an error if the run cannot be swept or trimmed: it is no world, or its store keeps no content.
func (h Handle) keeps(ctx context.Context, content journal.ContentStore) error {
	_, err := look(ctx, h.run, func(*world.World) struct{} { return struct{}{} })
	if err == nil && content == nil {
		err = errNoContent
	}
	return err
}

// mark returns the hashes of the content that the world needs.
func (h Handle) mark(ctx context.Context, content journal.ContentStore) (map[journal.Hash]bool, error) {
	of, err := look(ctx, h.run, (*world.World).Kept)
	if err != nil || of == nil {
		return map[journal.Hash]bool{}, err
	}
	before, err := snapshotAt(ctx, content, h.run.ID(), of.Before)
	if err != nil {
		return nil, err
	}
	return of.Mark(before)
}

// snapshotAt reads the event of a snapshot; nil for 0.
func snapshotAt(ctx context.Context, store journal.Store, run string, seq uint64) (*journal.Event, error) {
	if seq == 0 {
		return nil, nil
	}
	for e, err := range store.Read(ctx, run, seq) {
		if err == nil && e.Type != journal.WorldSnapshotted {
			err = fmt.Errorf("%w: event %d is no snapshot", journal.ErrDamaged, seq)
		}
		return &e, err
	}
	return nil, fmt.Errorf("%w: event %d of a snapshot is missing", journal.ErrDamaged, seq)
}

// KeepEvents is the default minimum number of events of a world that stay in its journal.
const KeepEvents = 1_000_000

// Trimmed are the events that Trim has deleted, or would delete.
type Trimmed struct {
	From, To uint64 // sequences of the first and the last; 0: there are none
}

// Trim deletes the events of the run that its last two snapshots have replaced, except the first and the keep newest. Zero means
// the number configured in the program that goes on with the run: if that is another, nothing is deleted. Negative
// means all. If dry is true, Trim deletes nothing. It returns which events it has deleted, or would have. The world goes on
// meanwhile.
func (h Handle) Trim(ctx context.Context, keep int, dry bool) (Trimmed, error) {
	storage := h.run.Storage()
	storage.Lock.RLock()
	defer storage.Lock.RUnlock()
	keep = cmp.Or(keep, storage.KeepEvents, KeepEvents)
	of, err := look(ctx, h.run, (*world.World).Kept)
	switch {
	case err != nil:
		return Trimmed{}, err
	case storage.Content == nil:
		return Trimmed{}, errNoContent
	case of == nil || of.Before == 0 || keep < 0:
		return Trimmed{}, nil
	}
	head, err := storage.Content.Head(ctx, h.run.ID())
	if err != nil || uint64(keep) >= head.Last {
		return Trimmed{}, err
	}
	before, err := snapshotAt(ctx, storage.Content, h.run.ID(), of.Before)
	if err != nil {
		return Trimmed{}, err
	}
	gone := Trimmed{From: max(head.First, 2), To: min(world.Upto(before), head.Last-uint64(keep))}
	switch {
	case gone.To < gone.From:
		return Trimmed{}, nil
	case dry || storage.Dry:
		return gone, nil
	}
	return gone, storage.Content.Trim(ctx, h.run.ID(), gone.To+1)
}
