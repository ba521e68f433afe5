package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
)

// crowd counts the calls in progress of operations that take a moment.
type crowd struct {
	mu        sync.Mutex
	now, most map[string]int
}

func (c *crowd) define(name string) coordinator.Operation {
	return operation.Define(name, func(ctx context.Context, in any) (map[string]bool, error) {
		c.add(name, 1)
		defer c.add(name, -1)
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Duration(1+rand.IntN(20)) * time.Millisecond):
		}
		if rand.IntN(8) == 0 {
			return nil, errors.New("not today")
		}
		return map[string]bool{"ok": true}, nil
	})
}

func (c *crowd) add(name string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now == nil {
		c.now, c.most = map[string]int{}, map[string]int{}
	}
	c.now[name] += n
	c.most[name] = max(c.most[name], c.now[name])
}

// TestRoomIsBoundedAndEveryRunEnds runs random workflows of plain calls, fan-outs, decision calls, sleeps and child runs
// concurrently, with room for few calls and with processes that end in between: there are never more calls in progress than there
// is room for, nor more decision calls, and every run ends.
func TestRoomIsBoundedAndEveryRunEnds(t *testing.T) {
	dir := written(t, map[string]string{"child.yaml": "{kind: Workflow, name: child, steps: [{operation: work}, {operation: work, id: again}]}"})
	steps := []string{
		"{operation: work, id: %s, timing: {retry: {max_attempts: 9, backoff: PT0.01S}}}",
		"{operation: work, id: %s, target: {resolve: static, participants: [a, b, c, d]}, fan_in: {policy: any_one}}",
		"{operation: work, id: %s, target: {resolve: static, participants: [a, b, c]}, fan_in: {policy: quorum, min_responses: 2}, timing: {timeout: PT5S}}",
		"{operation: work, id: %s, fulfillment: {policy: external_decision, decision_source: {kind: automatic, operation: decide}, " +
			"result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}}}",
		"{operation: nap, id: %s}",
		"{operation: below, id: %s}",
	}
	for seed := range uint64(30) {
		synctest.Test(t, func(t *testing.T) {
			random, c := rand.New(rand.NewPCG(seed, 0)), &crowd{}
			room := 1 + random.IntN(3)
			store := &kept{Store: memory.New()}
			open := func() *coordinator.Engine {
				e, err := coordinator.New(t.Context(), store, coordinator.Config{
					CallsMax: room, Operations: []coordinator.Operation{c.define("work"), c.define("decide")},
				})
				require.NoError(t, err)
				return e
			}
			e := open()
			var ids []string
			for i := range 5 {
				var list []string
				for k := range 1 + random.IntN(8) {
					list = append(list, fmt.Sprintf(steps[random.IntN(len(steps))], fmt.Sprint("s", k)))
				}
				file := filepath.Join(dir, fmt.Sprintf("w%d-%d.yaml", seed, i))
				w := parse(t, fmt.Sprintf(`
kind: Workflow
name: w
operations: {nap: {sleep: {for: PT0.005S}}, below: {workflow: {path: child.yaml}}}
steps: [{parallel: {steps: [%s]}}]`, strings.Join(list, ", ")))
				w.Pos.File = file
				r, err := e.Start(t.Context(), w, nil)
				require.NoError(t, err)
				ids = append(ids, r.ID())
			}
			for range random.IntN(3) {
				time.Sleep(time.Duration(random.IntN(30)) * time.Millisecond)
				crash(t, e)
				e = open()
			}
			for _, id := range ids {
				require.True(t, wait(t, find(t, e, id)).Status.Terminal())
			}
			require.NoError(t, e.Shutdown(t.Context())) // calls that lost a fan-out may last until then
			require.LessOrEqual(t, c.most["work"], room)
			require.LessOrEqual(t, c.most["decide"], room)
		})
	}
}

func TestCallsOfTheWholeProcessAreBounded(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{CallsMax: 2, Operations: []coordinator.Operation{g.define("slow")}})
	var runs []*coordinator.Run
	for range 3 {
		runs = append(runs, start(t, e, `
kind: Workflow
name: w
steps: [{parallel: {steps: [{operation: slow, id: a}, {operation: slow, id: b}]}}]`))
	}
	for range 6 {
		<-g.entered
		require.LessOrEqual(t, len(g.entered), 1, "more than two calls are in progress")
		g.leave <- nil
	}
	for _, r := range runs {
		require.NoError(t, wait(t, r).Err())
	}
}

