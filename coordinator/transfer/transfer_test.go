package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/archive"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/kinds"
)

// documents are of every kind; some of their runs end, some wait.
var documents = map[string]string{
	"done":  `{kind: Workflow, name: done, operations: {one: {value: {a: [1, 2.5, "<x>"]}}}, steps: [{operation: one}], output: "{{ steps.one.output }}"}`,
	"fails": `{kind: Workflow, name: fails, operations: {no: {fail: {code: no_stock, message: sold out}}}, steps: [{operation: no}]}`,
	"waits": `{kind: Workflow, name: waits, operations: {go: {wait: {message: go}}}, steps: [{operation: go}]}`,
	"timer": `{kind: Workflow, name: timer, operations: {night: {sleep: {for: PT800H}}}, steps: [{operation: night}]}`,
	"large": `{kind: Workflow, name: large, operations: {go: {wait: {message: go}}}, steps: [{operation: large}, {operation: go}]}`,
	"many":  `{kind: Workflow, name: many, operations: {one: {value: 1}}, steps: [{map: {id: m, over: "{{ [1, 2, 3] }}", steps: [{operation: one}]}}]}`,
	"asked": `{kind: Workflow, name: asked, operations: {one: {value: 1}},
		steps: [{operation: one, fulfillment: {policy: external_decision, decision_source: {kind: operator}}}]}`,
	"book": `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: book}, workflow: [
		{step: first, tool: {kind: noop}, next: {arcs: [{step: ask}]}}, {step: ask, tool: {kind: wait, message: go}}]}`,
	"booked": `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: booked}, workflow: [{step: first, tool: {kind: noop}}]}`,
	"tally": `
kind: World
name: tally
types: {Vote: {record: {poll: text, n: int}}}
machines:
  poll:
    key: text
    state: {record: {sum: int}}
    event: [Vote]
    emits: [timer]
    lifecycle: entity
    rules:
      - {event: Vote, set: {sum: "{{ (state ?? {sum: 0}).sum + event.n }}"}, emit: [{timer: close, for: PT900H}]}
      - {event: timer.close, set: {sum: "{{ 0 }}"}}
routing: {subscriptions: [{event: Vote, machine: poll, key_field: poll}]}
`,
}

var (
	large = operation.Define("large", func(context.Context, any) (string, error) { return strings.Repeat("large ", 20_000), nil })
	slow  = operation.Define("slow", func(ctx context.Context, n int) (int, error) { <-ctx.Done(); return n, ctx.Err() })
)

