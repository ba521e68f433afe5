package world_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
)

// The world of these tests has all kinds of state that a snapshot must contain: open calls with retries and participants,
// timers, failures, waiting mail, raised events, a time to live.
const keptWorld = `
kind: World
name: kept
types:
  Add: {record: {id: text, n: int}}
  Sum: {record: {id: text, total: int}}
directory: {participants: {a: {}, b: {}}}
effects:
  pay: {params: {record: {n: int}}, receipt: {record: {ok: bool}}, max_concurrency: 2, timing: {timeout: PT50S, retry: {max_attempts: 2, backoff: PT5S}}}
  ask: {params: {record: {n: int}}, receipt: int, target: {resolve: static, participants: [a, b]}, fan_in: {policy: any_one}}
machines:
  sum:
    key: text
    state: {record: {n: int, log: list<text>}}
    indexes: {n: "{{ state.n }}", large: "{{ state.n > 40 ? key : null }}"}
    event: [Add, Rejected]
    emits: [pay, ask, timer]
    rules:
      - {event: Add, when: "{{ event.n == 13 }}", fail: {code: unlucky}}
      - {event: Add, when: "{{ event.n == 0 }}", delete: true}
      - event: Add
        set: {n: "{{ (state ?? {n: 0}).n + event.n }}", log: "{{ take(concat((state ?? {log: []}).log, [now]), 3) }}"}
        raise: [{event: Sum, value: {id: "{{ key }}", total: "{{ state.n }}"}}]
        emit: [{effect: pay, params: {n: "{{ event.n }}"}, issuer: "{{ 'i' + string(event.n) }}", key: "{{ key }}"}, {timer: late, for: PT20S}]
      - {event: pay, when: '{{ event.status == "ok" && state != null }}', drop: [timer.late], emit: [{effect: ask, params: {n: "{{ state.n }}"}}]}
      - {event: ask, when: '{{ state != null }}', set: {n: "{{ state.n + 1 }}"}}
      - {event: Rejected, when: '{{ state != null }}', set: {n: -1}}
      - {event: timer.late, when: "{{ state != null && state.n > 40 }}", complete: true}
  log:
    state: {record: {seen: int}}
    event: [Sum]
    emits: []
    lifecycle: entity
    ttl: PT60S
    rules: [{event: Sum, set: {seen: "{{ (state ?? {seen: 0}).seen + 1 }}"}}]
routing:
  subscriptions: [{event: Add, machine: sum, key_field: id}, {event: Sum, machine: log}]
`

// play makes a random move.
func (d *driver) play(t *rapid.T) {
	cell := func() string {
		if rapid.IntRange(0, 5).Draw(t, "log") == 0 {
			return "log"
		}
		return "sum[" + rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "cell") + "]"
	}
	switch rapid.IntRange(0, 12).Draw(t, "move") {
	case 0, 1, 2, 3:
		id := rapid.SampledFrom([]string{"", "", "m1", "m2", "m3"}).Draw(t, "id")
		_ = d.send("Add", map[string]any{
			"id": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key"), "n": int64(rapid.IntRange(-1, 14).Draw(t, "n")),
		}, id)
	case 4, 5, 6:
		if open := d.root.OpenCalls(); len(open) > 0 {
			outputs := []call.Result{{Output: map[string]any{"ok": true}}, {Output: int64(7)}, {Output: "no"},
				{Failure: &journal.Failure{Code: "busy", Retryable: true}}, {Failure: &journal.Failure{Code: "gone"}}}
			d.answer(rapid.SampledFrom(open).Draw(t, "call"), rapid.SampledFrom(outputs).Draw(t, "result"))
		}
	case 7, 8:
		d.now += int64(rapid.IntRange(1, 30).Draw(t, "seconds")) * int64(time.Second)
		d.turn()
	case 9:
		_ = d.take(journal.Event{Type: rapid.SampledFrom([]journal.Type{journal.CellPaused, journal.CellResumed}).Draw(t, "hold"), Node: cell()})
	case 10:
		_ = d.take(journal.Event{Type: journal.NodeRetried, Node: cell()})
	case 11:
		_ = d.take(journal.Event{Type: journal.NodeAborted, Node: cell(), Detail: &journal.Detail{Reason: "enough"}})
	case 12:
		_ = d.take(journal.Event{Type: rapid.SampledFrom([]journal.Type{journal.RunPaused, journal.RunResumed}).Draw(t, "run")})
	}
}

