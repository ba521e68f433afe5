package world_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/value"
)

// choices are drawn from the bytes of a fuzzer; 0 when no bytes are left.
type choices struct {
	left   []byte
	atOnce bool // timers may be due when they are armed
}

func (c *choices) n(n int) int {
	if len(c.left) == 0 {
		return 0
	}
	b := c.left[0]
	c.left = c.left[1:]
	return int(b) % n
}

func (c *choices) flip() bool { return c.n(2) == 1 }

// of returns one of a list.
func of[T any](c *choices, list ...T) T { return list[c.n(len(list))] }

// some returns a part of a list, in its order.
func some[T any](c *choices, list ...T) []T {
	part, bits := []T{}, c.n(256)
	for i, x := range list {
		if bits>>i&1 == 1 {
			part = append(part, x)
		}
	}
	return part
}

// world returns a world of one to three machines with random rules.
func (c *choices) world() map[string]any {
	machines, subscriptions := map[string]any{}, []any{}
	for i := range 1 + c.n(3) {
		name := fmt.Sprint("m", i)
		m := map[string]any{
			"state": map[string]any{"record": map[string]any{"n": "int", "log": "list<text>"}}, "annotations": "text",
			"event": append([]any{"Text", "Number"}, some[any](c, "Rejected", "Frame")...), "emits": []any{"pay", "ask", "timer"}, "lifecycle": of(c, "process", "entity"),
		}
		key := of(c, "", "text", "int")
		for _, event := range []string{"Text", "Number"} {
			s := map[string]any{"event": event, "machine": name}
			if key != "" {
				m["key"], s["key_field"] = key, map[string]string{"text": "id", "int": "at"}[key]
			}
			if c.n(4) > 0 {
				subscriptions = append(subscriptions, s)
			}
		}
		if c.n(3) == 0 {
			m["ttl"] = of(c, "PT5S", "PT1M")
		}
		if c.n(3) == 0 {
			m["indexes"] = map[string]any{"n": "{{ state.n }}", "odd": "{{ state.n % 2 == 1 ? key : null }}"}
		}
		rules := []any{}
		for range 1 + c.n(7) {
			rules = append(rules, c.rule())
		}
		m["rules"] = rules
		machines[name] = m
	}
	return map[string]any{
		"kind": "World", "name": "random", "machines": machines, "routing": map[string]any{"subscriptions": subscriptions}, "effects": c.effects(),
		"directory": map[string]any{"participants": map[string]any{"a": map[string]any{}, "b": map[string]any{}}},
		"types": map[string]any{
			"Text":   map[string]any{"record": map[string]any{"id": "text", "at": "int", "n": "int"}},
			"Number": map[string]any{"record": map[string]any{"id": "text", "at": "int", "n": "int", "of": "option<text>"}},
		},
	}
}

func (c *choices) effects() map[string]any {
	pay := map[string]any{"params": map[string]any{"record": map[string]any{"n": "int"}}, "receipt": "int"}
	ask := map[string]any{"params": "text", "receipt": map[string]any{"record": map[string]any{"ok": "bool"}}}
	if c.flip() {
		pay["max_concurrency"] = 1 + c.n(2)
	}
	if c.flip() {
		pay["timing"] = map[string]any{"timeout": "PT20S", "retry": map[string]any{"max_attempts": 1 + c.n(3), "backoff": "PT3S"}}
	}
	if c.flip() {
		ask["target"] = map[string]any{"resolve": "static", "participants": []any{"a", "b"}}
		ask["fan_in"] = map[string]any{"policy": of(c, "any_one", "all")}
	}
	return map[string]any{"pay": pay, "ask": ask}
}

