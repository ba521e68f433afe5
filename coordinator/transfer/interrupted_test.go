package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/kinds"
)

var errLost = errors.New("the power is gone")

// failing is a store in which only a number of writes succeed.
type failing struct {
	journal.ContentStore
	left int
}

func (f *failing) lost() error {
	if f.left--; f.left < 0 {
		return errLost
	}
	return nil
}

func (f *failing) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if err := f.lost(); err != nil {
		return 0, err
	}
	return f.ContentStore.Append(ctx, stream, after, events, head)
}

func (f *failing) AppendBehind(ctx context.Context, stream string, gap uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if err := f.lost(); err != nil {
		return 0, err
	}
	return f.ContentStore.AppendBehind(ctx, stream, gap, events, head)
}

func (f *failing) PutContent(ctx context.Context, stream string, blobs [][]byte) error {
	if err := f.lost(); err != nil {
		return err
	}
	return f.ContentStore.PutContent(ctx, stream, blobs)
}

// If the writing of a file is interrupted anywhere, a run that has not ended is held, no run with only a part of its events counts as
// ended, and the next import of the file completes it.
func TestAnInterruptedImportIsCompleted(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine reads megabytes again and again")
	}
	for name, populate := range map[string]func(testing.TB, *coordinator.Engine) []string{"every kind": populate, "ended": populateEnded} {
		t.Run(name, func(t *testing.T) {
			source := engine(t, memory.New())
			ids := populate(t, source)
			file := export(t, source, ids...)
			end(source)
			completes(t, file, ids)
		})
	}
}

// populateEnded starts runs that end, and are written in several parts: one with much, and one with a run below it.
func populateEnded(t testing.TB, e *coordinator.Engine) []string {
	chest := operation.Define("chest", func(_ context.Context, n int) (string, error) { return strings.Repeat("c", 850<<10+n), nil })
	items := flow.Each("items", flow.Value([]int{1, 2, 3, 4, 5}), func(n flow.Ref[int]) flow.Ref[string] { return flow.Call("put", chest, n) })
	one := flow.Value(1)
	much := flow.MustDefine("much", flow.Output(one), items)
	inner := flow.MustNew("inner", flow.Input[int](), flow.Output(one))
	sub := flow.Sub("", inner, flow.Value(1))
	for id, w := range map[string]*template.Workflow{"much": much, "outer": flow.MustDefine("outer", sub, flow.Output(sub))} {
		run, err := e.Start(context.Background(), w, nil, coordinator.WithID(id))
		require.NoError(t, err)
		result, err := run.Wait(context.Background())
		require.NoError(t, err)
		require.NoError(t, result.Err())
	}
	return []string{"much", "outer"}
}

// completes imports a file of runs into a store that fails after a number of writes, and then again: after every third number, and with
// SLUICE_EXHAUSTIVE after every one.
func completes(t *testing.T, file []byte, ids []string) {
	step := 3
	if os.Getenv("SLUICE_EXHAUSTIVE") != "" {
		step = 1
	}
	ctx := context.Background()
	whole := everything(t, storeOf(t, file))
	for n := 0; ; n += step {
		store := memory.New()
		_, err := transferOf(t, &failing{store, n}).Import(ctx, bytes.NewReader(file), "ann")
		if err == nil {
			require.Greater(t, n, 2*len(ids))
			return
		}
		require.ErrorIs(t, err, errLost)
		e := engine(t, store)
		for head, err := range store.Heads(ctx, "") {
			require.NoError(t, err)
			run, err := e.Run(ctx, head.Run)
			require.NoError(t, err)
			require.True(t, !head.Open || run.Held(), head.Run)
			if head.Last < whole[head.Run] {
				require.True(t, head.Open, head.Run)
				require.True(t, run.Incomplete(), head.Run)
			}
			if run.Incomplete() {
				refuses(t, e, run)
			}
		}
		_, err = importing(e, file)
		require.NoError(t, err, "after %d writes", n)
		require.True(t, bytes.Equal(file, export(t, e, ids...)), "after %d writes", n)
		require.Equal(t, whole, everything(t, store))
		for id := range whole {
			require.False(t, e.Incomplete(id), id)
		}
		end(e)
	}
}

