package retention_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// between is a store that calls functions between the reads and writes of a deletion.
type between struct {
	*memory.Store
	size     func(run string)       // before the size of a run is read, behind its family
	deleting func(run string) error // before a run is deleted; its error is the store's
	append   func(run string, events []journal.Event)
}

func (b *between) Size(ctx context.Context, run string) (int64, error) {
	if b.size != nil {
		b.size(run)
	}
	return b.Store.Size(ctx, run)
}

func (b *between) Delete(ctx context.Context, run string, t journal.Tombstone) error {
	if b.deleting != nil {
		if err := b.deleting(run); err != nil {
			return err
		}
	}
	return b.Store.Delete(ctx, run, t)
}

func (b *between) Append(ctx context.Context, run string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if b.append != nil {
		b.append(run, events)
	}
	return b.Store.Append(ctx, run, after, events, head)
}

// parent runs a child that can be made to fail, so that its step can be attempted again.
type parent struct {
	*coordinator.Run
	store  *between
	engine *coordinator.Engine
	sound  bool
}

func newParent(t *testing.T) *parent {
	dir := t.TempDir()
	child := "{kind: Workflow, name: child, operations: {work: {}}, steps: [{operation: work}]}"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "child.yaml"), []byte(strings.Replace(child, "operations: {work: {}}, ", "", 1)), 0o600))
	w, err := template.Parse(filepath.Join(dir, "parent.yaml"),
		[]byte("{kind: Workflow, name: parent, operations: {below: {workflow: {path: child.yaml}}}, steps: [{id: step, operation: below}]}"))
	require.NoError(t, err)
	p := &parent{store: &between{Store: memory.New()}}
	work := operation.Define("work", func(context.Context, any) (string, error) {
		if !p.sound {
			return "", operation.Permanent(context.Canceled)
		}
		return "done", nil
	})
	p.engine, err = coordinator.New(t.Context(), p.store, coordinator.Config{
		Logger: slog.New(slog.DiscardHandler), Operations: []coordinator.Operation{work},
	})
	require.NoError(t, err)
	require.NoError(t, p.engine.Keep(t.Context(), retention.Rule{Keep: 0}, "ann"))
	p.Run, err = p.engine.Start(t.Context(), w, nil, coordinator.WithID("p"))
	require.NoError(t, err)
	result, err := p.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, reactive.RunFailed, result.Status)
	require.Equal(t, "p p/step#1", p.left(t))
	p.sound = true
	return p
}

// left returns the ids of the existing runs.
func (p *parent) left(t *testing.T) string { return left(t, p.store) }

// goesOn requires that the run goes on to its end, and that the child of each attempt exists.
func (p *parent) goesOn(t *testing.T) {
	result, err := p.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, reactive.RunCompleted, result.Status)
	require.Equal(t, "p p/step#1 p/step#2", p.left(t))
}

func (p *parent) end(t *testing.T) {
	require.NoError(t, p.engine.Shutdown(context.WithoutCancel(t.Context())))
}

// A retry that arrives after the run below was deleted waits, and finds no run.
func TestARetryBehindADeletionFindsNoRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParent(t)
		defer p.end(t)
		retried := make(chan error, 1)
		p.store.deleting = func(run string) error {
			if run == "p" {
				go func() { retried <- p.Retry(t.Context(), "step") }()
				synctest.Wait()
				require.Empty(t, retried, "it waits")
			}
			return nil
		}
		require.NoError(t, p.engine.Delete(t.Context(), "p"))
		require.ErrorIs(t, <-retried, journal.ErrDeleted)
		require.Empty(t, p.left(t))
	})
}

// A run that is about to be opened again is not deleted, and keeps the runs below it.
func TestADeletionBesideARetryIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParent(t)
		defer p.end(t)
		tried := false
		p.store.append = func(run string, events []journal.Event) {
			if run == "p" && !tried {
				tried = true
				require.ErrorContains(t, p.engine.Delete(t.Context(), "p"), "run p is about to change; try again")
				_, err := p.engine.Collect(t.Context(), retention.Collection{})
				require.NoError(t, err)
			}
		}
		require.NoError(t, p.Retry(t.Context(), "step"))
		require.True(t, tried)
		p.goesOn(t)
		p.store.append = nil
		require.NoError(t, p.engine.Delete(t.Context(), "p"))
		require.Empty(t, p.left(t))
	})
}

// A run that has gone on since a collection found it stays, with the runs below it.
func TestARetryBehindWhatACollectionHasFoundIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newParent(t)
		defer p.end(t)
		p.store.size = func(string) {
			p.store.size = nil
			require.NoError(t, p.Retry(t.Context(), "step"))
			_, err := p.Wait(t.Context()) // it has even ended again
			require.NoError(t, err)
		}
		done, err := p.engine.Collect(t.Context(), retention.Collection{})
		require.NoError(t, err)
		require.Zero(t, done.Runs)
		p.goesOn(t)
	})
}

// A deletion that the store has cut short may be made again, and a run that it has left can be attempted again.
func TestADeletionThatWasCutShort(t *testing.T) {
	for _, again := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newParent(t)
			defer p.end(t)
			p.store.deleting = func(run string) error {
				if run == "p" {
					return journal.ErrReadOnly
				}
				return nil
			}
			require.ErrorIs(t, p.engine.Delete(t.Context(), "p"), journal.ErrReadOnly)
			require.Equal(t, "p", p.left(t))
			p.store.deleting = nil
			if again {
				require.NoError(t, p.engine.Delete(t.Context(), "p"))
				require.Empty(t, p.left(t))
				return
			}
			require.NoError(t, p.Retry(t.Context(), "step"))
			result, err := p.Wait(t.Context())
			require.NoError(t, err)
			require.Equal(t, reactive.RunCompleted, result.Status)
			require.Equal(t, "p p/step#2", p.left(t))
		})
	}
}
