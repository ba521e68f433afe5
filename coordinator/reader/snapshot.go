package reader

import (
	"context"
	"iter"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// NewRoot returns the root of a run without events. A world can read the content that the store keeps for it.
func (r *Reader) NewRoot(ctx context.Context, id string, entry *registry.Entry) *reactive.Root {
	root := decide.NewRoot(entry.Plan)
	r.giveContent(ctx, id, root)
	if cells := root.Cells(); cells != nil {
		cells.Serve(r.process.Host(id, entry, root))
	}
	return root
}

func (r *Reader) giveContent(ctx context.Context, id string, root *reactive.Root) {
	content, ok := r.store.(journal.ContentStore)
	if w := world.Of(root); ok && w != nil {
		w.Content(func(hash journal.Hash) ([]byte, error) { return content.Content(context.WithoutCancel(ctx), id, hash) })
	}
}

// sinceSnapshot yields the first event of a run, that of its newest snapshot if it has one, and the events that come after
// what the snapshot holds. The event of a snapshot is among those again.
func (r *Reader) sinceSnapshot(ctx context.Context, id string) iter.Seq2[journal.Event, error] {
	content, ok := r.store.(journal.ContentStore)
	if !ok {
		return r.store.Read(ctx, id, 1)
	}
	head, err := content.Head(ctx, id)
	if err != nil || head.Snapshot == 0 { // a damaged head is no reason not to read the events
		return r.store.Read(ctx, id, 1)
	}
	return func(yield func(journal.Event, error) bool) {
		from := uint64(0)
		for _, seq := range []uint64{1, head.Snapshot} {
			for e, err := range r.store.Read(ctx, id, seq) {
				if !yield(e, err) || err != nil {
					return
				}
				from = world.Upto(&e) + 1
				break
			}
		}
		for e, err := range r.store.Read(ctx, id, from) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// restoring applies the events of sinceSnapshot to a root. It writes the first error to failed, after which it does nothing.
func (r *Reader) restoring(ctx context.Context, id string, root **reactive.Root, failed *error) func(*reactive.Root) func(*journal.Event) {
	return func(of *reactive.Root) func(*journal.Event) {
		*root = of
		r.giveContent(ctx, id, of)
		return func(e *journal.Event) {
			switch {
			case *failed != nil:
				return
			case e.Type == journal.WorldSnapshotted && of.Seq() == 1:
				if _, *failed = world.Of(of).Restore(e); *failed != nil || e.Seq != of.Seq()+1 {
					return
				}
			}
			of.Apply(e)
			if cells := of.Cells(); cells != nil {
				*failed = cells.Err()
			}
		}
	}
}
