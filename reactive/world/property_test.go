package world_test

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// worldText is the world that the model knows, too. BASE stands for a state that is made if there is none.
var worldText = strings.NewReplacer("BASE", `n: "{{ (state ?? {n: 0}).n }}", got: "{{ (state ?? {got: []}).got }}"`,
	"N(", `n: "{{ (state ?? {n: 0}).n + (`, ")N", `) }}", got: "{{ (state ?? {got: []}).got }}"`,
	"GOT(", `n: "{{ (state ?? {n: 0}).n }}", got: "{{ concat((state ?? {got: []}).got, [`, ")GOT", `]) }}"`).Replace(`
kind: World
name: w
types:
  Do: {record: {id: text, what: text, n: int}}
  Heard: {record: {id: text, n: nat}}
  State: {record: {n: int, got: list<text>}}
effects:
  ask: {params: {record: {n: int}}, receipt: nat}
machines:
  acc:
    key: text
    state: State
    event: [Do, Heard, Rejected]
    emits: [ask, timer]
    rules:
      - {event: Do, when: "{{ event.what == 'add' }}", set: {N(event.n)N}}
      - {event: Do, when: "{{ event.what == 'bad' }}", set: {n: none}, emit: [{effect: ask, params: {n: 1}}], raise: [{event: Heard, value: {id: a, n: 0}}]}
      - {event: Do, when: "{{ event.what == 'fail' }}", fail: {code: broken}}
      - {event: Do, when: "{{ event.what == 'del' }}", delete: true}
      - {event: Do, when: "{{ event.what == 'end' }}", complete: true}
      - {event: Do, when: "{{ event.what == 'ask' }}", set: {BASE}, emit: [{effect: ask, params: {n: "{{ event.n }}"}, issuer: "i{{ event.n }}"}]}
      - event: Do
        when: "{{ event.what == 'two' }}"
        set: {BASE}
        drop: [timer.t]
        emit: [{effect: ask, params: {n: "{{ event.n }}"}, issuer: "i{{ event.n }}"}, {timer: t, for: "PT{{ abs(event.n) + 1 }}S"}, {timer: u, for: PT2S}]
      - event: Do
        when: "{{ event.what == 'hear' }}"
        set: {BASE}
        raise: [{event: Heard, value: {id: "{{ event.n % 2 == 0 ? key : 'b' }}", n: "{{ abs(event.n) % 3 }}"}}, {event: Heard, value: {id: c, n: 0}}]
      - {event: Do, when: "{{ event.what == 'lose' }}", emit: [{effect: ask, params: {n: "{{ event.n }}"}, issuer: "i{{ event.n }}"}]}
      - {event: Do, when: "{{ event.what == 'drop' }}", drop: [ask, timer]}
      - {event: Do, when: "{{ event.what == 'drop one' }}", drop: [ask.i1]}
      - {event: Heard, when: "{{ event.n > 0 }}", set: {N(100)N}, raise: [{event: Heard, value: {id: "{{ key }}", n: "{{ event.n - 1 }}"}}]}
      - {event: Heard, set: {N(1)N}}
      - {event: ask, when: "{{ event.status == 'ok' }}", set: {N(event.payload)N}}
      - {event: ask, set: {GOT(event.error.code)GOT}}
      - {event: Rejected, set: {GOT('rejected')GOT}}
      - {event: timer.t, set: {N(1000)N}}
      - {event: timer.u, set: {N(5000)N}}
  strict:
    key: text
    state: State
    event: [Do]
    emits: [ask]
    lifecycle: entity
    rules:
      - {event: Do, when: "{{ event.what == 'add' }}", set: {N(event.n)N}}
      - {event: Do, when: "{{ event.what == 'ask' }}", set: {BASE}, emit: [{effect: ask, params: {n: "{{ event.n }}"}, issuer: "i{{ event.n }}"}]}
      - {event: ask, set: {N(10 + (event.payload ?? 0))N}}
  log:
    state: State
    event: [Heard]
    emits: []
    lifecycle: entity
    rules: [{event: Heard, set: {N(1)N}}]
routing:
  subscriptions:
    - {event: Do, machine: acc, key_field: id}
    - {event: Do, machine: strict, key_field: id}
    - {event: Heard, machine: acc, key_field: id}
    - {event: Heard, machine: log}
`)

