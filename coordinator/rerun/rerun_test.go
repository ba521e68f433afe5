package rerun_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/rerun"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

// counted is an engine whose operations count their calls. An operation fails for the inputs in fails.
type counted struct {
	*coordinator.Engine
	store journal.Store
	mu    sync.Mutex
	calls []string // "operation input"
	fails map[string]bool

	answer func(op, in string) int64 // nil: an operation returns its input
}

func (c *counted) do(name string) coordinator.Operation {
	return operation.Define(name, func(_ context.Context, in any) (any, error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		call := fmt.Sprint(name, " ", in)
		c.calls = append(c.calls, call)
		if c.fails[call] {
			return nil, errors.New("no")
		}
		if c.answer != nil {
			return c.answer(name, fmt.Sprint(in)), nil
		}
		return in, nil
	})
}

// made returns the calls since the last time.
func (c *counted) made() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func newCounted(t testing.TB, fails ...string) *counted {
	c := &counted{store: memory.New(), fails: map[string]bool{}}
	for _, f := range fails {
		c.fails[f] = true
	}
	c.open(t)
	return c
}

func (c *counted) open(t testing.TB) {
	e, err := coordinator.New(t.Context(), c.store, coordinator.Config{Logger: slog.New(slog.DiscardHandler), Operations: []coordinator.Operation{
		c.do("a"), c.do("b"), c.do("c"), c.do("d"), c.do("e"),
	}})
	require.NoError(t, err)
	c.Engine = e
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.WithoutCancel(t.Context()))) })
}

func parse(t testing.TB, text string) *template.Workflow {
	w, err := template.Parse("", []byte(text))
	require.NoError(t, err)
	return w
}

func (c *counted) run(t testing.TB, w *template.Workflow, input any) (*coordinator.Run, *coordinator.Result) {
	r, err := c.Start(t.Context(), w, input)
	require.NoError(t, err)
	result, err := r.Wait(t.Context())
	require.NoError(t, err)
	return r, result
}

// again reruns a run, compares the steps that ran with the preview, and returns the calls.
func (c *counted) again(t testing.TB, r *coordinator.Run, what coordinator.Rerun) (*coordinator.Run, *coordinator.Result, []string) {
	preview, err := r.PreviewRerun(t.Context(), what)
	require.NoError(t, err)
	require.Empty(t, c.made(), "a preview makes no calls")
	next, err := r.Rerun(t.Context(), what)
	require.NoError(t, err)
	result, err := next.Wait(t.Context())
	require.NoError(t, err)
	holds(t, next, preview)
	return next, result, c.made()
}

// holds requires that the steps that ran were among Will and May of a preview.
func holds(t require.TestingT, r *coordinator.Run, p *rerun.Preview) {
	said := map[string]bool{}
	for _, list := range [][]rerun.Step{p.Will, p.May} {
		for _, s := range list {
			said[s.Step] = true
		}
	}
	past := uint64(0)
	for e, err := range r.Events(context.Background(), 1) {
		require.NoError(t, err)
		if e.Type == journal.RunStarted && e.Detail.Start.From != nil {
			past = uint64(e.Detail.Start.From.Kept) + 1
		}
		if e.Type == journal.CallRequested && e.Seq > past {
			require.True(t, said[e.Node] || said[pattern(e.Node)] || said[task(e.Node)], "%s ran, and %+v did not say so", e.Node, p)
		}
	}
}

const chain = `
kind: Workflow
name: chain
steps:
  - {operation: a, input: "{{ input.a }}"}
  - {operation: b, input: "{{ steps.a.output + 1 }}"}
  - {operation: c, input: "{{ steps.b.output + 1 }}"}
output: "{{ steps.c.output }}"
`

func TestFromAStepKeepsWhatIsBefore(t *testing.T) {
	c := newCounted(t)
	r, result := c.run(t, parse(t, chain), map[string]any{"a": 1})
	require.EqualValues(t, 3, result.Output)
	require.Equal(t, []string{"a 1", "b 2", "c 3"}, c.made())

	next, result, calls := c.again(t, r, coordinator.Rerun{From: "b"})
	require.EqualValues(t, 3, result.Output)
	require.Equal(t, []string{"b 2", "c 3"}, calls)

	require.NoError(t, c.Delete(t.Context(), r.ID()))
	_, result, calls = c.again(t, next, coordinator.Rerun{Only: "b"})
	require.EqualValues(t, 3, result.Output)
	require.Equal(t, []string{"b 2"}, calls)
}

// pattern returns the key of a step of a map in a preview that does not know its items.
func pattern(key string) string {
	id, rest, _ := strings.Cut(key, "[")
	return id + strings.Repeat("[*]", strings.Count("["+rest, "["))
}