// rule returns a rule. The events that it raises have a smaller number, not below zero, so that chains end.
func (c *choices) rule() map[string]any {
	event := of(c, "Text", "Number", "pay", "pay.card", "ask", "timer", "timer.late", "Receipt")
	r := map[string]any{"event": event}
	message := event == "Text" || event == "Number"
	n := "1"
	if message {
		n = "event.n"
	}
	switch c.n(5) {
	case 1:
		r["when"] = "{{ state == null }}"
	case 2:
		r["when"] = "{{ state != null && state.n > " + n + " }}"
	case 3:
		if message {
			r["when"] = "{{ event.n > 2 }}"
		}
	}
	switch c.n(9) {
	case 0:
		r["delete"] = true
		return r
	case 1:
		r["fail"] = map[string]any{"code": "unlucky"}
		return r
	case 2: // it does not set the state
	case 3:
		r["set"] = "{{ state ?? {n: 7, log: []} }}"
	default:
		r["set"] = map[string]any{"n": "{{ (state ?? {n: 0}).n + " + n + " }}", "log": "{{ take(concat((state ?? {log: []}).log, [now]), 3) }}"}
	}
	if message && c.n(3) == 0 {
		r["when"] = "{{ event.n > 0 }}"
		r["raise"] = []any{map[string]any{"event": of(c, "Text", "Number"), "value": map[string]any{
			"id": of(c, "{{ event.id }}", "raised"), "at": of(c, "{{ event.at }}", "{{ event.n }}"), "n": "{{ event.n - 1 }}"}}}
	}
	var emit []any
	for range c.n(3) {
		emit = append(emit, of(c,
			map[string]any{"effect": "pay", "params": map[string]any{"n": "{{ " + n + " }}"}, "issuer": of(c, "card", "cash"), "key": of(c, "same", "{{ now }}")},
			map[string]any{"effect": "ask", "params": "{{ now }}"},
			map[string]any{"timer": of(c, "late", "soon"), "for": of(c, "PT2S", "PT0.001S", "PT40S")},
			map[string]any{"timer": "late", "until": c.until()}))
	}
	if emit != nil {
		r["emit"] = emit
	}
	if drop := some[any](c, "pay", "pay.card", "ask", "timer.late"); c.n(3) == 0 && len(drop) > 0 {
		r["drop"] = drop
	}
	if c.n(4) == 0 {
		r["complete"] = true
	}
	if c.n(4) == 0 {
		r["note"] = "{{ cell.machine }}"
	}
	return r
}

// until returns an instant.
func (c *choices) until() string {
	if c.atOnce {
		return of(c, "{{ now }}", "2026-01-01T00:01:00Z")
	}
	return "2036-01-01T00:00:00Z"
}

// lives are copies of one life of a world: undisturbed, and in processes that crash, keep little in memory, and continue from
// snapshots.
type lives struct {
	*choices
	t     *testing.T
	all   []*driver
	kept  []journal.Event // snapshots
	cells []string
}

// move applies a random operation to all lives.
func (l *lives) move() {
	switch l.n(12) {
	case 0, 1, 2, 3:
		l.messages()
	case 4, 5:
		l.answer()
	case 6:
		l.report()
	case 7:
		seconds := int64(1 + l.n(40))
		for _, d := range l.all {
			d.now += seconds * int64(time.Second)
			d.turn()
		}
	case 8, 9:
		kind := of(l.choices, journal.CellPaused, journal.CellResumed, journal.NodeRetried, journal.NodeAborted)
		l.command(journal.Event{Type: kind, Node: of(l.choices, l.cells...)})
	case 10:
		l.command(journal.Event{Type: of(l.choices, journal.RunPaused, journal.RunResumed)})
	case 11:
		for i, d := range l.all {
			if e := d.snapshot(); i == 0 {
				l.kept = append(l.kept, e)
			}
		}
	}
}

// command sends a command to all lives: all refuse it, with the same text, or none.
func (l *lives) command(e journal.Event) {
	var first error
	for i, d := range l.all {
		own := e
		own.Detail = &journal.Detail{Reason: "fuzz"}
		err := d.take(own)
		if i == 0 {
			first = err
		}
		require.Equal(l.t, fmt.Sprint(first), fmt.Sprint(err))
	}
}

// messages sends one to three messages together.
func (l *lives) messages() {
	type sent struct {
		name, id string
		payload  map[string]any
	}
	var list []sent
	for range 1 + l.n(3) {
		list = append(list, sent{of(l.choices, "Text", "Number", "Nothing"), of(l.choices, "", "", "i1", "i2"), map[string]any{
			"id": of(l.choices, "a", "b", "c d"), "at": of[any](l.choices, int64(1), int64(2), "one"), "n": int64(l.n(5)),
		}})
	}
	var first []error
	for i, d := range l.all {
		refused, items := make([]error, len(list)), []decide.Item{}
		for k, m := range list {
			it := message(m.name, m.id, m.payload, &refused[k])
			it.Received = d.now
			items = append(items, it)
		}
		d.turn(items...)
		if i == 0 {
			first = refused
		}
		require.Equal(l.t, fmt.Sprint(first), fmt.Sprint(refused))
	}
}

