package coordinator_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/flow/machine"
	"github.com/sluiceflow/sluice/template/kinds"
	definition "github.com/sluiceflow/sluice/template/machine"
)

// A machine in Go, and operations, that break their contracts.

type poke struct {
	ID   string            `json:"id"`
	What string            `json:"what"`
	Tags map[string]string `json:"tags"`
	List []string          `json:"list"`
}

type wild struct {
	N    int               `json:"n"`
	Tags map[string]string `json:"tags"`
	List []string          `json:"list"`
}

type wildEvent struct {
	Poke *poke                    `event:"Poke"`
	Got  *machine.Receipt[answer] `effect:"ask"`
	Slow *machine.Receipt[answer] `effect:"slow"`
	Bad  *machine.Rejected
	Late *machine.Fired `timer:"late"`
}

type answer struct {
	OK bool `json:"ok"`
}

// selfish is an error that is its own cause.
type selfish struct{}

func (*selfish) Error() string   { return "selfish" }
func (e *selfish) Unwrap() error { return e }

// speechless is an error whose text panics.
type speechless struct{}

func (speechless) Error() string { panic("no text") }

// hostile has the values that steps and operations of a test have kept, and the run whose methods they call.
type hostile struct {
	mu          sync.Mutex
	states      []*wild
	pokes       []*poke
	activations []*machine.Activation[string]
	inputs      []map[string]any
	outputs     []map[string]any
	run         *coordinator.Run
	back        chan error    // errors of calls to the run; nil: a call succeeded
	held        chan struct{} // closed when operations are to return
	stepped     chan struct{} // receives a value when the step has ended; its activation is used afterwards
}

var ask, askSlowly = machine.Effect[poke, answer]("ask"), machine.Effect[poke, answer]("slow") // askSlowly has a timeout

// spoil writes to all that steps and operations were given, or have returned, so far.
func (h *hostile) spoil() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.states {
		s.N = -1
		for k := range s.Tags {
			s.Tags[k] = "spoilt"
		}
		for i := range s.List {
			s.List[i] = "spoilt"
		}
	}
	for _, p := range h.pokes {
		for k := range p.Tags {
			p.Tags[k] = "spoilt"
		}
		for i := range p.List {
			p.List[i] = "spoilt"
		}
	}
	for _, a := range h.activations {
		spoilActivation(a)
	}
	for _, m := range append(h.inputs, h.outputs...) {
		for k := range m {
			m[k] = "spoilt"
		}
		m["more"] = "spoilt"
	}
}

// spoilActivation asks for all that an activation can.
func spoilActivation(a *machine.Activation[string]) {
	a.Complete()
	a.Drop("ask", "timer.late", "nothing")
	a.After("late", time.Second)
	ask.Emit(a, poke{ID: "spoilt"})
	machine.Event[poke]("Poke").Raise(a, poke{ID: "spoilt"})
	_ = fmt.Sprint(a.Now(), a.Cell(), a.Key(), a.Seq(), a.Origin())
	a.Note("spoilt")
	a.Ignore()
}

func (h *hostile) keep(a *machine.Activation[string], s *wild, e *poke) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.states, h.pokes, h.activations = append(h.states, s), append(h.pokes, e), append(h.activations, a)
}

// step carries out the instruction in poke.What.
func (h *hostile) step(a *machine.Activation[string], s *wild, e wildEvent) (*wild, error) {
	if s == nil {
		s = &wild{}
	}
	s.N++
	switch {
	case e.Got != nil:
		s.List = append(s.List, e.Got.Status)
		return s, nil
	case e.Slow != nil:
		s.List = append(s.List, e.Slow.Status)
		return s, nil
	case e.Bad != nil:
		s.List = append(s.List, "rejected")
		return s, nil
	case e.Poke == nil:
		return s, nil
	}
	s.Tags, s.List = e.Poke.Tags, append(s.List, e.Poke.List...)
	h.keep(a, s, e.Poke)
	switch what, _, _ := strings.Cut(e.Poke.What, " "); what {
	case "outlive":
		go func() {
			<-h.stepped // its requests within the step count
			for range 1000 {
				spoilActivation(a)
			}
		}()
	case "ask":
		ask.Emit(a, *e.Poke)
	case "slow":
		askSlowly.Emit(a, *e.Poke)
	case "selfish":
		return nil, &selfish{}
	case "speechless":
		return nil, speechless{}
	case "nil":
		return nil, error((*definition.Failure)(nil))
	case "codeless":
		return nil, machine.Fail("", "nothing")
	case "odd":
		return nil, machine.Fail("odd\n\x1b[31m\xff", "odd\x00\xff")
	case "panics":
		panic(speechless{})
	case "back":
		_, err := h.run.SendMessage(context.Background(), cells.Message{Name: "Poke", Payload: poke{ID: "back", What: "keep", Tags: e.Poke.Tags, List: e.Poke.List}})
		h.back <- err
	case "huge":
		s.List = []string{strings.Repeat("x", 2<<20)}
	case "many":
		for range 65 {
			ask.Emit(a, poke{})
		}
	case "timers":
		a.At("late", time.Time{})
	case "past":
		a.After("late", math.MinInt64) // it is due at once
	}
	return s, nil
}