// TestSnapshotAnywhere: a snapshot at any moment with the later events yields the same world as all events, with the same future.
func TestSnapshotAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := drive(t, keptWorld)
		if rapid.Bool().Draw(t, "forgetful") {
			d.forgetful()
		}
		var snapshots []journal.Event
		var frozen []*world.Snapshot
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			switch rapid.IntRange(0, 9).Draw(t, "keep") {
			case 0:
				snapshots = append(snapshots, d.snapshot())
			case 1, 2: // the world continues while it is written
				frozen = append(frozen, d.world().Freeze())
			case 3: // a newer one may have been faster
				if len(frozen) > 0 {
					i := rapid.IntRange(0, len(frozen)-1).Draw(t, "which")
					snapshots = append(snapshots, d.land(frozen[i]))
					frozen = slices.Delete(frozen, i, i+1)
				}
			}
			d.play(t)
		}
		want := d.digest(d.root)
		require.Equal(t, want, d.digest(d.replayed()))
		requireFound(t, d.root)
		for i := range snapshots {
			root, err := d.restored(&snapshots[i])
			require.NoError(t, err)
			require.Equal(t, want, d.digest(root), "from the snapshot of event %d", snapshots[i].Seq)
			requireFound(t, root)
		}
		if len(snapshots) == 0 {
			return
		}
		root, err := d.restored(&snapshots[len(snapshots)-1])
		require.NoError(t, err)
		other := *d
		other.events = slices.Clone(d.events)
		other.use(root)
		for _, on := range []*driver{d, &other} {
			on.now += int64(time.Minute)
			on.turn()
			_ = on.send("Add", map[string]any{"id": "a", "n": int64(1)}, "m1")
			_ = on.send("Add", map[string]any{"id": "d", "n": int64(1)}, "")
		}
		require.Equal(t, d.events, other.events)
		require.Equal(t, d.snapshot().Value, other.snapshot().Value, "the next snapshot")
	})
}

// TestRootsChangeAtSnapshots: the roots of the index depend only on the states of the cells.
func TestRootsChangeAtSnapshots(t *testing.T) {
	d := drive(t, keptWorld)
	roots := func(e journal.Event) any { return e.Value.(map[string]any)["roots"] }
	before := roots(d.snapshot())
	require.NoError(t, d.send("Add", map[string]any{"id": "a", "n": int64(1)}, ""))
	first := roots(d.snapshot())
	require.NotEqual(t, before, first)
	require.Equal(t, first, roots(d.snapshot()), "nothing has changed between")
	require.NoError(t, d.send("Add", map[string]any{"id": "a", "n": int64(13)}, ""))
	require.NotEqual(t, first, roots(d.snapshot()), "it has failed")
}