type failer interface {
	require.TestingT
	Helper()
}

func compiled(t failer, text string) *plan.Plan {
	t.Helper()
	checked, err := kinds.Load("w.yaml", []byte(text), template.Known{Lenient: true})
	require.NoError(t, err)
	p, err := plan.Compile(checked)
	require.NoError(t, err)
	return p
}

// host answers nothing at once.
type host struct{}

func (host) Function(string, []any) (value.Value, *journal.Failure) { return nil, nil }
func (host) Pure(int32, any) (call.Result, bool)                    { return call.Result{}, false }
func (host) Reserve(reactive.Room) bool                             { return true }

// engine drives a world as an engine does, and keeps its journal.
type engine struct {
	t       failer
	plan    *plan.Plan
	root    *reactive.Root
	step    *decide.Stepper
	journal []journal.Event
	now     int64 // Unix nanoseconds
	crashes bool  // after every turn
}

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

func start(t failer, p *plan.Plan) *engine {
	d := &engine{t: t, plan: p, now: epoch}
	d.rebuild()
	started := decide.Started("r", p, nil, decide.Limits{})
	started.Detail.Start.Seed = bytes.Repeat([]byte{7}, 32)
	d.turns(decide.Item{Event: started})
	return d
}

func (d *engine) world() *world.World { return world.Of(d.root) }

// rebuild makes the root and the stepper anew from the journal, as it is stored.
func (d *engine) rebuild() {
	d.root = decide.NewRoot(d.plan)
	for _, e := range d.journal {
		d.root.Apply(&e)
	}
	d.root.TakeCalls()
	d.root.TakeCancels()
	d.step = decide.NewStepper(d.root, host{})
}

// turns takes turns until nothing follows, the first with the items.
func (d *engine) turns(items ...decide.Item) {
	for {
		out := d.step.Step(d.now, items)
		data, err := encoded(out.Batch)
		require.NoError(d.t, err)
		var codec journal.Codec
		d.journal, err = codec.DecodeAll(d.journal, data)
		require.NoError(d.t, err)
		for _, r := range out.Replies {
			r.To(r.Err)
		}
		if d.crashes {
			d.rebuild()
		}
		if items = nil; !out.More {
			return
		}
	}
}

func encoded(events []journal.Event) (data []byte, err error) {
	var codec journal.Codec
	for i := range events {
		if data, err = codec.Append(data, &events[i]); err != nil {
			return nil, err
		}
	}
	return data, nil
}

func (d *engine) digest(root *reactive.Root) string {
	var b bytes.Buffer
	root.Digest(&b, d.now)
	return b.String()
}

// command returns an item that notes whether the command is refused.
func command(e journal.Event, refused *error) decide.Item {
	if e.Detail == nil {
		e.Detail = &journal.Detail{}
	}
	return decide.Item{Event: e, Reply: func(err error) { *refused = err }}
}

func message(name, id string, payload any, refused *error) decide.Item {
	return command(journal.Event{Type: journal.MessageReceived, Value: payload, Detail: &journal.Detail{Name: name, ID: id}}, refused)
}

// ended returns the item of the end of a call.
func (d *engine) ended(key string, attempt int32, result call.Result) decide.Item {
	v, ok := d.root.Node(key)
	var e journal.Event
	if ok {
		e = decide.Ending(d.root.Request(v, attempt), result)
	} else { // it is over
		e = journal.Event{Type: journal.CallResponded, Attempt: attempt, Value: result.Output}
		if result.Failure != nil {
			e.Type, e.Value, e.Detail = journal.CallError, nil, &journal.Detail{Failure: result.Failure}
		}
	}
	e.Node, e.Hint = key, 0
	return decide.Item{Event: e}
}

// activations returns the cells that were activated, in order; failed activations are told from other failures by the newest
// activation of their cell, which the world keeps.
func (d *engine) activations() (list []string) {
	root := decide.NewRoot(d.plan)
	for _, e := range d.journal {
		root.Apply(&e)
		c, _ := world.Of(root).Cell(e.Node)
		if e.Type == journal.CellStepped || e.Type == journal.CellFailed && c.Last == e.Seq {
			list = append(list, e.Node)
		}
	}
	return list
}