// answer is an operation that answers as its params say, and keeps them.
func (h *hostile) answer(ctx context.Context, in map[string]any) (any, error) {
	out := map[string]any{"ok": true}
	what, _ := in["what"].(string)
	h.mu.Lock()
	h.inputs, h.outputs = append(h.inputs, in), append(h.outputs, out)
	h.mu.Unlock()
	in["what"] = "spoilt"
	switch strings.TrimPrefix(what, "ask ") {
	case "slow":
		<-h.held
	case "shape":
		out["more"] = int64(1)
	case "list":
		return []any{out, out}, nil
	case "null":
		return nil, nil
	case "nan":
		return map[string]any{"ok": math.NaN()}, nil
	case "bytes":
		return map[string]any{"ok": "\xff"}, nil
	case "large":
		return map[string]any{"ok": strings.Repeat("x", 40<<20)}, nil
	case "wide":
		return make([]int, 3_000_000), nil
	case "channel":
		return map[string]any{"ok": make(chan int)}, nil
	case "cycle":
		out["ok"] = out
	case "panic":
		panic(speechless{})
	case "selfish":
		return nil, &selfish{}
	}
	return out, nil
}

const hostileText = `
kind: World
name: wild
types:
  Poke: {record: {id: text, what: text, tags: {map: {key: text, value: text}}, list: list<text>}}
  wild: {record: {n: int, tags: {map: {key: text, value: text}}, list: list<text>}}
effects:
  ask: {params: Poke, receipt: {record: {ok: bool}}, operation: ask}
  slow: {params: Poke, receipt: {record: {ok: bool}}, operation: ask, timing: {timeout: PT0.1S}}
machines:
  wild:
    key: text
    state: wild
    event: [Poke, Rejected]
    emits: [ask, slow, timer]
    lifecycle: entity
    go: {name: wild, version: "1"}
routing: {subscriptions: [{event: Poke, machine: wild, key_field: id}]}
`

// start starts the world of a test.
func (h *hostile) start(t *testing.T) (*coordinator.Engine, *surviving) {
	h.back, h.held, h.stepped = make(chan error, 8), make(chan struct{}), make(chan struct{})
	store := &surviving{memory.New()}
	e := h.open(t, store)
	checked, err := kinds.Load("wild.yaml", []byte(hostileText), template.Known{Lenient: true})
	require.NoError(t, err)
	h.run, err = e.Start(t.Context(), checked.Workflow, nil, coordinator.WithID("wild"))
	require.NoError(t, err)
	return e, store
}

func (h *hostile) open(t *testing.T, store *surviving) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), store, coordinator.Config{
		Operations:        []coordinator.Operation{operation.Define("ask", h.answer)},
		Machines:          []*registry.Machine{machine.Define("wild", "1", h.step, machine.Emits(ask, askSlowly, machine.Timer))},
		ActivationTimeout: 300 * time.Millisecond,
	})
	require.NoError(t, err)
	return e
}

func (h *hostile) poke(t *testing.T, id, what string) {
	tags, list := map[string]string{"a": "1", "b": "2"}, []string{what}
	_, err := h.run.SendMessage(t.Context(), cells.Message{Name: "Poke", Payload: poke{id, what, tags, list}})
	require.NoError(t, err)
	tags["a"], list[0] = "spoilt", "spoilt"
}

// cells returns the states of all cells.
func (h *hostile) cells(t *testing.T) string {
	list, err := h.run.Cells(t.Context(), nil, 0)
	require.NoError(t, err)
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintln(&b, c.Address, c.Status, c.State, c.Mail, c.Failure, len(c.Intents))
	}
	return b.String()
}

