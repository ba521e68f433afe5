package coordinator_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

const alarmWorld = `
kind: World
name: alarm
types: {Set: {record: {id: text, n: int}}}
machines:
  clock:
    key: text
    state: {record: {n: int, rung: int}}
    event: [Set]
    emits: [timer]
    lifecycle: entity
    rules:
      - {event: Set, set: {n: "{{ event.n }}", rung: "{{ (state ?? {rung: 0}).rung }}"}, emit: [{timer: bell, for: PT1H}]}
      - {event: timer.bell, set: {rung: "{{ state.rung + 1 }}"}}
routing: {subscriptions: [{event: Set, machine: clock, key_field: id}]}
`

// TestAnIdleWorldLeavesMemory, and a message, a query and a timer load it again with the same state, with or without a snapshot.
func TestAnIdleWorldLeavesMemory(t *testing.T) {
	for _, keep := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			e, err := coordinator.New(t.Context(), memory.New(), coordinator.Config{IdleTimeout: time.Minute})
			require.NoError(t, err)
			defer func() { require.NoError(t, e.Shutdown(context.Background())) }()
			checked, err := kinds.Load("alarm.yaml", []byte(alarmWorld), template.Known{})
			require.NoError(t, err)
			run, err := e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("w"))
			require.NoError(t, err)
			set := func(id string, n int64) {
				_, err := run.SendMessage(t.Context(), cells.Message{Name: "Set", Payload: map[string]any{"id": id, "n": n}})
				require.NoError(t, err)
			}
			state := func(id string) any {
				c, err := run.Cell(t.Context(), "clock["+id+"]")
				require.NoError(t, err)
				return c.State
			}
			pass := func(d time.Duration) {
				time.Sleep(d)
				synctest.Wait()
			}
			set("a", 1)
			if keep {
				_, err := run.Snapshot(t.Context())
				require.NoError(t, err)
			}
			pass(2 * time.Minute)
			require.Zero(t, e.InMemory())
			set("b", 2)
			require.Equal(t, 1, e.InMemory())
			pass(2 * time.Minute)
			require.Zero(t, e.InMemory())
			require.Equal(t, map[string]any{"n": int64(1), "rung": int64(0)}, state("a"))
			pass(2 * time.Minute)
			require.Zero(t, e.InMemory())
			pass(54*time.Minute + 30*time.Second) // its timer wakes it
			require.Equal(t, 1, e.InMemory())
			require.Equal(t, map[string]any{"n": int64(1), "rung": int64(1)}, state("a"))
			require.Equal(t, map[string]any{"n": int64(2), "rung": int64(0)}, state("b"))
			pass(10 * time.Minute)
			require.Zero(t, e.InMemory())
			last := 0
			for range run.Events(t.Context(), 1) {
				last++
			}
			require.Equal(t, map[bool]int{false: 9, true: 10}[keep], last)
		})
	}
}

// TestARefusedCommandFiresNoTimers: while no process works on a world, a refused command and a message that was taken before leave the
// journal unchanged, although timers are due; a message that is taken follows the timers that fell due before it.
func TestARefusedCommandFiresNoTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &kept{memory.New()}
		first, err := coordinator.New(t.Context(), store, coordinator.Config{})
		require.NoError(t, err)
		checked, err := kinds.Load("alarm.yaml", []byte(alarmWorld), template.Known{})
		require.NoError(t, err)
		run, err := first.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("w"))
		require.NoError(t, err)
		set := cells.Message{Name: "Set", Payload: map[string]any{"id": "a", "n": 1}, ID: "one"}
		_, err = run.SendMessage(t.Context(), set)
		require.NoError(t, err)
		require.NoError(t, first.Shutdown(t.Context()))
		time.Sleep(2 * time.Hour)

		e, err := coordinator.New(t.Context(), store, coordinator.Config{NotesOnly: true})
		require.NoError(t, err)
		defer e.Shutdown(t.Context())
		r := find(t, e, "w")
		before := journalOf(t, r)
		send := func(id string, payload map[string]any) (cells.Sent, error) {
			return r.SendMessage(t.Context(), cells.Message{Name: "Set", ID: id, Payload: payload})
		}
		_, err = send("two", map[string]any{"id": "a"})
		require.ErrorContains(t, err, "/n: is missing")
		require.Error(t, r.Retry(t.Context(), "clock[a]"), "it has not failed")
		require.Error(t, r.ResumeCell(t.Context(), "clock[a]"), "it is not paused")
		taken, err := send("one", map[string]any{"id": "a", "n": 1})
		require.NoError(t, err)
		require.Equal(t, uint64(2), taken.Seq)
		require.Equal(t, before, journalOf(t, r))
		taken, err = send("three", map[string]any{"id": "a", "n": 3})
		require.NoError(t, err)
		after := journalOf(t, r)
		require.Len(t, after, len(before)+2)
		require.Equal(t, journal.TimerFired, after[len(before)].Type)
		require.Equal(t, taken.Seq, after[len(before)+1].Seq)
		require.NoError(t, e.Shutdown(t.Context()))

		last, err := coordinator.New(t.Context(), store, coordinator.Config{})
		require.NoError(t, err)
		defer last.Shutdown(context.Background())
		synctest.Wait()
		c, err := find(t, last, "w").Cell(t.Context(), "clock[a]")
		require.NoError(t, err)
		require.Equal(t, map[string]any{"n": int64(3), "rung": int64(1)}, c.State, "the bell rang before the third")
	})
}
