package world_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/reactive/world/trie"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// sumWorld has a machine that only counts.
const sumWorld = `
kind: World
name: sums
types: {Add: {record: {id: text, n: int}}}
machines:
  sum:
    key: text
    state: {record: {n: int}}
    event: [Add]
    emits: []
    lifecycle: entity
    rules: [{event: Add, set: {n: "{{ (state ?? {n: 0}).n + event.n }}"}}]
routing: {subscriptions: [{event: Add, machine: sum, key_field: id}]}
`

// sumWorldWith returns the world with more lines of its machine.
func sumWorldWith(lines string) string {
	return strings.Replace(sumWorld, "    emits: []\n", "    emits: []\n"+lines, 1)
}

// populated returns a world with n cells, all in the snapshot of the event. It writes the snapshot directly, because activating n
// cells takes long.
func populated(tb failer, text string, n int, of func(i int) (key string, state, work value.Value, active int64)) (d *driver, last journal.Event) {
	d = drive(tb, text)
	d.apart = true
	e := d.snapshot()
	entries := make([]trie.Entry, n)
	deadlines := []trie.Entry{}
	put := func(v value.Value) trie.Hash {
		data, err := value.Encode(v)
		require.NoError(tb, err)
		require.NoError(tb, d.put([][]byte{data}))
		return sha256.Sum256(data)
	}
	m := world.Of(d.root).Definition().Machines[0]
	for i := range entries {
		key, state, work, active := of(i)
		id, err := machine.KeyBytes(m, key)
		require.NoError(tb, err)
		c := trie.Cell{Key: id, State: put(state), Size: 4, LastActive: active, LastSeq: 1, Status: trie.Completed, Generation: 1}
		if work != nil {
			c.Work, c.Status = put(work), trie.Waiting
			x := work.(map[string]any)["open"].([]any)[0].(map[string]any)
			timer := trie.Deadline{Due: x["due"].(int64), Order: uint64(x["order"].(int64)), Cell: machine.Address(m, key), Node: x["key"].(string)}
			deadlines = append(deadlines, timer.Entry())
		}
		entries[i] = c.Entry()
	}
	keep := func(_ trie.Hash, node []byte) error { return d.put([][]byte{node}) }
	root := func(t trie.Trie, entries []trie.Entry) string {
		slices.SortFunc(entries, func(a, b trie.Entry) int { return bytes.Compare(a.Path, b.Path) })
		root, err := t.Update(trie.Empty, entries, keep)
		require.NoError(tb, err)
		return fmt.Sprintf("%x", root[:])
	}
	fetch := func(hash trie.Hash) ([]byte, error) { return d.fetch(journal.Hash(hash)) }
	v := maps.Clone(e.Value.(map[string]any))
	v["roots"] = map[string]any{m.Name: root(trie.Cells(fetch), entries)}
	if len(deadlines) > 0 {
		v["deadlines"] = root(trie.Deadlines(fetch), deadlines)
	}
	last = e
	last.Value = v
	d.events = d.events[:1]
	d.use(d.planted(&last))
	return d, last
}

// planted returns the root of a directly written snapshot.
func (d *driver) planted(last *journal.Event) *reactive.Root {
	root := d.empty()
	first := d.events[0]
	root.Apply(&first)
	_, err := world.Of(root).Restore(last)
	require.NoError(d.t, err)
	return root
}

// counted is a cell that has counted.
func counted(i int) (key string, state, work value.Value, active int64) {
	return fmt.Sprint("c", i), map[string]any{"n": int64(i)}, nil, epoch + int64(i)
}

func addOne(i int) decide.Item {
	return decide.Item{Reply: func(error) {}, Event: journal.Event{
		Type: journal.MessageReceived, Value: map[string]any{"id": fmt.Sprint("c", i), "n": int64(i)}, Detail: &journal.Detail{Name: "Add"},
	}}
}

// BenchmarkActivation sends messages to one world and steps its cells, without a store.
func BenchmarkActivation(b *testing.B) {
	d := drive(b, sumWorld)
	d.apart = true
	b.ReportAllocs()
	for i := 0; i < b.N; {
		items := make([]decide.Item, 0, 256)
		for ; len(items) < cap(items) && i < b.N; i++ {
			items = append(items, addOne(i%1000))
		}
		d.turn(items...)
		d.events = d.events[:0]
	}
}

