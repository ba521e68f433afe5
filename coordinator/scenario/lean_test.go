package scenario

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	past "github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/coordinator/scenario/program"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template/value"
)

// largeStore is a store that treats every value as large, and counts the loaded values.
type largeStore struct {
	*memory.Store
	loaded, left int
}

func (s *largeStore) ReadLean(ctx context.Context, stream string, from uint64, needs func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range s.Read(ctx, stream, from) {
			if v := e.Value; err == nil && v != nil && journal.IsRun(stream) {
				hash, encoded, err := journal.HashOf(v)
				if err != nil {
					yield(e, err)
					return
				}
				e.Value = value.Large{Hash: hash, Bytes: len(encoded), Kind: "any"}
				if needs != nil && !needs(&e) {
					s.left++
				} else {
					s.loaded++
					e.Value = v
				}
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

func (s *largeStore) TailLean(ctx context.Context, stream string, from uint64, _ func(*journal.Event) bool) iter.Seq2[journal.Event, error] {
	return s.Tail(ctx, stream, from)
}

var _ journal.LeanStore = (*largeStore)(nil)

// replaced returns a value with the large values in place of their placeholders, as in the output of a map. It requires that the
// placeholders match the values.
func replaced(t *testing.T, what string, stands, v any) any {
	switch s := stands.(type) {
	case value.Large:
		hash, _, err := journal.HashOf(v)
		require.NoError(t, err)
		require.Equal(t, hash, journal.Hash(s.Hash), what)
		return v
	case []any:
		of, ok := v.([]any)
		require.True(t, ok && len(of) == len(s), what)
		out := slices.Clone(s)
		for i := range s {
			out[i] = replaced(t, what, s[i], of[i])
		}
		return out
	case map[string]any:
		of, ok := v.(map[string]any)
		require.True(t, ok && len(of) == len(s), what)
		out := maps.Clone(s)
		for key := range s {
			out[key] = replaced(t, what, s[key], of[key])
		}
		return out
	}
	return stands
}

// sameAs replaces the placeholders in lean by the values of whole, and requires that they match.
func sameAs(t *testing.T, what string, lean, whole *inspect.State) {
	put := func(of string, stands *any, v any) {
		*stands = replaced(t, what+": "+of, *stands, v)
	}
	put("the run", &lean.Output, whole.Output)
	require.Len(t, lean.Steps, len(whole.Steps), what)
	for i := range lean.Steps {
		put(whole.Steps[i].Step, &lean.Steps[i].Output, whole.Steps[i].Output)
	}
	require.Equal(t, whole, lean, what)
}

// For every scenario, states and explanations read without unneeded values equal those read with all values.
func TestWhatIsReadWithoutLargeValuesIsTheSame(t *testing.T) {
	all, err := Load("../../testdata/scenarios")
	require.NoError(t, err)
	left := map[string]int{}
	for _, s := range all {
		g := newExecution(s, Options{}, program.NewLibrary())
		g.execute()
		for _, track := range g.tracks {
			if len(track.journal) == 0 || len(track.given) > 0 {
				continue
			}
			store := memory.New()
			p := track.program.Plan
			_, err := store.Append(t.Context(), journal.DefinitionStream(p.Hash), 0, []journal.Event{{Type: journal.ContentStored, Value: p.Workflow.Document()}}, journal.Head{})
			require.NoError(t, err)
			_, err = store.Append(t.Context(), track.id, 0, slices.Clone(track.journal), journal.Head{Run: track.id})
			require.NoError(t, err)
			if len(track.content) > 0 {
				require.NoError(t, store.PutContent(t.Context(), track.id, slices.Collect(maps.Values(track.content))))
			}
			lean := &largeStore{Store: store}
			o := &observer{track, 1 << 62}
			compareLean(t, s.Name, track, o.read(t, store), o.read(t, lean))
			left[p.DocumentKind()] += lean.left
			require.NoError(t, store.Close())
		}
	}
	for _, kind := range []string{"Workflow", "Playbook", "World"} {
		require.Greater(t, left[kind], 500, kind)
	}
}

func callsOf(g *past.CallGraph) (calls []string) {
	for id := range int32(g.NodeCount()) {
		calls = append(calls, fmt.Sprintf("%s %+v", g.Key(id), g.Call(id)))
	}
	return calls
}

func compareLean(t *testing.T, name string, track *track, whole, lean *past.Reader) {
	ctx, run := t.Context(), track.id
	want, err := whole.State(ctx, run)
	require.NoError(t, err, name)
	got, err := lean.State(ctx, run)
	require.NoError(t, err, name)
	sameAs(t, name, got, want)
	wantCalls, err := whole.CallGraph(ctx, run)
	require.NoError(t, err, name)
	gotCalls, err := lean.CallGraph(ctx, run)
	require.NoError(t, err, name)
	require.Equal(t, callsOf(wantCalls), callsOf(gotCalls), name)
	for _, seq := range []uint64{1, uint64(len(track.journal)+1) / 2, uint64(len(track.journal))} {
		m := past.Moment{Seq: seq}
		want, err := whole.StateAt(ctx, run, m)
		require.NoError(t, err, name)
		got, err := lean.StateAt(ctx, run, m)
		require.NoError(t, err, name)
		sameAs(t, name, got, want)
		why, err := whole.ExplainAt(ctx, run, "", m)
		require.NoError(t, err, name)
		have, err := lean.ExplainAt(ctx, run, "", m)
		require.NoError(t, err, name)
		require.Equal(t, why, have, "%s at %d", name, seq)
	}
	for i := range want.Steps {
		why, err := whole.Explain(ctx, run, want.Steps[i].Step)
		have, err2 := lean.Explain(ctx, run, want.Steps[i].Step)
		require.Equal(t, err, err2, name)
		require.Equal(t, why, have, "%s: %s", name, want.Steps[i].Step)
	}
}
