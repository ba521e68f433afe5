package world_test

import (
	"strings"
	"time"

	"github.com/sluiceflow/sluice/template/flow/machine"
)

// worldText is the world of the model, with the machines acc and strict in rules; worldInGo has them in Go. BASE is replaced by
// a state that is created if there is none.
var (
	worldText = machinesAs("rules:"+rulesOfAcc, "rules:"+rulesOfStrict)
	worldInGo = machinesAs("go: {name: acc, version: '1'}", "go: {name: strict, version: '1'}")
)

func machinesAs(acc, strict string) string {
	return strings.NewReplacer("ACC", acc, "STRICT", strict).Replace(`
kind: World
name: w
types:
  Do: {record: {id: text, what: text, n: int}}
  Heard: {record: {id: text, n: nat}}
  State: {record: {n: int, got: list<text>}}
effects:
  ask: {params: {record: {n: int}}, receipt: nat}
  slow: {params: {record: {n: int}}, receipt: nat, max_concurrency: 2, timing: {timeout: PT4.3S, retry: {max_attempts: 2, backoff: PT1.1S}}}
machines:
  acc:
    key: text
    state: State
    event: [Do, Heard, Rejected]
    emits: [ask, slow, timer]
    ACC
  strict:
    key: text
    state: State
    event: [Do]
    emits: [ask]
    lifecycle: entity
    ttl: PT7.7S
    STRICT
  log:
    state: State
    event: [Heard]
    emits: []
    lifecycle: entity
    rules: [{event: Heard, set: {n: "{{ (state ?? {n: 0}).n + 1 }}", got: []}}]
routing:
  subscriptions:
    - {event: Do, machine: acc, key_field: id}
    - {event: Do, machine: strict, key_field: id}
    - {event: Heard, machine: acc, key_field: id}
    - {event: Heard, machine: log}
`)
}

// farKey is a key with an address that is too long.
var farKey = strings.Repeat("far", 400)

var rulesOfAcc = written(`
      - {event: Do, when: "{{ event.what == 'add' }}", set: {N(event.n)N}}
      - {event: Do, when: "{{ event.what == 'bad' && now matches '[0-5]Z$' }}", set: {n: none, got: []}, emit: [{effect: ask, params: {n: 1}}], raise: [{event: Heard, value: {id: a, n: 0}}]}
      - {event: Do, when: "{{ event.what == 'far' && now matches '[0-5]Z$' }}", set: {n: 1, got: []}, emit: [{effect: ask, params: {n: 1}}], raise: [{event: Heard, value: {id: a, n: 0}}, {event: Heard, value: {id: FAR, n: 0}}]}
      - {event: Do, when: "{{ event.what == 'fail' && now matches '[0-5]Z$' }}", fail: {code: broken}}
      - {event: Do, when: "{{ event.what == 'del' }}", delete: true}
      - {event: Do, when: "{{ event.what == 'end' }}", complete: true}
      - {event: Do, when: "{{ event.what == 'ask' }}", set: {BASE}, emit: [{effect: ask, params: {n: "{{ event.n }}"}, issuer: "i{{ event.n }}"}]}
      - {event: Do, when: "{{ event.what == 'slow' }}", set: {BASE}, emit: [{effect: slow, params: {n: "{{ event.n }}"}, issuer: "i{{ event.n }}", key: "k{{ event.n }}"}]}
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
      - {event: Do, when: "{{ event.what == 'drop' }}", drop: [ask, slow, timer]}
      - {event: Do, when: "{{ event.what == 'drop one' }}", drop: [ask.i1]}
      - {event: Heard, when: "{{ event.n > 0 }}", set: {N(100)N}, raise: [{event: Heard, value: {id: "{{ key }}", n: "{{ event.n - 1 }}"}}]}
      - {event: Heard, set: {N(1)N}}
      - {event: ask, when: "{{ event.status == 'ok' }}", set: {N(event.payload)N}}
      - {event: ask, set: {GOT(event.error.code)GOT}}
      - {event: slow, when: "{{ event.status == 'ok' }}", set: {N(event.payload * 7)N}}
      - {event: slow, set: {GOT(event.status)GOT}}
      - {event: Rejected, set: {GOT('rejected')GOT}}
      - {event: timer.t, set: {N(1000)N}}
      - {event: timer.u, set: {N(5000)N}}`)

var rulesOfStrict = written(`
      - {event: Do, when: "{{ event.what == 'add' }}", set: {N(event.n)N}}
      - {event: Do, when: "{{ event.what == 'ask' }}", set: {BASE}, emit: [{effect: ask, params: {n: "{{ event.n }}"}, issuer: "i{{ event.n }}"}]}
      - {event: ask, set: {N(10 + (event.payload ?? 0))N}}`)

// failing reports whether a step that fails on some seconds fails now: a person can retry it later.
func failing(seconds int64) bool { return seconds%10 <= 5 }

// written expands rules. The list got of a cell is cut, so that the cost of a long life does not grow.
func written(rules string) string {
	return strings.NewReplacer("FAR", farKey, "BASE", `n: "{{ (state ?? {n: 0}).n }}", got: "{{ (state ?? {got: []}).got }}"`,
		"N(", `n: "{{ (state ?? {n: 0}).n + (`, ")N", `) }}", got: "{{ (state ?? {got: []}).got }}"`,
		"GOT(", `n: "{{ (state ?? {n: 0}).n }}", got: "{{ concat(take((state ?? {got: []}).got, 5), [`, ")GOT", `]) }}"`).Replace(rules)
}