// TestParticipantsWaitForRoomWithoutAChangeOfStatus: a fan-out is requested when there is room for one participant; its time runs
// from then on.
func TestParticipantsWaitForRoomWithoutAChangeOfStatus(t *testing.T) {
	g := newGate()
	e := newEngine(t, coordinator.Config{CallsMax: 1, Operations: []coordinator.Operation{g.define("ask")}})
	r := start(t, e, `
kind: Workflow
name: w
steps: [{operation: ask, target: {resolve: static, participants: [a, b, c]}, fan_in: {policy: all}}]`)
	for _, who := range []string{"a", "b", "c"} {
		require.Equal(t, who, (<-g.entered).Participant)
		require.Empty(t, g.entered)
		state, err := r.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, reactive.Running, state.Steps[0].Status)
		require.Len(t, state.Steps[0].Dispatches, 3)
		g.leave <- nil
	}
	require.NoError(t, wait(t, r).Err())
}

// TestStepsThatNeedNoRoomGoOn: without room for another call, a sleep ends, a message is taken, a decision source is asked, and
// a child run begins.
func TestStepsThatNeedNoRoomGoOn(t *testing.T) {
	g := newGate()
	verify := operation.Define("verify", func(context.Context, any) (map[string]bool, error) { return map[string]bool{"ok": true}, nil })
	dir := written(t, map[string]string{
		"child.yaml": "{kind: Workflow, name: child, operations: {note: {value: 1}}, steps: [{operation: note}]}",
		"top.yaml": `
kind: Workflow
name: top
operations: {nap: {sleep: {for: PT0.001S}}, below: {workflow: {path: child.yaml}}, mail: {wait: {message: go}}}
steps:
  - operation: echo
    fulfillment:
      policy: external_decision
      decision_source: {kind: automatic, operation: verify}
      result_match: {path: /ok, fulfilled_values: [true], not_fulfilled_values: [false]}
  - {operation: slow, id: first}
  - parallel: {steps: [{operation: slow, needs: []}, {operation: nap}, {operation: below}, {operation: mail}]}
`,
	})
	e := newEngine(t, coordinator.Config{CallsMax: 1, Operations: []coordinator.Operation{g.define("slow"), echo, verify}})
	r, err := e.Start(t.Context(), loaded(t, filepath.Join(dir, "top.yaml"), "slow", "echo", "verify"), nil)
	require.NoError(t, err)
	<-g.entered
	g.leave <- nil // first
	<-g.entered    // now the other call has all the room
	require.NoError(t, r.Send(t.Context(), "go", nil))
	done := map[string]bool{}
	for u, err := range r.Watch(t.Context(), 1) {
		require.NoError(t, err)
		for _, c := range u.Changes {
			if c.To == reactive.Completed {
				done[c.Step] = true
			}
		}
		if done["nap"] && done["below"] && done["mail"] {
			break
		}
	}
	require.False(t, done["slow"])
	g.leave <- nil
	require.NoError(t, wait(t, r).Err())
}

// TestAStoreThatFailsForGoodReleasesTheRoom: the room that a run has reserved is free again when its append fails.
func TestAStoreThatFailsForGoodReleasesTheRoom(t *testing.T) {
	store := &severed{kept: kept{memory.New()}}
	var calls int
	work := operation.Define("work", func(context.Context, any) (int, error) { calls++; return calls, nil })
	e, err := coordinator.New(t.Context(), store, coordinator.Config{CallsMax: 1, Operations: []coordinator.Operation{work}})
	require.NoError(t, err)
	w := parse(t, "{kind: Workflow, name: w, steps: [{operation: work}]}")
	store.cut.Store(true)
	_, err = e.Start(t.Context(), w, nil, coordinator.WithID("lost@1"))
	require.ErrorIs(t, err, journal.ErrClosed)
	require.NoError(t, run(t, e, w, nil).Err())
	require.NoError(t, e.Shutdown(t.Context()))
}
