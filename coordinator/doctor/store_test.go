package doctor_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/flow"
	"github.com/sluiceflow/sluice/template/kinds"
)

// documents holds workflows whose runs reach all statuses that a head can have.
var documents = []string{
	`{kind: Workflow, name: done, operations: {one: {value: 1}}, steps: [{operation: one}], output: "{{ steps.one.output }}"}`,
	`{kind: Workflow, name: fails, operations: {no: {fail: {code: no_stock, message: sold out}}}, steps: [{operation: no}]}`,
	`{kind: Workflow, name: waits, operations: {go: {wait: {message: go}}, then: {value: 2}}, steps: [{operation: go}, {operation: then}]}`,
	`{kind: Workflow, name: sleeps, operations: {night: {sleep: {for: PT8H}}}, steps: [{operation: night}]}`,
	`{kind: Workflow, name: calls, steps: [{operation: slow}]}`,
	`{kind: Workflow, name: large, operations: {go: {wait: {message: go}}}, steps: [{operation: large, input: "{{ input }}"}, {operation: go}]}`,
	`{kind: Workflow, name: many, operations: {one: {value: 1}}, steps: [{map: {id: m, over: "{{ [1, 2, 3, 4, 5] }}", steps: [{operation: one}]}}]}`,
	`{apiVersion: sluice/v1, kind: Playbook, metadata: {name: book}, workflow: [
		{step: first, tool: {kind: noop}, next: {arcs: [{step: ask}]}}, {step: ask, tool: {kind: wait, message: go}}]}`,
}

var (
	large = operation.Define("large", func(_ context.Context, n int) (string, error) {
		return strings.Repeat(fmt.Sprint("large", n), 10_000), nil
	})
	slow = operation.Define("slow", func(ctx context.Context, n int) (int, error) { <-ctx.Done(); return n, ctx.Err() })
)

func workflows(t testing.TB) []*template.Workflow {
	var list []*template.Workflow
	for i, text := range documents {
		nodes, err := document.Parse(fmt.Sprint(i, ".yaml"), []byte(text), document.Limits{})
		require.NoError(t, err)
		w, err := kinds.ParseNode(nodes[0])
		require.NoError(t, err)
		list = append(list, w)
	}
	in := flow.Input[int]()
	wait := flow.Call("", slow, in)
	below := flow.MustNew("below", in, flow.Output(wait), wait)
	step := flow.Sub("", below, flow.Value(1))
	return append(list, flow.MustDefine("above", step, flow.Output(step)))
}

func engineOn(t require.TestingT, files vfs.FS, pickUp func(journal.Head) bool) *coordinator.Engine {
	store, err := disk.Open("data", disk.Config{FS: files})
	require.NoError(t, err)
	e, err := coordinator.New(context.Background(), store, coordinator.Config{
		Operations: []coordinator.Operation{large, slow}, Logger: slog.New(slog.DiscardHandler), PickUp: pickUp,
	})
	require.NoError(t, err)
	return e
}

// meddle sends random commands to random runs.
func meddle(t testing.TB, rnd *rand.Rand, e *coordinator.Engine, ids []string, times int) {
	for range times {
		r, err := e.Run(t.Context(), ids[rnd.IntN(len(ids))])
		require.NoError(t, err)
		step := []string{"go", "ask@1", "slow", "no"}[rnd.IntN(4)]
		switch rnd.IntN(6) {
		case 0:
			_ = r.Send(t.Context(), []string{"go", "nobody"}[rnd.IntN(2)], rnd.IntN(100))
		case 1:
			_ = r.Pause(t.Context(), "lunch")
		case 2:
			_ = r.Resume(t.Context())
		case 3:
			_ = r.Cancel(t.Context(), "no more")
		case 4:
			_ = r.Abort(t.Context(), step, "not this")
		case 5:
			_ = r.Retry(t.Context(), step)
		}
	}
}

