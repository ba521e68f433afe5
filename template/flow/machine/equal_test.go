package machine_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/flow/machine"
	world "github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/machine/attempt"
	"github.com/sluiceflow/sluice/template/value"
)

type countEvent struct {
	Added *added
	Done  *machine.Receipt[int] `effect:"double"`
	Tick  *machine.Fired        `timer:"tick"`
}

type added struct {
	ID string `json:"id"`
	N  int    `json:"n"`
}

type counter struct {
	N    int     `json:"n"`
	Last *string `json:"last"`
}

var double = machine.Effect[int, int]("double")

// count does the same as the rules of countRules.
func count(a *machine.Activation[string], s *counter, e countEvent) (*counter, error) {
	switch {
	case e.Added != nil && e.Added.N < 0:
		return nil, nil
	case e.Added != nil && e.Added.N == 0:
		return nil, machine.Fail("nothing", "n is 0")
	case e.Added != nil:
		n := 0
		if s != nil {
			n = s.N
		}
		double.Emit(a, e.Added.N, machine.Issuer("x"))
		a.Drop("timer.tick")
		a.After("tick", 60_000_000_000)
		return &counter{N: n + e.Added.N, Last: &e.Added.ID}, nil
	case e.Done != nil && e.Done.Status == machine.OK && s != nil:
		s.N += *e.Done.Payload
		a.Complete()
		return s, nil
	}
	a.Ignore()
	return s, nil
}

const countRules = `
kind: World
name: counts
types: {added: {record: {id: text, n: int}}, counter: {record: {n: int, last: option<text>}}}
effects: {double: {params: int, receipt: int}}
machines:
  count:
    key: text
    state: counter
    event: [added]
    emits: [double, timer]
    rules:
      - {event: added, when: "{{ event.n < 0 }}", delete: true}
      - {event: added, when: "{{ event.n == 0 }}", fail: {code: nothing, message: n is 0}}
      - event: added
        set: {n: "{{ (state == null ? 0 : state.n) + event.n }}", last: "{{ event.id }}"}
        drop: [timer.tick]
        emit: [{effect: double, params: "{{ event.n }}", issuer: x}, {timer: tick, for: PT1M}]
      - {event: double, when: '{{ event.status == "ok" and state != null }}', set: {n: "{{ state.n + event.payload }}"}, complete: true}
`

// Rules and a step in Go with the same meaning return the same for random events, one after the other.
func TestRulesAndGoGiveTheSame(t *testing.T) {
	nodes, err := document.Parse("counts.yaml", []byte(countRules), document.Limits{})
	require.NoError(t, err)
	w, err := world.ParseNode(nodes[0])
	require.NoError(t, err)
	rules, _ := world.Of(w)
	inGo, _ := world.Of(machine.World("counts", machine.Define("count", "1", count, machine.Emits(double, machine.Timer))))
	activate, err := inGo.Own(inGo.Machine("count"))
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var state value.Value
		for i := range rapid.IntRange(1, 20).Draw(t, "steps") {
			in := world.Input{Key: "k", State: state, Event: drawEvent(t), Now: int64(i), Seq: uint64(i)}
			in.Machine = rules.Machine("count")
			want, wanted := rules.Step(&in, &expr.Meter{})
			in.Machine = inGo.Machine("count")
			got, gotten := attempt.Run(inGo, activate, &in, true)
			require.Equal(t, wanted, gotten)
			if wanted != nil {
				continue
			}
			for i := range want.Emitted {
				if e := want.Emitted[i].Effect; e != nil {
					require.Equal(t, e.Hash, got.Emitted[i].Effect.Hash)
					want.Emitted[i].Effect, got.Emitted[i].Effect = nil, nil
				}
			}
			require.Equal(t, want, got)
			if want.Changed {
				state = want.State
			}
		}
	})
}

func drawEvent(t *rapid.T) world.Event {
	n := rapid.Int64Range(-1, 5).Draw(t, "n")
	receipt := map[string]any{"effect": "double", "issuer": "x", "status": "ok", "payload": n, "error": nil, "intent": "i", "emitted_at_seq": int64(1)}
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		receipt["status"], receipt["payload"] = "error", nil
		receipt["error"] = map[string]any{"code": "c", "message": "m", "details": nil}
		fallthrough
	case 1:
		return world.Event{Kind: world.Receipt, Name: "double", Value: receipt}
	case 2:
		receipt["effect"], receipt["issuer"] = "timer", "tick"
		receipt["payload"] = map[string]any{"name": "tick", "due": "2027-01-31T12:00:00Z"}
		return world.Event{Kind: world.Timer, Name: "tick", Value: receipt}
	}
	return world.Event{Kind: world.Message, Name: "added", Value: map[string]any{"id": rapid.String().Draw(t, "id"), "n": n}}
}

// An activation draws the same numbers when it runs again, and others than the next one.
func TestEntropyFollowsFromTheSequence(t *testing.T) {
	type drawn struct {
		ID string
		N  int
	}
	type draw struct{ ID string }
	d := machine.Define("dice", "1", func(a *machine.Activation[struct{}], _ *drawn, _ draw) (*drawn, error) {
		return &drawn{ID: a.UUID(), N: a.Rand().IntN(1_000_000)}, nil
	})
	w, _ := world.Of(machine.World("dice", d))
	activate, err := w.Own(w.Machine("dice"))
	require.NoError(t, err)
	roll := func(seq uint64, seed byte) any {
		in := world.Input{Machine: w.Machine("dice"), Event: world.Event{Name: "draw", Value: map[string]any{"ID": ""}}, Seq: seq, Seed: [32]byte{seed}}
		out, failure := attempt.Run(w, activate, &in, true)
		require.Nil(t, failure)
		return out.State
	}
	require.Equal(t, map[string]any{"ID": "e7319aae-6bf4-48fb-a795-cac9dc8b4910", "N": int64(2897)}, roll(7, 0))
	require.NotEqual(t, roll(7, 0), roll(8, 0))
	require.NotEqual(t, roll(7, 0), roll(7, 1))
}

func BenchmarkActivation(b *testing.B) {
	w, _ := world.Of(machine.World("shop", shop()...))
	activate, err := w.Own(w.Machine("order"))
	require.NoError(b, err)
	in := world.Input{Machine: w.Machine("order"), Key: "order-17", Seq: 3,
		State: map[string]any{"status": "paying for the third time, with a status that makes it 100 bytes", "cents": int64(1250), "txn": "t-19999990"},
		Event: world.Event{Kind: world.Receipt, Name: "pay", Value: map[string]any{"effect": "pay", "issuer": "card", "status": "ok",
			"payload": map[string]any{"txn": "t-9"}, "error": nil, "intent": "sha256:00", "emitted_at_seq": int64(3)}}}
	b.ReportAllocs()
	for b.Loop() {
		if _, failure := attempt.Run(w, activate, &in, false); failure != nil {
			b.Fatal(failure)
		}
	}
}
