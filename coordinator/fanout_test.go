package coordinator_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
)

type offer struct {
	By    string `json:"by"`
	Price int    `json:"price"`
}

// quote answers differently for each participant.
var quote = operation.Define("quote", func(ctx context.Context, _ any) (offer, error) {
	c := operation.CallOf(ctx)
	switch c.Participant {
	case "broken":
		return offer{}, &operation.Error{Code: "broken", Permanent: true}
	case "away":
		return offer{}, operation.ErrUnreachable
	}
	return offer{By: c.Participant, Price: len(c.Participant)}, nil
})

func TestTheBestOfSeveralAnswersWins(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{quote}})
	w := parse(t, `
kind: Workflow
name: ask
directory:
  participants: {abcd: {}, ab: {}, abc: {}, broken: {}, away: {}}
  capabilities: {offers: [{participant: abcd}, {participant: ab}, {participant: broken}, {participant: away}, {participant: abc, revoked: true}]}
steps:
  - operation: quote
    target: {resolve: capability, capability_id: offers}
    fan_in: {policy: best_of, score_field: /price, score_order: asc}
    timing: {timeout: PT1M}
output: "{{ steps.quote.output.by }}"`)
	result := run(t, e, w, nil)
	require.NoError(t, result.Err())
	require.Equal(t, "ab", result.Output)
}

func TestAFanOutIsAskedAgainAfterARestart(t *testing.T) {
	g := newGate()
	config := coordinator.Config{Operations: []coordinator.Operation{g.define("ask")}}
	store := &kept{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	r := start(t, e, `
kind: Workflow
name: w
steps: [{operation: ask, target: {resolve: static, participants: [a, b]}, fan_in: {policy: all}}]
output: "{{ steps.ask.output.responses }}"`)
	keys := map[string]bool{(<-g.entered).Key(): true, (<-g.entered).Key(): true}
	require.Len(t, keys, 2)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	for range 2 {
		require.True(t, keys[(<-g.entered).Key()], "the calls have the same keys")
		g.leave <- nil
	}
	r, err = e.Run(t.Context(), r.ID())
	require.NoError(t, err)
	require.Equal(t, []any{"ask done", "ask done"}, wait(t, r).Output)
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestAPersonDecidesWhetherATaskIsDone(t *testing.T) {
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo}})
	r := start(t, e, `
kind: Workflow
name: w
steps:
  - {operation: echo, id: contract, fulfillment: {policy: external_decision, decision_source: {kind: operator}, on_not_fulfilled: pause}}
  - {operation: echo, id: next, input: done}`)
	require.ErrorIs(t, r.As("ann").Decide(t.Context(), "next", true, ""), coordinator.ErrNotPossible)
	require.NoError(t, untilStatus(t, r, reactive.RunWaiting))
	require.NoError(t, r.As("ann").Decide(t.Context(), "contract", false, "not signed"))
	require.NoError(t, untilStatus(t, r, reactive.RunPaused))
	require.NoError(t, r.As("bob").Decide(t.Context(), "contract", true, "signed after all"))
	require.NoError(t, wait(t, r).Err())
	var actors []string
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		if e := u.Event; e.Type == journal.DecisionReceived || e.Type == journal.DecisionOverridden {
			actors = append(actors, e.Type.String()+" "+e.Detail.Actor)
		}
	}
	require.Equal(t, []string{"decision.received ann", "decision.overridden bob"}, actors)
}

func TestADecisionSourceIsCalledWithItsOwnInput(t *testing.T) {
	verify := operation.Define("verify", func(ctx context.Context, in map[string]string) (map[string]bool, error) {
		return map[string]bool{"ok": in["commit"] == "abc" && operation.CallOf(ctx).Decision == 1}, nil
	})
	e := newEngine(t, coordinator.Config{Operations: []coordinator.Operation{echo, verify}})
	r := start(t, e, `
kind: Workflow
name: w
steps:
  - operation: echo
    input: {commit: abc}
    fulfillment:
      policy: external_decision
      decision_source: {kind: capability, capability_id: verify, input: {commit: {from: /steps/echo/output/commit}}}
      result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}`)
	require.NoError(t, wait(t, r).Err())
}

// untilStatus watches a run until it has status want.
func untilStatus(t *testing.T, r *coordinator.Run, want reactive.RunStatus) error {
	for u, err := range r.Watch(t.Context(), 1) {
		if err != nil || u.Status == want {
			return err
		}
	}
	t.Fatalf("the run never was %s", want)
	return nil
}

func TestAChildRunIsACall(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "child.yaml"), []byte(`
kind: Workflow
name: child
input: {type: object, required: [n]}
steps: [{operation: slow}, {operation: echo, input: "{{ input.n * 2 }}"}]
output: "{{ steps.echo.output }}"`), 0o600))
	parent := `
kind: Workflow
name: parent
operations: {double: {workflow: {path: child.yaml}}}
steps: [{operation: double, input: "{{ input }}"}]
output: "{{ steps.double.output }}"`
	w, err := template.Parse(filepath.Join(dir, "parent.yaml"), []byte(parent))
	require.NoError(t, err)
	g := newGate()
	config := coordinator.Config{Operations: []coordinator.Operation{echo, g.define("slow")}}
	store := &kept{Store: memory.New()}
	e, err := coordinator.New(t.Context(), store, config)
	require.NoError(t, err)

	r, err := e.Start(t.Context(), w, map[string]int{"n": 21}, coordinator.WithID("p"))
	require.NoError(t, err)
	child := <-g.entered
	require.Equal(t, "p/double#1", child.Run)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))

	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	require.Equal(t, child.Key(), (<-g.entered).Key(), "the same child goes on")
	g.leave <- nil
	r, err = e.Run(t.Context(), r.ID())
	require.NoError(t, err)
	require.EqualValues(t, 42, wait(t, r).Output)

	r, err = e.Start(t.Context(), w, map[string]int{"n": 1}, coordinator.WithID("cancelled"))
	require.NoError(t, err)
	call := <-g.entered
	require.NoError(t, r.Cancel(t.Context(), "no more"))
	require.Equal(t, reactive.RunAborted, wait(t, r).Status)
	c, err := e.Run(t.Context(), "cancelled/double#1")
	require.NoError(t, err)
	require.Equal(t, reactive.RunAborted, wait(t, c).Status)
	<-call.Done()

	r, err = e.Start(t.Context(), w, map[string]int{"m": 1}, coordinator.WithID("refused"))
	require.NoError(t, err)
	require.Equal(t, coordinator.CodeChildFailed, wait(t, r).Failure.Code)
	require.NoError(t, e.Shutdown(t.Context()))
}