// call returns an open call of the first life. It reports false if there is none.
func (l *lives) call() (name string, ok bool) {
	open := l.all[0].root.OpenCalls()
	if len(open) == 0 {
		return "", false
	}
	return nameOf(l.all[0].root, of(l.choices, open...)), true
}

func nameOf(root *reactive.Root, c reactive.Request) string {
	return reactive.CallName(root.Key(c.Node), c.Attempt, c.Participant, c.Decision)
}

// request returns an open call of a life.
func (l *lives) request(d *driver, name string) reactive.Request {
	for _, c := range d.root.OpenCalls() {
		if nameOf(d.root, c) == name {
			return c
		}
	}
	require.FailNow(l.t, "a life does not have the call", name)
	return reactive.Request{}
}

// answer ends a call in a random way, sometimes twice in the same turn.
func (l *lives) answer() {
	name, ok := l.call()
	if !ok {
		return
	}
	result := of(l.choices, call.Result{Output: int64(7)}, call.Result{Output: map[string]any{"ok": true}}, call.Result{Output: "no"}, call.Result{},
		call.Result{Failure: &journal.Failure{Code: "busy", Retryable: true}}, call.Result{Failure: &journal.Failure{Code: "gone"}})
	times := 1 + l.n(2)
	for _, d := range l.all {
		req := l.request(d, name)
		items := make([]decide.Item, times)
		for i := range items {
			items[i].Event = decide.Ending(req, result)
			items[i].Event.Node = d.root.Key(req.Node)
		}
		d.turn(items...)
	}
}

// report sends a report of a call in progress, sometimes with a repeated number or a gap.
func (l *lives) report() {
	name, ok := l.call()
	if !ok {
		return
	}
	number := 1 + l.n(4)
	for _, d := range l.all {
		req := l.request(d, name)
		d.turn(decide.Item{Event: journal.Event{
			Type: journal.CallReported, Node: d.root.Key(req.Node), Attempt: req.Attempt, Value: "half",
			Detail: &journal.Detail{Participant: req.Participant, Count: int32(number), Name: "progress"},
		}})
	}
}

// FuzzLives: for any world and any operations, the invariants hold, and the journal is the same, byte for byte, in processes that
// crash, also in the middle of their turns, keep as little in memory as possible and continue from snapshots. The whole journal, and
// each snapshot with the later events, yield the same world.
func FuzzLives(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := range 40 {
		data := make([]byte, 40+20*size)
		for i := range data {
			data[i] = byte(random.Uint32())
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 2_000 {
			return
		}
		c := &choices{left: data}
		c.atOnce = c.flip()
		text, err := value.JSON(c.world())
		require.NoError(t, err)
		p := planOf(t, string(text))
		l := &lives{choices: c, t: t, cells: []string{"m0", "m0[a]", "m0[1]", "m1", "m1[b]", "m1[2]", "m2", "m2[c%20d]", "m2[1]"}}
		for i := range 3 {
			d := begin(t, p, true)
			cuts := rand.New(rand.NewPCG(uint64(len(data)), uint64(i)))
			switch i {
			case 1:
				if d.cache.Cells = 1; !c.atOnce { // a turn that continues a cut one would fire them
					d.cuts = cuts
				}
				d.crashes = func() bool { return cuts.IntN(3) == 0 }
			case 2:
				d = d.forgetful()
			}
			d.checked()
			l.all = append(l.all, d)
		}
		for moves := 0; len(c.left) > 0 && moves < 150; moves++ {
			l.move()
			for _, d := range l.all[1:] {
				require.True(t, bytes.Equal(l.all[0].journal(t), d.journal(t)), "after move %d the lives differ", moves)
			}
		}
		l.requireSame()
	})
}

// requireSame requires that the journal yields the same world as the live one.
func (l *lives) requireSame() {
	live := l.all[0]
	want := live.digest(live.root)
	require.Equal(l.t, want, live.digest(live.replayed()), "from the whole journal")
	for _, d := range l.all[1:] {
		require.Equal(l.t, want, d.digest(d.root))
	}
	for i := range l.kept {
		root, err := live.restored(&l.kept[i])
		require.NoError(l.t, err)
		require.Equal(l.t, want, live.digest(root), "from the snapshot of event %d", l.kept[i].Seq)
	}
	require.NoError(l.t, world.Invariants(live.world()))
}