// shown returns all that can be seen of a cell, as the model says it.
func shown(c *world.CellState) string {
	state := "none"
	if c.State != nil {
		m := c.State.(map[string]any)
		state = fmt.Sprint(m["n"], m["got"])
	}
	text := fmt.Sprintf("%s %s paused=%v %s mail=%d held=%d", c.Address, c.Status, c.Paused, state, c.Mail, c.Held)
	if c.Failure != nil {
		text += " failed:" + c.Failure.Code
	}
	for _, x := range c.Intents {
		text += fmt.Sprintf(" [%s %s", x.Effect, x.Issuer)
		if x.Effect == "timer" {
			text += fmt.Sprintf(" due %d]", (x.Due.UnixNano()-epoch)/1e9)
		} else {
			text += fmt.Sprintf(" %d]", x.Params.(map[string]any)["n"])
		}
	}
	return text
}

// script is one random life of a world, of its model beside it, and of the same world that crashes after every turn.
type script struct {
	*rapid.T
	model   *model
	live    *engine
	crashed *engine
	past    []string // calls that were requested
	sent    int
}

func (s *script) both(f func(d *engine)) {
	f(s.live)
	f(s.crashed)
}

// TestModel compares a world with its model over random scripts: states, statuses, mail, open intents, counts and the order
// of activations; live, recovered from its journal, and with a crash after every turn.
func TestModel(t *testing.T) {
	p := compiled(t, worldText)
	rapid.Check(t, func(t *rapid.T) {
		s := &script{T: t, model: newModel(), live: start(t, p), crashed: start(t, p)}
		s.crashed.crashes = true
		modelNow = 0
		moves := []func(){s.messages, s.messages, s.messages, s.answer, s.answer, s.late, s.time, s.time, s.person, s.person, s.pause}
		for range rapid.IntRange(1, 60).Draw(t, "moves") {
			rapid.SampledFrom(moves).Draw(t, "move")()
			s.model.decide()
			s.compare()
		}
		require.Equal(t, s.model.activated, s.live.activations())
		a, err := encoded(s.live.journal)
		require.NoError(t, err)
		b, err := encoded(s.crashed.journal)
		require.NoError(t, err)
		require.True(t, bytes.Equal(a, b), "crashes change nothing")
	})
}

func (s *script) compare() {
	want, got := []string{}, []string{}
	for _, address := range slices.Sorted(maps.Keys(s.model.cells)) {
		want = append(want, s.model.cells[address].String())
	}
	for c := range s.live.world().Cells() {
		got = append(got, shown(&c))
		for _, x := range c.Intents {
			if x.Effect == "ask" && !slices.Contains(s.past, x.Key) && !s.model.paused {
				s.past = append(s.past, x.Key)
			}
		}
	}
	require.Equal(s, want, got)
	require.Equal(s, s.model.tally, s.live.world().Tally())
	again := decide.NewRoot(s.live.plan)
	for _, e := range s.live.journal {
		again.Apply(&e)
	}
	require.Equal(s, s.live.digest(s.live.root), s.live.digest(again), "live and replayed")
	require.Equal(s, s.live.digest(s.live.root), s.crashed.digest(s.crashed.root), "live and crashed")
}

var keysOfCells = []string{"a", "b", "c"}

