package starting_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/limits"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/starting"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

const waits = `{kind: Workflow, name: w, operations: {m: {wait: {message: never}}}, steps: [{operation: m}]}`

func parse(t *testing.T, text string) *template.Workflow {
	w, err := template.Parse("test.yaml", []byte(text))
	require.NoError(t, err)
	return w
}

// tollgate is a store whose first append to run r waits until the test sends its error.
type tollgate struct {
	journal.Store
	once sync.Once
	ends chan error
}

func (g *tollgate) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	var err error
	if stream == "r" {
		g.once.Do(func() { err = <-g.ends })
	}
	if err != nil {
		return 0, err
	}
	return g.Store.Append(ctx, stream, after, events, head)
}

// TestAStartWaitsForAnEarlierOne: while the first start of an id is not durable, an equal start waits and returns the same run,
// and a different one waits and is refused with the difference. If the first fails, the id is free.
func TestAStartWaitsForAnEarlierOne(t *testing.T) {
	for _, end := range []error{nil, journal.ErrReadOnly} {
		synctest.Test(t, func(t *testing.T) {
			g := &tollgate{Store: memory.New(), ends: make(chan error)}
			e, err := coordinator.New(t.Context(), g, coordinator.Config{})
			require.NoError(t, err)
			w := parse(t, waits)
			begin := func(ctx context.Context, input any) <-chan error {
				answered := make(chan error, 1)
				go func() {
					_, err := e.Start(ctx, w, input, coordinator.WithID("r"))
					answered <- err
				}()
				synctest.Wait()
				return answered
			}
			first := begin(t.Context(), 1)
			ctx, cancel := context.WithCancel(t.Context())
			impatient := begin(ctx, 1)
			cancel()
			require.ErrorIs(t, <-impatient, context.Canceled)
			var same, other []<-chan error
			for range 20 {
				same = append(same, begin(t.Context(), 1))
			}
			if end == nil {
				other = append(other, begin(t.Context(), 2), begin(t.Context(), 3))
			}
			g.ends <- end
			require.Equal(t, end, errors.Unwrap(errors.Unwrap(<-first)), "only the first fails")
			for _, answered := range same {
				require.NoError(t, <-answered)
			}
			for _, answered := range other {
				var exists *coordinator.ExistsError
				require.ErrorAs(t, <-answered, &exists)
				require.Equal(t, "its input differs", exists.Difference)
			}
			require.NoError(t, e.Shutdown(t.Context()))
		})
	}
}

func TestOfConcurrentStartsOneWins(t *testing.T) {
	store, err := disk.Open(t.TempDir(), disk.Config{FreeFloorBytes: -1})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), store, coordinator.Config{})
	require.NoError(t, err)
	w := parse(t, waits)
	answered := make(chan error)
	for i := range 100 {
		go func() {
			_, err := e.Start(t.Context(), w, i, coordinator.WithID("r"))
			answered <- err
		}()
	}
	won := 0
	for range 100 {
		err := <-answered
		if err == nil {
			won++
			continue
		}
		var exists *coordinator.ExistsError
		require.ErrorAs(t, err, &exists)
	}
	require.Equal(t, 1, won)
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestExistsErrorNamesTheDifference(t *testing.T) {
	echo := operation.Define("echo", func(_ context.Context, in any) (any, error) { return in, nil })
	e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{Operations: []coordinator.Operation{echo}})
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
	const first = `{kind: Workflow, name: w, steps: [{operation: echo}]}`
	input := map[string]any{"lines": []any{"a", map[string]any{"b": 1}}, "note": "secret"}
	_, err = e.Start(t.Context(), parse(t, first), input, coordinator.WithID("r"))
	require.NoError(t, err)
	for _, test := range []struct {
		text  string
		input any
		want  string
	}{
		{first, map[string]any{"lines": []any{"a", map[string]any{"b": 2}}, "note": "secret"}, "its input differs at /lines/1/b"},
		{first, map[string]any{"lines": []any{"a"}, "note": "secret"}, "its input differs at /lines/1"},
		{first, map[string]any{"lines": []any{"a", map[string]any{"b": 1}}}, "its input differs at /note"},
		{first, 7, "its input differs"},
		{`{kind: Workflow, name: v, steps: [{operation: echo}]}`, input, "it is a run of workflow w, not of v (hash "},
		{`{kind: Workflow, name: w, steps: [{operation: echo, id: x}]}`, input, "it is a run of another version of workflow w (hash "},
	} {
		_, err := e.Start(t.Context(), parse(t, test.text), test.input, coordinator.WithID("r"))
		require.ErrorIs(t, err, coordinator.ErrRunExists)
		var exists *coordinator.ExistsError
		require.ErrorAs(t, err, &exists)
		require.Equal(t, "r", exists.Run)
		require.Contains(t, exists.Difference, test.want)
		require.NotContains(t, err.Error(), "secret", "the error does not show values")
	}
}

// A start or a message has no key by default; the id of a run with a key follows from it.
func TestTheIDFollowsFromTheKey(t *testing.T) {
	entry := &registry.Entry{}
	ids := map[string]bool{}
	for _, key := range []string{"a", "a", "b"} {
		var o starting.Options
		require.NoError(t, o.Apply([]starting.Option{starting.KeyOption(key), nil}))
		_, err := o.Complete(entry, nil)
		require.NoError(t, err)
		require.True(t, o.Named())
		require.Equal(t, limits.IDOf(key), o.ID)
		ids[o.ID] = true
	}
	require.Len(t, ids, 2)
	for range 2 {
		var o starting.Options
		_, err := o.Complete(entry, nil)
		require.NoError(t, err)
		require.False(t, o.Named())
		ids[o.ID] = true
	}
	require.Len(t, ids, 4)

	var o starting.Options
	require.ErrorIs(t, o.Apply([]starting.Option{starting.KeyOption("a"), starting.Func(func(o *starting.Options) { o.ID = "r" })}), limits.ErrRefused)
}