func engine(t testing.TB, store journal.Store) *coordinator.Engine {
	e, err := coordinator.New(context.Background(), store, coordinator.Config{
		Operations: []coordinator.Operation{large, slow}, Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	t.Cleanup(func() { end(e) })
	return e
}

// end shuts an engine down without waiting for its calls.
func end(e *coordinator.Engine) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	_ = e.Shutdown(gone)
}

// populate starts a run of every document, and brings each to its end or its last wait.
func populate(t testing.TB, e *coordinator.Engine) (ids []string) {
	ctx := context.Background()
	for name, text := range documents {
		checked, err := kinds.Load(name+".yaml", []byte(text), template.Known{Lenient: true})
		require.NoError(t, err)
		run, err := e.Start(ctx, checked.Workflow, nil, coordinator.WithID(name), coordinator.WithLabels(map[string]string{"kind": name}))
		require.NoError(t, err)
		ids = append(ids, name)
		switch name {
		case "done", "fails", "many", "booked":
			_, err = run.Wait(ctx)
			require.NoError(t, err)
		case "tally":
			vote(t, run)
		}
	}
	below := flow.MustNew("below", flow.Input[int](), flow.Output(slowCall), slowCall)
	sub := flow.Sub("", below, flow.Value(1))
	_, err := e.Start(ctx, flow.MustDefine("above", sub, flow.Output(sub)), nil, coordinator.WithID("above"))
	require.NoError(t, err)
	for id, node := range map[string]string{"above": "below", "above/below#1": "slow", "large": "go", "asked": "one", "book": "ask", "waits": "go", "timer": "night"} {
		until(t, e, id, node)
	}
	return append(ids, "above")
}

var slowCall = flow.Call("", slow, flow.Input[int]())

// until waits until a call of a run is requested.
func until(t testing.TB, e *coordinator.Engine, id, node string) {
	run, err := e.Run(context.Background(), id)
	for errors.Is(err, coordinator.ErrRunNotFound) { // its parent has yet to start it
		run, err = e.Run(context.Background(), id)
	}
	require.NoError(t, err)
	for u, err := range run.Watch(context.Background(), 1) {
		require.NoError(t, err)
		if strings.HasPrefix(u.Event.Node, node) {
			return
		}
	}
	t.Fatalf("run %s ends before %s", id, node)
}

// vote sends messages to a world, and keeps three snapshots; the events before the second are deleted.
func vote(t testing.TB, run *coordinator.Run) {
	ctx := context.Background()
	for round := range 3 {
		for n := range 20 {
			_, err := run.SendMessage(ctx, cells.Message{Name: "Vote", Payload: map[string]any{"poll": fmt.Sprint("p", n%7), "n": int64(round)}})
			require.NoError(t, err)
		}
		_, err := run.Snapshot(ctx)
		require.NoError(t, err)
	}
	gone, err := run.Trim(ctx, 1, false)
	require.NoError(t, err)
	require.NotZero(t, gone.To)
	_, err = run.SendMessage(ctx, cells.Message{Name: "Vote", Payload: map[string]any{"poll": "last", "n": int64(1)}})
	require.NoError(t, err)
}

func export(t testing.TB, e *coordinator.Engine, ids ...string) []byte {
	var file bytes.Buffer
	require.NoError(t, e.Export(context.Background(), &file, ids...))
	return file.Bytes()
}

func importing(e *coordinator.Engine, file []byte) ([]transfer.Imported, error) {
	return e.Import(context.Background(), bytes.NewReader(file), "ann")
}

// sound requires that the doctor finds no fault in a store, and returns the number of runs that it has checked.
func sound(t testing.TB, files vfs.FS) (runs int) {
	raw, err := disk.OpenRaw("data", false, disk.Config{FS: files})
	require.NoError(t, err)
	report, err := doctor.Check(context.Background(), raw, doctor.How{}, func(f doctor.Fault) error {
		t.Errorf("%s %s: %s", f.Run, f.Content, f.What)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, raw.Close())
	return report.Runs
}

// Runs of every kind, ended and open, are exported as the same bytes after they were imported, into a store of either kind, and
// those that were open do not go on before they are resumed.
func TestImportedRunsAreExportedAsTheSameBytes(t *testing.T) {
	source := engine(t, memory.New())
	ids := populate(t, source)
	file := export(t, source, ids...)
	end(source)
	require.Contains(t, string(file), `{"content":`)
	require.Contains(t, string(file), `{"blob":`)
	require.Contains(t, string(file), `"type":"world.snapshotted"`)

	files := vfs.NewMem()
	onDisk, err := disk.Open("data", disk.Config{FS: files})
	require.NoError(t, err)
	for _, store := range []journal.Store{memory.New(), onDisk} {
		e := engine(t, store)
		runs, err := importing(e, file)
		require.NoError(t, err)
		require.Len(t, runs, len(ids)+1, "with the child run")
		for _, r := range runs {
			require.False(t, r.There, r.Run)
			run, err := e.Run(t.Context(), r.Run)
			require.NoError(t, err)
			state, err := run.State(t.Context())
			require.NoError(t, err, r.Run)
			require.Equal(t, !state.Finished, r.Held, r.Run)
			require.NotEqual(t, r.Held, run.Driven(), r.Run)
		}
		require.Equal(t, string(file), string(export(t, e, ids...)))
		again, err := importing(e, file)
		require.NoError(t, err)
		for i := range again {
			require.True(t, again[i].There)
		}
		require.Equal(t, string(file), string(export(t, e, ids...)))
		end(e)
	}
	require.NotZero(t, sound(t, files))

	reopened, err := disk.Open("data", disk.Config{FS: files})
	require.NoError(t, err)
	e := engine(t, reopened)
	require.Equal(t, string(file), string(export(t, e, ids...)), "an engine that begins moves nothing that is held")
	for _, id := range []string{"waits", "book", "tally", "above", "timer", "asked", "large"} {
		require.True(t, e.Held(id))
		run, err := e.Run(t.Context(), id)
		require.NoError(t, err)
		require.ErrorIs(t, run.Pause(t.Context(), ""), coordinator.ErrNotPossible)
		require.NoError(t, run.Resume(t.Context()))
		require.False(t, e.Held(id))
		require.True(t, run.Driven())
	}
	for _, id := range []string{"waits", "book", "large"} {
		run, err := e.Run(t.Context(), id)
		require.NoError(t, err)
		require.NoError(t, run.Send(t.Context(), "go", nil))
		result, err := run.Wait(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Err(), id)
	}
	world, err := e.Run(t.Context(), "tally")
	require.NoError(t, err)
	_, err = world.SendMessage(t.Context(), cells.Message{Name: "Vote", Payload: map[string]any{"poll": "p1", "n": int64(5)}})
	require.NoError(t, err)
	_, err = world.Snapshot(t.Context())
	require.NoError(t, err)
	_, _, err = world.Sweep(t.Context(), false)
	require.NoError(t, err)
	cell, err := world.Cell(t.Context(), "poll[p1]")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"sum": int64(14)}, cell.State)
	end(e)
	require.NotZero(t, sound(t, files))
}