// BenchmarkSnapshot writes snapshots of a world with many cells, some of them changed: freeze-ns is the time that the world waits,
// cpu-ns the total processor time. It also restores the world, and reads cells that are not in memory.
func BenchmarkSnapshot(b *testing.B) {
	const cells = 1_000_000
	d, last := populated(b, sumWorld, cells, counted)
	for _, dirty := range []int{1, 1_000, 10_000} {
		b.Run(fmt.Sprintf("cells=%d/dirty=%d", cells, dirty), func(b *testing.B) {
			next, n := 0, 0
			var frozen, used time.Duration
			for b.Loop() {
				b.StopTimer()
				items := make([]decide.Item, dirty)
				for i := range items {
					items[i] = addOne(next % cells)
					next += 7919
				}
				d.turn(items...)
				d.events = d.events[:1]
				b.StartTimer()
				from, began := processor(b), time.Now()
				s := world.Of(d.root).Freeze()
				frozen += time.Since(began)
				e, err := s.Write(d.put)
				require.NoError(b, err)
				d.turn(decide.Item{Event: e})
				used += processor(b) - from
				last = d.events[len(d.events)-1]
				n++
			}
			b.ReportMetric(float64(frozen)/float64(n), "freeze-ns/op")
			b.ReportMetric(float64(used)/float64(n), "cpu-ns/op")
		})
	}
	b.Run(fmt.Sprintf("cells=%d/restore", cells), func(b *testing.B) {
		d.events = d.events[:1]
		before := heap()
		for b.Loop() {
			d.use(d.planted(&last))
		}
		b.ReportMetric(float64(heap())-float64(before), "heap-B")
	})
	b.Run(fmt.Sprintf("cells=%d/cold", cells), func(b *testing.B) {
		i := 0
		for b.Loop() {
			_, ok := world.Of(d.root).Cell(fmt.Sprintf("sum[c%d]", i%cells))
			require.True(b, ok)
			i += 7919
		}
	})
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// processor returns the time of the processor that the program has used.
func processor(tb testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// armedWorld has a machine whose cells wait for a timer.
const armedWorld = `
kind: World
name: armed
types: {Arm: {record: {id: text}}}
machines:
  m:
    key: text
    state: {record: {n: int}}
    event: [Arm]
    emits: [timer]
    rules:
      - {event: Arm, set: {n: 0}, emit: [{timer: t, for: PT1H}]}
      - {event: timer.t, set: {n: "{{ state.n + 1 }}"}}
routing: {subscriptions: [{event: Arm, machine: m, key_field: id}]}
`

// armed is a cell that waits for a timer; three timers are due at a time.
func armed(i int) (key string, state, work value.Value, active int64) {
	key = fmt.Sprint("c", i)
	timer := map[string]any{
		"key": fmt.Sprintf("m[%s].timer@%d.0", key, i+10), "emitted": int64(i + 10), "order": int64(i + 1), "timer": "t",
		"due": epoch + int64(i/3+1)*int64(time.Second),
	}
	return key, map[string]any{"n": int64(0)}, map[string]any{"open": []any{timer}}, epoch
}

// BenchmarkTimers restores a world with many armed timers until the first timer is known, and fires the next.
func BenchmarkTimers(b *testing.B) {
	const timers = 1_000_000
	d, last := populated(b, armedWorld, timers, armed)
	b.Run(fmt.Sprintf("timers=%d/open", timers), func(b *testing.B) {
		before := heap()
		for b.Loop() {
			d.use(d.planted(&last))
			require.Equal(b, epoch+int64(time.Second), d.root.NextDue())
		}
		b.ReportMetric(float64(heap())-float64(before), "heap-B")
	})
	b.Run(fmt.Sprintf("timers=%d/fire", timers), func(b *testing.B) {
		for b.Loop() {
			d.now = d.root.NextDue()
			d.turn()
			d.events = d.events[:1]
			if _, due := world.Of(d.root).Snapshot(false); due {
				b.StopTimer()
				d.snapshot()
				b.StartTimer()
			}
		}
	})
}
