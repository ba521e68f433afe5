package live_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/live"
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

const document = `
kind: Workflow
name: w
steps:
  - {operation: a}
  - parallel: {steps: [{operation: b, timing: {retry: {max_attempts: 2}}}, {operation: c}]}
  - map: {id: m, over: "{{ [1, 2] }}", steps: [{operation: d}]}
  - conditional: {id: g, test: "{{ steps.c.output > 1 }}", then: [{operation: e}], else: [{operation: f}]}
  - {operation: h}`

// keys are the keys of all tested signals, including steps that do not exist, or not yet.
var keys = []string{"a", "b", "c", "m", "m[0].d", "m[1].d", "m[2].d", "g", "e", "f", "h", "nothing"}

func root(t require.TestingT, text string) *reactive.Root {
	checked, err := template.Load("test.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return reactive.New(p)
}

// shown has the values of the signals of a step.
type shown struct {
	status               reactive.Status
	ready, needs, blocks bool
	result               any
}

func peek[T any](t require.TestingT, c *signals.Computed[T]) T {
	v, err := c.Peek()
	require.NoError(t, err)
	return v
}

func show(t require.TestingT, x *live.StepSignals) shown {
	return shown{peek(t, x.Status), peek(t, x.Ready), peek(t, x.Preconditions), peek(t, x.BlockedByFailure), peek(t, x.Result)}
}

// fromRoot returns the same values from the root.
func fromRoot(r *reactive.Root, key string) (s shown) {
	v, ok := r.Node(key)
	if !ok {
		return shown{}
	}
	s = shown{status: r.Status(v), ready: r.Status(v) == reactive.Ready, needs: r.Preconditions(v), blocks: r.Blocked(v)}
	if s.status == reactive.Completed {
		s.result = r.Output(v)
	}
	return s
}

// After each event of any run, each signal has the value in the root, and an effect has run at most once, and only if a signal that
// it reads has changed.
func TestSignalsShowWhatTheRootSays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := root(t, document)
		s := live.Of(r)
		require.Same(t, s, live.Of(r))
		require.Same(t, r, s.Root())
		asked := map[string]*live.StepSignals{}
		ran, was := map[string]int{}, map[string]shown{}
		askFor := func(key string) {
			x := s.Step(key)
			require.Same(t, x, s.Step(key))
			if asked[key] != nil {
				return
			}
			asked[key] = x
			_, err := s.Graph().Effect(func(rd signals.Reader) error {
				ran[key]++
				status, err := x.Status.Get(rd)
				needs, needsErr := x.Preconditions.Get(rd)
				require.Equal(t, fromRoot(r, key).status, status, "effects see all changes of an event at once")
				require.Equal(t, fromRoot(r, key).needs, needs)
				return errors.Join(err, needsErr)
			})
			require.NoError(t, err)
			was[key] = show(t, x)
		}
		seq := uint64(0)
		apply := func(e journal.Event) {
			seq++
			e.Seq = seq
			clear(ran)
			r.Apply(&e)
			for key, x := range asked {
				now := show(t, x)
				require.Equal(t, fromRoot(r, key), now, key)
				changed := now.status != was[key].status || now.needs != was[key].needs
				require.Equal(t, map[bool]int{true: 1}[changed], ran[key], key)
				was[key] = now
			}
			require.NoError(t, s.Err())
		}
		for _, key := range rapid.SliceOfDistinct(rapid.SampledFrom(keys), rapid.ID).Draw(t, "asked before") {
			askFor(key)
		}
		apply(journal.Event{Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})
		var open []int32
		t.Repeat(map[string]func(*rapid.T){
			"ask": func(t *rapid.T) {
				key := rapid.SampledFrom(keys).Draw(t, "key")
				askFor(key)
				require.Equal(t, fromRoot(r, key), show(t, asked[key]))
			},
			"request": func(t *rapid.T) {
				v, ok := r.NextStart(nil)
				if !ok {
					t.Skip("nothing may start")
				}
				open = append(open, v)
				apply(journal.Event{Type: journal.CallRequested, Node: r.Key(v), Attempt: r.Attempt(v) + 1})
			},
			"end": func(t *rapid.T) {
				if len(open) == 0 {
					t.Skip("nothing is open")
				}
				e := journal.Event{Type: journal.CallResponded, Node: r.Key(open[0]), Attempt: r.Attempt(open[0])}
				if open = open[1:]; rapid.IntRange(0, 4).Draw(t, "outcome") == 0 {
					e.Type, e.Detail = journal.CallError, &journal.Detail{Failure: &journal.Failure{Code: "x", Retryable: true}}
				} else {
					e.Value = rapid.Int64Range(0, 3).Draw(t, "output")
				}
				apply(e)
			},
			"retry": func(t *rapid.T) {
				v := rapid.Int32Range(0, r.Len()-1).Draw(t, "node")
				if !r.Retryable(v) {
					t.Skip("it has not ended")
				}
				apply(journal.Event{Type: journal.NodeRetried, Node: r.Key(v)})
			},
			"repeat": func(t *rapid.T) { // a repeated event changes nothing
				apply(journal.Event{Type: journal.RunResumed, Detail: &journal.Detail{}})
			},
		})
		apply(journal.Event{Type: journal.RunCancelled, Detail: &journal.Detail{}})
	})
}

// Errors of effects are kept. They stop neither the root nor other effects.
func TestErrorsOfEffectsAreKept(t *testing.T) {
	r := root(t, `{kind: Workflow, name: w, steps: [{operation: a}]}`)
	s := live.Of(r)
	var others int
	for _, name := range []string{"first", "second"} {
		_, err := s.Graph().Effect(func(rd signals.Reader) error {
			status, err := s.Step("a").Status.Get(rd)
			if status == reactive.Ready {
				return fmt.Errorf("the %s effect", name)
			}
			others++
			return err
		})
		require.NoError(t, err)
	}
	r.Apply(&journal.Event{Seq: 1, Type: journal.RunStarted, Detail: &journal.Detail{Start: &journal.Start{Run: "r"}}})
	require.ErrorContains(t, s.Err(), "the first effect")
	require.ErrorContains(t, s.Err(), "the second effect")
	r.Apply(&journal.Event{Seq: 2, Type: journal.CallRequested, Node: "a", Attempt: 1})
	require.Equal(t, 4, others)
	require.ErrorContains(t, s.Err(), "the first effect", "it is not forgotten")
	require.Equal(t, reactive.Running, peek(t, s.Step("a").Status))
}