// A run that the store has with other content, one that was deleted, and a file with any fault are refused, and the store is unchanged.
func TestWhatIsRefusedChangesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine reads hundreds of files")
	}
	source := engine(t, memory.New())
	ids := populate(t, source)
	file := export(t, source, ids...)
	end(source)

	store := memory.New()
	e := engine(t, store)
	checked, err := kinds.Load("waits.yaml", []byte(documents["waits"]), template.Known{Lenient: true})
	require.NoError(t, err)
	_, err = e.Start(t.Context(), checked.Workflow, "other", coordinator.WithID("waits"))
	require.NoError(t, err)
	before := everything(t, store)
	_, err = importing(e, file)
	require.ErrorIs(t, err, transfer.ErrOther)
	require.ErrorIs(t, err, archive.ErrRefused)
	require.ErrorContains(t, err, "run waits: event 1 is run.started in the file, and event 1 there is run.started; delete that one")
	require.Equal(t, before, everything(t, store))
	waits, err := e.Run(t.Context(), "waits")
	require.NoError(t, err)
	require.NoError(t, waits.Cancel(t.Context(), ""))
	require.NoError(t, e.Delete(t.Context(), "waits"))
	_, err = importing(e, file)
	require.ErrorContains(t, err, "run waits was deleted from the folder, and its id is not free")

	lines := strings.SplitAfter(string(file), "\n")
	for i := range lines {
		for name, spoilt := range map[string][]string{
			"cut":     lines[:i],
			"missing": append(append([]string{}, lines[:i]...), lines[i+1:]...),
			"twice":   append(append([]string{}, lines[:i+1]...), lines[i:]...),
		} {
			if text := strings.Join(spoilt, ""); text != string(file) {
				_, err := importing(e, []byte(text))
				require.ErrorIs(t, err, archive.ErrRefused, "%s: line %d", name, i+1)
			}
		}
	}
	require.Empty(t, everything(t, store))
}

// everything returns the runs in a store, by id, with their last sequences.
func everything(t testing.TB, store journal.Store) map[string]uint64 {
	all := map[string]uint64{}
	for head, err := range store.Heads(context.Background(), "") {
		require.NoError(t, err)
		all[head.Run] = head.Last
	}
	return all
}
