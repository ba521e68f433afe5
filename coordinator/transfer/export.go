package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/sluiceflow/sluice/coordinator/holds"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/world/kept"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
)

// Config configures a Transfer.
type Config struct {
	Store    journal.Store      // that has the runs, or receives them
	Registry *registry.Registry // of the workflows in the store
	Holds    *holds.Holds       // of the store
	Lock     sync.Locker        // held while no content and no events of worlds are deleted
}

// Transfer exports and imports the runs of a store.
type Transfer struct{ Config }

// New returns a Transfer.
func New(c Config) *Transfer { return &Transfer{Config: c} }

// Export writes runs, each with those below it; for a run below another, all runs that belong to the same topmost run.
func (t *Transfer) Export(ctx context.Context, w io.Writer, runs ...string) error {
	all, err := t.families(ctx, runs)
	if err != nil {
		return err
	}
	a := archive.NewWriter(w, len(all))
	for _, run := range all {
		if err := t.exportOne(ctx, a, run); err != nil {
			return err
		}
	}
	return a.Close()
}

// families returns the runs and those that belong to them, in order of id.
func (t *Transfer) families(ctx context.Context, runs []string) (all []string, err error) {
	tops := map[string]bool{}
	for _, run := range runs {
		top := topOf(run)
		if tops[top] {
			continue
		}
		tops[top] = true
		if err := cmp.Or(t.Holds.Check(top), t.checkExists(ctx, top)); err != nil {
			return nil, err
		}
		all = append(all, top)
		for head, err := range t.Store.Heads(ctx, top+"/") {
			if head.Run != "" && !strings.HasPrefix(head.Run, top+"/") {
				break
			}
			if head.Run == "" {
				return nil, fmt.Errorf("find the runs below run %s: %w", top, err)
			}
			all = append(all, head.Run)
		}
	}
	slices.Sort(all)
	return all, nil
}

// topOf returns the topmost run, which no call has started, above a run.
func topOf(run string) string {
	top, _, _ := strings.Cut(run, "/")
	return top
}

// checkExists returns decide.ErrRunNotFound if there is no run with that id.
func (t *Transfer) checkExists(ctx context.Context, run string) error {
	if journal.IsRun(run) {
		for _, err := range t.Store.Read(ctx, run, 1) {
			return err
		}
	}
	return fmt.Errorf("%w: %s", decide.ErrRunNotFound, run)
}

func (t *Transfer) exportOne(ctx context.Context, a *archive.Writer, run string) error {
	keeper, ok := t.Store.(journal.ContentStore)
	if ok {
		if head, err := keeper.Head(ctx, run); err == nil && head.Snapshot > 0 {
			t.Lock.Lock()
			defer t.Lock.Unlock()
		}
	}
	return a.Run(ctx, t.Store, run, func(start *journal.Start, snapshots []journal.Event) ([]journal.Hash, error) {
		if !ok {
			return nil, errors.New("the store keeps no content")
		}
		entry, err := t.Registry.Read(ctx, start.Workflow, start.Children)
		if err != nil {
			return nil, err
		}
		return needed(entry.Plan, start, snapshots, func(hash journal.Hash) ([]byte, error) { return keeper.Content(ctx, run, hash) })
	})
}

// needed returns the hashes of the content that the newest snapshot and the one before it need.
func needed(p *plan.Plan, start *journal.Start, snapshots []journal.Event, fetch kept.Fetch) ([]journal.Hash, error) {
	def, isWorld := machine.Of(p.Workflow)
	if !isWorld {
		return nil, fmt.Errorf("event %d is a snapshot, and the run is of no world", snapshots[0].Seq)
	}
	var newest *kept.Snapshot
	bySeq := map[uint64]*kept.Snapshot{}
	for i := range snapshots {
		s, err := kept.SnapshotOf(def, start, &snapshots[i])
		if err != nil {
			return nil, err
		}
		bySeq[snapshots[i].Seq] = s
		if newest == nil || s.Upto >= newest.Upto {
			newest = s
		}
	}
	seen := map[trie.Hash]bool{{}: true, trie.Empty: true}
	for _, s := range []*kept.Snapshot{newest, bySeq[newest.Before]} {
		if s == nil {
			continue
		}
		err := s.Mark(fetch, func(hash trie.Hash) bool {
			known := seen[hash]
			seen[hash] = true
			return !known
		})
		if err != nil {
			return nil, kept.Damaged(err)
		}
	}
	delete(seen, trie.Hash{})
	delete(seen, trie.Empty)
	list := make([]journal.Hash, 0, len(seen))
	for hash := range seen {
		list = append(list, journal.Hash(hash))
	}
	return list, nil
}