// refuses checks that a run whose import was interrupted does not go on, and does not count as the run.
func refuses(t *testing.T, e *coordinator.Engine, run *coordinator.Run) {
	ctx, id := context.Background(), run.ID()
	require.False(t, run.Driven(), id)
	require.ErrorIs(t, run.Resume(ctx), coordinator.ErrIncomplete, id)
	require.ErrorIs(t, run.Cancel(ctx, ""), coordinator.ErrIncomplete, id)
	require.ErrorIs(t, e.Export(ctx, io.Discard, id), coordinator.ErrIncomplete, id)
	_, err := run.Rerun(ctx, coordinator.Rerun{Failed: true})
	require.ErrorIs(t, err, coordinator.ErrIncomplete, id)
}

// If the writing of a file is interrupted anywhere, the runs that it has left can be given up: they are deleted, and no run is held.
func TestAnInterruptedImportIsGivenUp(t *testing.T) {
	ctx := context.Background()
	source := engine(t, memory.New())
	file := export(t, source, populate(t, source)...)
	end(source)
	for n := 0; ; n++ {
		store := memory.New()
		_, err := transferOf(t, &failing{store, n}).Import(ctx, bytes.NewReader(file), "ann")
		if err == nil {
			return
		}
		require.ErrorIs(t, err, errLost)
		e := engine(t, store)
		var tops []string
		for head, err := range store.Heads(ctx, "") {
			require.NoError(t, err)
			if journal.ParentRun(head.Run) == "" {
				tops = append(tops, head.Run)
			}
		}
		for _, id := range tops {
			require.NoError(t, e.Delete(ctx, id), "%s after %d writes", id, n)
		}
		for head, err := range store.Heads(ctx, "") {
			t.Fatal(head, err)
		}
		for _, id := range tops {
			require.False(t, e.Held(id), id)
		}
		end(e)
	}
}

// The id of a run to be imported is free while the store has no part of it: a run that is started with the id goes on.
func TestARunMayTakeTheIdOfOneThatHasNotCome(t *testing.T) {
	source := engine(t, memory.New())
	file := export(t, source, populateEnded(t, source)...)
	end(source)
	store := memory.New()
	_, err := transferOf(t, &failing{store, 1}).Import(t.Context(), bytes.NewReader(file), "ann")
	require.ErrorIs(t, err, errLost)
	e := engine(t, store)
	require.True(t, e.Incomplete("outer"))
	checked, err := kinds.Load("done.yaml", []byte(documents["done"]), template.Known{Lenient: true})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("outer"))
	require.NoError(t, err)
	result, err := run.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, result.Err())
	require.False(t, e.Held("outer"))
	_, err = importing(e, file)
	require.ErrorIs(t, err, transfer.ErrOther)
	end(e)
}

// storeOf returns a store with the runs of a file.
func storeOf(t testing.TB, file []byte) journal.Store {
	store := memory.New()
	_, err := transferOf(t, store).Import(context.Background(), bytes.NewReader(file), "ann")
	require.NoError(t, err)
	return store
}

// Files with long lines, or with hashes that fit the changed lines, are refused, too.
func TestHostileFilesAreRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine reads many files of 10 MiB")
	}
	source := engine(t, memory.New())
	ids := populate(t, source)
	file := string(export(t, source, ids...))
	end(source)
	for name, hostile := range map[string]string{
		"10 MiB of a name":     strings.Replace(file, `{"run":"above"}`, `{"run":"`+strings.Repeat("a", 10<<20)+`"}`, 1),
		"10 MiB without sense": `{"` + strings.Repeat("x", 10<<20) + `":1}` + "\n",
		"no line feed":         strings.Repeat("[", 10<<20),
		"deep":                 `{"sluice":` + strings.Repeat("[", 1<<20) + "\n",
		"an id with a slash":   strings.ReplaceAll(file, `"run":"book"`, `"run":"b/ook"`),
		"an id of content":     strings.ReplaceAll(file, `"run":"above"`, `"run":"def"`),
		"an end that is none":  strings.Replace(file, `"type":"run.finished"`, `"type":"run.paused"`, 1),
		"another order":        file + file,
		"an unknown event":     strings.Replace(file, `"type":"call.requested"`, `"type":"content.stored"`, 1),
		"a field of another":   strings.Replace(file, `{"blob":"`, `{"version":3,"blob":"`, 1),
		"a negative attempt":   strings.Replace(file, `"attempt":1`, `"attempt":-1`, 1),
		"a snapshot of later":  strings.Replace(file, `"upto":`, `"upto":9`, 1),
		"a gap too many":       strings.Replace(file, `"events":`, `"events":1`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, file, hostile)
			imports(t, []byte(hostile))
			imports(t, repaired([]byte(hostile)))
		})
	}
}