// TestSnapshotDamage: a snapshot with missing or changed content, or of another world, is never served.
func TestSnapshotDamage(t *testing.T) {
	d := drive(t, keptWorld)
	for _, id := range []string{"a", "b"} {
		require.NoError(t, d.send("Add", map[string]any{"id": id, "n": int64(2)}, "m-"+id))
	}
	require.NoError(t, d.take(journal.Event{Type: journal.CellPaused, Node: "sum[a]"}))
	require.NoError(t, d.send("Add", map[string]any{"id": "a", "n": int64(2)}, ""))
	e := d.snapshot()
	want := d.digest(d.root)
	refused := func(what string) {
		root, err := d.restored(&e)
		if err == nil {
			var b strings.Builder
			root.Digest(&b, d.now) // reads every cell
			err = world.Of(root).Err()
		}
		require.ErrorIs(t, err, journal.ErrDamaged, what)
	}
	for hash, blob := range d.content {
		delete(d.content, hash)
		refused("it is missing")
		for i := range blob {
			changed := slices.Clone(blob)
			changed[i] ^= 1
			d.content[hash] = changed
			refused("a byte has changed")
		}
		d.content[hash] = blob
	}
	manifest := e.Value.(map[string]any)["manifest"]
	e.Value.(map[string]any)["manifest"] = "another"
	refused("another world")
	require.ErrorIs(t, d.apply(d.empty(), 0), journal.ErrDamaged, "also where the whole journal is read")
	e.Value.(map[string]any)["manifest"] = manifest
	for _, run := range []any{"another", "", int64(1), nil} {
		e.Value.(map[string]any)["run"] = run
		refused("of another run of the same world")
		require.ErrorIs(t, d.apply(d.empty(), 0), journal.ErrDamaged, "also where the whole journal is read")
		_, err := d.world().Kept().Mark(&e)
		require.ErrorIs(t, err, journal.ErrDamaged, "also where content is marked")
	}
	delete(e.Value.(map[string]any), "run") // as an earlier program wrote it
	root, err := d.restored(&e)
	require.NoError(t, err)
	require.Equal(t, want, d.digest(root))
	e.Value.(map[string]any)["run"] = "r"
	for _, field := range []string{"upto", "before"} {
		was, has := e.Value.(map[string]any)[field]
		for _, moment := range []any{int64(e.Seq), int64(e.Seq) + 1, int64(-1), "1", nil} {
			if e.Value.(map[string]any)[field] = moment; field == "before" && (moment == nil || moment == int64(e.Seq)) {
				continue
			}
			refused(field + " is of no moment before")
		}
		if e.Value.(map[string]any)[field] = was; !has {
			delete(e.Value.(map[string]any), field)
		}
	}
	root, err = d.restored(&e)
	require.NoError(t, err)
	require.Equal(t, want, d.digest(root))
}

// TestDamageOfTwoSnapshots: damage to content that only one of two snapshots needs is found when that one is read, and the other
// yields the same world; damage to shared content damages both. The events trimmed before the older snapshot do not matter.
func TestDamageOfTwoSnapshots(t *testing.T) {
	d := drive(t, keptWorld)
	require.NoError(t, d.send("Add", map[string]any{"id": "a", "n": int64(2)}, ""))
	require.NoError(t, d.send("Add", map[string]any{"id": "b", "n": int64(3)}, ""))
	older := d.snapshot()
	require.NoError(t, d.send("Add", map[string]any{"id": "b", "n": int64(5)}, ""))
	newer := d.snapshot()
	require.NoError(t, d.send("Add", map[string]any{"id": "c", "n": int64(1)}, ""))
	for i := 1; i < int(world.Upto(&older)); i++ { // they are trimmed
		d.events[i] = journal.Event{Seq: uint64(i + 1)}
	}
	want := d.digest(d.root)
	serves := func(e journal.Event) bool {
		root, err := d.restored(&e)
		if err == nil {
			var b strings.Builder
			root.Digest(&b, d.now) // reads every cell
			_ = root.NextDue()     // reads the deadlines
			err = world.Of(root).Err()
		}
		if err != nil {
			require.ErrorIs(t, err, journal.ErrDamaged)
			return false
		}
		require.Equal(t, want, d.digest(root))
		return true
	}
	require.True(t, serves(older) && serves(newer))
	served := map[[2]bool]int{}
	for hash, blob := range d.content {
		delete(d.content, hash)
		served[[2]bool{serves(older), serves(newer)}]++
		changed := slices.Clone(blob)
		changed[len(changed)/2] ^= 4
		d.content[hash] = changed
		serves(older)
		serves(newer)
		d.content[hash] = blob
	}
	require.NotZero(t, served[[2]bool{true, false}], "content of the newer alone")
	require.NotZero(t, served[[2]bool{false, false}], "content of both")
	require.True(t, serves(older) && serves(newer))
}