func rested(c *cells.State) bool { return c.Mail == 0 && len(c.Intents) == 0 && c.State != nil }

// TestNothingThatIsKeptChangesAWorld: steps and operations that write to values that they were given, or have returned, and activations that
// are used after their steps, change no cell, no message and no params.
func TestNothingThatIsKeptChangesAWorld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{}
		e, store := h.start(t)
		for _, what := range []string{"keep", "ask", "keep", "outlive", "ask"} {
			for _, id := range []string{"a", "b"} {
				h.poke(t, id, what)
				await(t, h.run, "wild["+id+"]", rested)
				if what == "outlive" {
					h.stepped <- struct{}{}
				}
			}
			before := h.cells(t)
			h.spoil()
			require.Equal(t, before, h.cells(t))
			require.NotContains(t, before, "spoilt")
		}
		close(h.stepped) // a step may have been tried twice
		before := h.cells(t)
		for event, err := range h.run.Events(t.Context(), 1) {
			require.NoError(t, err)
			require.NotContains(t, fmt.Sprint(event.Value, event.Detail), "spoilt")
		}
		require.NoError(t, e.Shutdown(t.Context()))
		e = h.open(t, store)
		defer e.Shutdown(t.Context())
		var err error
		h.run, err = e.Run(t.Context(), "wild")
		require.NoError(t, err)
		require.Equal(t, before, h.cells(t), "as the journal alone says")
	})
}

// TestHostileStepsFailTheirCells, with codes and texts that can be shown, and no others.
func TestHostileStepsFailTheirCells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{}
		e, _ := h.start(t)
		codes := map[string]string{
			"selfish": "step_failed", "speechless": "step_panicked", "nil": "step_panicked", "codeless": "step_failed",
			"odd": "odd\n\x1b[31m\uFFFD", "panics": "step_panicked", "huge": "limit_exceeded", "many": "limit_exceeded",
			"timers": "output_invalid",
		}
		h.poke(t, "calm", "keep")
		for what, code := range codes {
			h.poke(t, what, "keep")
			h.poke(t, what, what)
			c := await(t, h.run, "wild["+what+"]", failed)
			require.Equal(t, code, c.Failure.Code, c.Failure.Message)
			require.Equal(t, int64(1), c.State.(map[string]any)["n"], what)
		}
		h.poke(t, "calm", "past")
		c := await(t, h.run, "wild[calm]", rested)
		require.Equal(t, int64(3), c.State.(map[string]any)["n"], "its timer has fired")
		require.NoError(t, e.Shutdown(t.Context()))
	})
}

// TestAStepThatCallsBackFailsItsCell: a message of a step to its own run waits for the step, which is abandoned; then it is taken.
func TestAStepThatCallsBackFailsItsCell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{}
		e, _ := h.start(t)
		h.poke(t, "a", "back")
		c := await(t, h.run, "wild[a]", failed)
		require.Equal(t, "activation_timeout", c.Failure.Code)
		require.NoError(t, <-h.back)
		await(t, h.run, "wild[back]", rested)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}

// TestHostileAnswersAreReceipts: with any answer of an operation, its cell receives one receipt or one rejection.
func TestHostileAnswersAreReceipts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &hostile{}
		e, _ := h.start(t)
		want := map[string]string{
			"shape": "rejected", "list": "rejected", "null": "rejected", "nan": "error", "bytes": "rejected", "large": "error", "wide": "error",
			"channel": "error", "cycle": "error", "panic": "error", "selfish": "error", "well": "ok",
		}
		for what := range want {
			h.poke(t, what, "ask "+what)
		}
		h.poke(t, "slow", "slow")
		c := await(t, h.run, "wild[slow]", rested)
		require.Equal(t, []any{"slow", "timeout"}, c.State.(map[string]any)["list"])
		for what, status := range want {
			c := await(t, h.run, "wild["+what+"]", rested)
			require.Equal(t, []any{"ask " + what, status}, c.State.(map[string]any)["list"], what)
		}
		before := h.cells(t)
		close(h.held)
		require.NoError(t, h.run.Cancel(t.Context(), "enough"))
		_, err := h.run.Wait(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, h.cells(t), "what comes after the end changes nothing")
		_, err = h.run.SendMessage(t.Context(), cells.Message{Name: "Poke", Payload: poke{ID: "late"}})
		require.ErrorIs(t, err, coordinator.ErrFinished)
		require.NoError(t, e.Shutdown(t.Context()))
	})
}