// populated returns a store with random runs, some of them unfinished.
func populated(t testing.TB, seed uint64) *vfs.MemFS {
	rnd, files, list := rand.New(rand.NewPCG(seed, 0)), vfs.NewMem(), workflows(t)
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	var ids []string
	for generation := range 3 {
		e := engineOn(t, files, nil)
		for i := range 6 {
			w := list[(generation*6+i)%len(list)]
			id := fmt.Sprintf("%s-%d", w.Name, generation*6+i)
			var labels map[string]string
			if rnd.IntN(2) == 0 {
				labels = map[string]string{"team": fmt.Sprint(i)}
			}
			var input any = rnd.IntN(3)
			if w.Routing != nil {
				input = nil
			}
			_, err := e.Start(t.Context(), w, input, coordinator.WithID(id), coordinator.WithLabels(labels))
			require.NoError(t, err)
			ids = append(ids, id)
		}
		meddle(t, rnd, e, ids, 8)
		require.NoError(t, e.Shutdown(gone))
		e = engineOn(t, files, func(journal.Head) bool { return false })
		meddle(t, rnd, e, ids, 4)
		require.NoError(t, e.Shutdown(context.Background()))
	}
	settle(t, files)
	return files
}

// settle sets the due instant that the doctor derives in heads whose last command may only have been journaled. It checks that all
// other fields are right.
func settle(t testing.TB, files vfs.FS) {
	was := read(t, files)
	bare := maps.Clone(was)
	for _, key := range was.keys('h') {
		delete(bare, key)
	}
	bare.become(t, files)
	examined(t, files, true)
	now := read(t, files)
	for key, record := range was.lasting() {
		if key[0] == 'i' {
			continue // the lists follow the heads
		}
		if key[0] != 'h' || now[key] == record {
			require.Equal(t, record, now[key], "%q", key)
			continue
		}
		before, err := journal.DecodeHead([]byte(record[13:]))
		require.NoError(t, err)
		after, err := journal.DecodeHead([]byte(now[key][13:]))
		require.NoError(t, err)
		require.Equal(t, after.Updated, after.Due, "%q", key)
		before.Due, after.Due = 0, 0
		require.Equal(t, before, after, "%q", key)
	}
	faults, _ := examined(t, files, false)
	require.Empty(t, faults)
}

// records holds all keys and values of a store's database.
type records map[string]string

func withDB(t require.TestingT, files vfs.FS, use func(db *pebble.DB)) {
	db, err := pebble.Open("data/db", &pebble.Options{FS: files, FormatMajorVersion: pebble.FormatNewest})
	require.NoError(t, err)
	use(db)
	require.NoError(t, db.Close())
}

func read(t require.TestingT, files vfs.FS) records {
	all := records{}
	withDB(t, files, func(db *pebble.DB) {
		it, err := db.NewIter(nil)
		require.NoError(t, err)
		for ok := it.First(); ok; ok = it.Next() {
			all[string(it.Key())] = string(it.Value())
		}
		require.NoError(t, it.Close())
	})
	return all
}

// become replaces the records of a store.
func (want records) become(t require.TestingT, files vfs.FS) {
	now := read(t, files)
	withDB(t, files, func(db *pebble.DB) {
		for key, v := range want {
			if is, ok := now[key]; !ok || is != v {
				require.NoError(t, db.Set([]byte(key), []byte(v), pebble.NoSync))
			}
		}
		for key := range now {
			if _, ok := want[key]; !ok {
				require.NoError(t, db.Delete([]byte(key), pebble.NoSync))
			}
		}
	})
}

// lasting returns the records without the change log, which begins afresh when the doctor rebuilds the lists.
func (r records) lasting() records {
	out := maps.Clone(r)
	maps.DeleteFunc(out, func(key, _ string) bool { return key[0] == 'g' })
	return out
}

// keys returns the keys of a space, in order.
func (r records) keys(space byte) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(r)) {
		if key[0] == space && key != "commit" {
			list = append(list, key)
		}
	}
	return list
}

// only returns the records of a space.
func (r records) only(space byte) records {
	out := records{}
	for _, key := range r.keys(space) {
		out[key] = r[key]
	}
	return out
}

// examined checks a store, and returns the faults.
func examined(t require.TestingT, files vfs.FS, mend bool) ([]doctor.Fault, doctor.Report) {
	raw, err := disk.OpenRaw("data", mend, disk.Config{FS: files})
	require.NoError(t, err)
	var faults []doctor.Fault
	report, err := doctor.Check(context.Background(), raw, doctor.How{Mend: mend}, func(f doctor.Fault) error {
		faults = append(faults, f)
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, raw.Close())
	require.Equal(t, len(faults), report.Faults)
	return faults, report
}