// The same machines in Go.

type doMessage struct {
	ID   string `json:"id"`
	What string `json:"what"`
	N    int64  `json:"n"`
}

type heardMessage struct {
	ID string `json:"id"`
	N  uint   `json:"n"`
}

type goState struct {
	N   int64    `json:"n"`
	Got []string `json:"got"`
}

type askParams struct {
	N int64 `json:"n"`
}

type accEvent struct {
	Do       *doMessage             `event:"Do"`
	Heard    *heardMessage          `event:"Heard"`
	Asked    *machine.Receipt[uint] `effect:"ask"`
	Slow     *machine.Receipt[uint] `effect:"slow"`
	Rejected *machine.Rejected
	T        *machine.Fired `timer:"t"`
	U        *machine.Fired `timer:"u"`
}

type strictEvent struct {
	Do    *doMessage             `event:"Do"`
	Asked *machine.Receipt[uint] `effect:"ask"`
}

var (
	goAsk   = machine.Effect[askParams, uint]("ask")
	goSlow  = machine.Effect[askParams, uint]("slow")
	goHeard = machine.Event[heardMessage]("Heard")

	accInGo    = machine.Define("acc", "1", stepAcc, machine.Emits(goAsk, goSlow, machine.Timer), machine.Raises(goHeard))
	strictInGo = machine.Define("strict", "1", stepStrict, machine.Emits(goAsk))
)

func stepAcc(a *machine.Activation[string], s *goState, e accEvent) (*goState, error) {
	none := s == nil
	if none {
		s = &goState{Got: []string{}}
	}
	got := func(what string) { s.Got = append(s.Got[:min(len(s.Got), 5)], what) }
	switch {
	case e.Do != nil:
		return s.do(a, e.Do, none)
	case e.Heard != nil && e.Heard.N > 0:
		s.N += 100
		goHeard.Raise(a, heardMessage{a.Key(), e.Heard.N - 1})
	case e.Heard != nil:
		s.N++
	case e.Asked != nil && e.Asked.Status == machine.OK:
		s.N += int64(*e.Asked.Payload)
	case e.Asked != nil:
		got(e.Asked.Error.Code)
	case e.Slow != nil && e.Slow.Status == machine.OK:
		s.N += int64(*e.Slow.Payload) * 7
	case e.Slow != nil:
		got(e.Slow.Status)
	case e.Rejected != nil:
		got("rejected")
	case e.T != nil:
		s.N += 1000
	case e.U != nil:
		s.N += 5000
	}
	return s, nil
}

func (s *goState) do(a *machine.Activation[string], e *doMessage, none bool) (*goState, error) {
	issuer := machine.Issuer("i" + decimal(e.N))
	same := s // of a step that does not set the state
	if none {
		same = nil
	}
	switch e.What {
	case "bad", "far", "fail":
		if !failing(a.Now().Unix()) {
			a.Ignore()
			return s, nil
		}
	}
	switch e.What {
	case "add":
		s.N += e.N
	case "bad":
		return nil, machine.Fail("output_invalid", badState)
	case "far":
		goAsk.Emit(a, askParams{1})
		goHeard.Raise(a, heardMessage{"a", 0})
		goHeard.Raise(a, heardMessage{farKey, 0})
		return &goState{N: 1, Got: []string{}}, nil
	case "fail":
		return nil, machine.Fail("broken", "")
	case "del":
		return nil, nil
	case "end":
		a.Complete()
		return same, nil
	case "ask":
		goAsk.Emit(a, askParams{e.N}, issuer)
	case "slow":
		goSlow.Emit(a, askParams{e.N}, issuer, machine.IdempotencyKey("k"+decimal(e.N)))
	case "two":
		a.Drop("timer.t")
		goAsk.Emit(a, askParams{e.N}, issuer)
		a.After("t", time.Duration(abs(e.N)+1)*time.Second)
		a.After("u", 2*time.Second)
	case "hear":
		to := "b"
		if e.N%2 == 0 {
			to = a.Key()
		}
		goHeard.Raise(a, heardMessage{to, uint(abs(e.N) % 3)})
		goHeard.Raise(a, heardMessage{"c", 0})
	case "lose":
		goAsk.Emit(a, askParams{e.N}, issuer)
		return same, nil
	case "drop":
		a.Drop("ask", "slow", "timer")
		return same, nil
	case "drop one":
		a.Drop("ask.i1")
		return same, nil
	default:
		a.Ignore()
	}
	return s, nil
}

// badState is the error for a state of another type.
const badState = "state: /n: must be an integer, not a text"

func stepStrict(a *machine.Activation[string], s *goState, e strictEvent) (*goState, error) {
	if s == nil {
		s = &goState{Got: []string{}}
	}
	switch {
	case e.Asked != nil:
		s.N += 10
		if e.Asked.Payload != nil {
			s.N += int64(*e.Asked.Payload)
		}
	case e.Do.What == "add":
		s.N += e.Do.N
	case e.Do.What == "ask":
		goAsk.Emit(a, askParams{e.Do.N}, machine.Issuer("i"+decimal(e.Do.N)))
	default:
		a.Ignore()
	}
	return s, nil
}