// messages sends up to four messages at once, some of them under an id that was used before.
func (s *script) messages() {
	type sending struct {
		it modelItem
		id string
	}
	list := make([]sending, rapid.IntRange(1, 4).Draw(s.T, "messages"))
	for i := range list {
		it := modelItem{kind: "Do", id: rapid.SampledFrom(keysOfCells).Draw(s.T, "id"), n: rapid.Int64Range(-2, 4).Draw(s.T, "n")}
		it.what = rapid.SampledFrom([]string{"add", "add", "bad", "fail", "del", "end", "ask", "ask", "two", "two", "hear", "hear", "lose", "drop", "drop one", "other"}).Draw(s.T, "what")
		if rapid.IntRange(0, 9).Draw(s.T, "heard") == 0 {
			it.kind, it.what, it.n = "Heard", "", abs(it.n)
		}
		id := ""
		if s.sent++; rapid.IntRange(0, 2).Draw(s.T, "named") == 0 {
			id = fmt.Sprint("m", rapid.IntRange(s.sent/2, s.sent).Draw(s.T, "as"))
		}
		list[i] = sending{it, id}
		s.model.message(it, id)
	}
	s.both(func(d *engine) {
		items := make([]decide.Item, len(list))
		refused := make([]error, len(list))
		for i, m := range list {
			payload := map[string]any{"id": m.it.id, "n": m.it.n}
			if m.it.kind == "Do" {
				payload["what"] = m.it.what
			}
			items[i] = message(m.it.kind, m.id, payload, &refused[i])
		}
		d.turns(items...)
		require.NoError(s, errors.Join(refused...))
	})
}

// answer settles one of the calls that were requested.
func (s *script) answer() {
	type open struct {
		cell *modelCell
		i    int
		key  string
	}
	var list []open
	for _, address := range slices.Sorted(maps.Keys(s.model.cells)) {
		c := s.model.cells[address]
		kernel, _ := s.live.world().Cell(address)
		for i, x := range c.open {
			if x.effect == "ask" && x.requested {
				list = append(list, open{c, i, kernel.Intents[i].Key})
			}
		}
	}
	require.Len(s, s.live.root.OpenCalls(), len(list), "every open call is one of a cell")
	if len(list) == 0 {
		return
	}
	x := list[rapid.IntRange(0, len(list)-1).Draw(s.T, "call")]
	how, n := rapid.SampledFrom([]string{"ok", "ok", "error", "bad"}).Draw(s.T, "how"), rapid.Int64Range(0, 9).Draw(s.T, "payload")
	result := call.Result{Output: n}
	switch how {
	case "error":
		result = call.Result{Failure: call.NewFailure("busy", "")}
	case "bad":
		result = call.Result{Output: "none"}
	}
	s.model.answer(x.cell, x.i, how, n)
	s.both(func(d *engine) { d.turns(d.ended(x.key, 1, result)) })
}

// late answers a call that is over.
func (s *script) late() {
	if len(s.past) == 0 {
		return
	}
	key := rapid.SampledFrom(s.past).Draw(s.T, "past")
	if _, open := s.live.root.Node(key); open {
		return
	}
	s.both(func(d *engine) { d.turns(d.ended(key, 1, call.Result{Output: int64(77)})) })
}

// time passes, second by second.
func (s *script) time() {
	for range rapid.IntRange(1, 4).Draw(s.T, "seconds") {
		modelNow++
		s.model.fire()
		s.model.decide()
		s.both(func(d *engine) {
			d.now += int64(time.Second)
			d.turns()
		})
	}
}

var personal = map[string]journal.Type{
	"pause": journal.CellPaused, "resume": journal.CellResumed, "abort": journal.NodeAborted, "retry": journal.NodeRetried,
}

// person asks something of a cell, which may be refused.
func (s *script) person() {
	kind := rapid.SampledFrom([]string{"pause", "resume", "abort", "retry", "retry"}).Draw(s.T, "asks")
	address := rapid.SampledFrom([]string{"acc", "strict"}).Draw(s.T, "machine") + "[" + rapid.SampledFrom(keysOfCells).Draw(s.T, "of") + "]"
	taken := s.model.command(kind, address)
	s.both(func(d *engine) {
		var refused error
		d.turns(command(journal.Event{Type: personal[kind], Node: address}, &refused))
		require.Equal(s, taken, refused == nil, "%s %s: %v", kind, address, refused)
	})
}

// pause pauses the run, or resumes it.
func (s *script) pause() {
	e := journal.Event{Type: journal.RunPaused}
	if s.model.paused {
		e.Type = journal.RunResumed
	}
	s.model.paused = !s.model.paused
	s.both(func(d *engine) {
		var refused error
		d.turns(command(e, &refused))
		require.NoError(s, refused)
	})
}
