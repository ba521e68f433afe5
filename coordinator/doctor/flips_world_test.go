package doctor_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// jars is a world with all parts of a snapshot: indexes, times to live, timers, open calls, failures, held mail.
const jars = `
kind: World
name: jars
types: {Put: {record: {id: text, n: int}}}
effects: {nap: {params: unit, receipt: unit, sleep: {for: PT1000H}}}
machines:
  jar:
    key: text
    state: {record: {n: int}}
    indexes: {n: "{{ state.n }}"}
    ttl: P100D
    event: [Put]
    emits: [nap, timer]
    lifecycle: entity
    rules:
      - {event: Put, when: "{{ event.n == 1 }}", set: {n: 1}, emit: [{timer: late, for: PT1000H}]}
      - {event: Put, when: "{{ event.n == 2 }}", set: {n: 2}, emit: [{effect: nap, params: null}]}
      - {event: Put, when: "{{ event.n == 3 }}", fail: {code: broken}}
      - {event: Put, set: {n: "{{ event.n }}"}}
routing: {subscriptions: [{event: Put, machine: jar, key_field: id}]}
`

// worldFolder makes a folder with a world that was trimmed, with two snapshots and events behind them.
func worldFolder(t *testing.T, dir vfs.FS) {
	s, err := disk.Open(folder, disk.Config{FS: dir})
	require.NoError(t, err)
	e, err := coordinator.New(t.Context(), s, coordinator.Config{})
	require.NoError(t, err)
	c, err := kinds.Load("jars.yaml", []byte(jars), template.Known{Lenient: true})
	require.NoError(t, err)
	run, err := e.Start(t.Context(), c.Workflow, nil, coordinator.WithID("w"))
	require.NoError(t, err)
	for round := range 4 {
		for i := range 8 {
			_, err := run.SendMessage(t.Context(), cells.Message{
				Name: "Put", ID: fmt.Sprint(round, i), Payload: map[string]any{"id": fmt.Sprint("k", i), "n": (i + round) % 7},
			})
			require.NoError(t, err)
		}
		if round < 3 {
			_, err = run.Snapshot(t.Context())
			require.NoError(t, err)
		}
	}
	_, deleted, err := run.Sweep(t.Context(), false)
	require.NoError(t, err)
	require.NotZero(t, deleted)
	gone, err := run.Trim(t.Context(), 1, false)
	require.NoError(t, err)
	require.NotZero(t, gone.To)
	require.NoError(t, e.Shutdown(context.WithoutCancel(t.Context())))
}

// shownWorld returns all that a folder shows of its world, or an error.
func shownWorld(dir vfs.FS) (text string, err error) {
	s, err := disk.Open(folder, disk.Config{FS: dir})
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	e, err := coordinator.New(ctx, s, coordinator.Config{PickUp: func(journal.Head) bool { return false }})
	if err != nil {
		return "", err
	}
	defer e.Shutdown(ctx)
	run, err := e.Run(ctx, "w")
	if err != nil {
		return "", err
	}
	list, err := run.Cells(ctx, nil, 0)
	if err != nil {
		return "", err
	}
	for _, c := range list {
		text += fmt.Sprintln(c.Address, c.Status, c.State, c.Failure, c.Intents, c.Mail, c.Last)
	}
	for n := range 7 {
		list, err := run.CellsBy(ctx, cells.Index{Name: "n", Values: []any{n}}, nil, 0)
		if err != nil {
			return "", err
		}
		for _, c := range list {
			text += fmt.Sprintln(n, c.Address)
		}
	}
	state, err := run.State(ctx)
	if err != nil {
		return "", err
	}
	text += fmt.Sprintln(state.Status, state.Due)
	for e, err := range journal.Remaining(ctx, s, "w", 1) {
		if err != nil {
			return "", err
		}
		text += fmt.Sprintln(e.Seq, e.Type, e.Node, e.Value)
	}
	return text, nil
}

// TestABitOfAWorldThatFlipsIsFoundOrHarmless flips bits of the folder of a world: the doctor finds a fault, or the world shows the
// same cells and events as before. In spite of a fault it shows these, or that it is damaged.
func TestABitOfAWorldThatFlipsIsFoundOrHarmless(t *testing.T) {
	var want string
	create := func(t *testing.T, dir vfs.FS) {
		worldFolder(t, dir)
		var err error
		want, err = shownWorld(dir)
		require.NoError(t, err)
	}
	refused := 0
	flipBits(t, create, shownWorld, flipOneOfWorld, func(t *testing.T, what, got string, err error) {
		if err != nil {
			refused++
			return
		}
		require.Equal(t, want, got, what)
	})
	require.NotZero(t, refused)
}

// One of flipOneOfWorld bits is flipped: the folder of a world is larger.
const flipOneOfWorld = 777
