package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

var errLost = errors.New("the power is gone")

// failing is a store in which only so many writes succeed.
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

// Wherever the writing of a file ends: what has not ended is held, no run that has only a part has ended, and the next import of the
// file completes it.
func TestAnInterruptedImportIsCompleted(t *testing.T) {
	ctx := context.Background()
	source := engine(t, memory.New())
	ids := populate(t, source)
	file := export(t, source, ids...)
	whole := everything(t, storeOf(t, file))
	end(source)
	for n := 0; ; n++ {
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
			require.Equal(t, head.Open, e.Held(head.Run), head.Run)
			if head.Last < whole[head.Run] {
				require.True(t, head.Open, head.Run)
			}
		}
		_, err = importing(e, file)
		require.NoError(t, err, "after %d writes", n)
		require.Equal(t, string(file), string(export(t, e, ids...)), "after %d writes", n)
		require.Equal(t, whole, everything(t, store))
		end(e)
	}
}

// Wherever the writing of a file ends, what it has left can be given up: it is deleted, and nothing is held.
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

// storeOf returns a store with the runs of a file.
func storeOf(t testing.TB, file []byte) journal.Store {
	store := memory.New()
	_, err := transferOf(t, store).Import(context.Background(), bytes.NewReader(file), "ann")
	require.NoError(t, err)
	return store
}

// Lines that are long, and hashes that fit what was changed, do not help a file.
func TestHostileFilesAreRefused(t *testing.T) {
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
