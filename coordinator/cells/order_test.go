package cells_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/cells"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template/flow/machine"
)

// gated is a store whose appends to the run wait while it is held, and can be made to fail.
type gated struct {
	unclosed
	mu      sync.Mutex
	held    chan struct{} // nil: not held
	arrived chan []journal.Type
	fails   int    // appends that are to fail
	failing func() // called at each of them
	appends int
}

func (g *gated) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	if stream != "w" {
		return g.unclosed.Append(ctx, stream, after, events, head)
	}
	g.mu.Lock()
	g.appends++
	held, fails := g.held, g.fails > 0
	if fails {
		g.fails--
	}
	g.mu.Unlock()
	if held != nil {
		var types []journal.Type
		for _, e := range events {
			types = append(types, e.Type)
		}
		g.arrived <- types
		<-held
	}
	if fails {
		g.failing()
		return 0, errors.New("not now")
	}
	return g.unclosed.Append(ctx, stream, after, events, head)
}

func (g *gated) hold(held chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = held
}

// TestNothingStartsBeforeItIsDurable: an effect is called exactly once, after the activation that has emitted it is durable; until that
// can be stored, no effect is called and the states are the durable ones.
func TestNothingStartsBeforeItIsDurable(t *testing.T) {
	store, k := &gated{unclosed: unclosed{memory.New()}, arrived: make(chan []journal.Type, 64)}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	for i, fails := range []int{0, 3} {
		held := make(chan struct{})
		store.hold(held)
		store.mu.Lock()
		store.fails = fails
		store.mu.Unlock()
		ref := fmt.Sprint("m", i)
		failed := 0
		store.failing = func() {
			failed++
			assert.Empty(t, k.known()[ref])
			assert.Empty(t, stored(t, store, ref))
		}
		sent := make(chan error, 1)
		go func() {
			_, err := run.SendMessage(context.Background(), message(ref, ref, 1))
			sent <- err
		}()
		require.Contains(t, <-store.arrived, journal.CallRequested, "all of the turn is in one append")
		require.Empty(t, k.known()[ref])
		require.Empty(t, sent)
		require.Empty(t, stored(t, store, ref))
		store.hold(nil)
		close(held)
		require.NoError(t, <-sent)
		awaited(t, run, "account["+ref+"]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
		require.Equal(t, 2, k.calls[ref], "one attempt fails, and one does not")
		require.Equal(t, fails, failed)
		require.Len(t, stored(t, store, ref), 1)
	}
	messages := map[string]int{}
	for e, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		if e.Type == journal.MessageReceived {
			messages[e.Detail.ID]++
		}
	}
	require.Equal(t, map[string]int{"m0": 1, "m1": 1}, messages)
}

// stored returns the sequences of the messages of an id that are durable.
func stored(t *testing.T, store journal.Store, id string) (messages []uint64) {
	for e, err := range store.Read(t.Context(), "w", 1) {
		assert.NoError(t, err)
		if e.Type == journal.MessageReceived && e.Detail.ID == id {
			messages = append(messages, e.Seq)
		}
	}
	return messages
}

// TestRestartMakesCallsAgain: a call that was requested when its process ended, begun or not, is made again under the same name,
// identity and key, from the journal and from a snapshot.
func TestRestartMakesCallsAgain(t *testing.T) {
	for _, keep := range []bool{false, true} {
		for _, begun := range []bool{false, true} {
			t.Run(fmt.Sprint("snapshot=", keep, " begun=", begun), func(t *testing.T) {
				store := unclosed{memory.New()}
				type made struct {
					node, key string
					attempt   int32
					in        payload
				}
				calls := make(chan made, 4)
				config := coordinator.Config{Logger: slog.New(slog.DiscardHandler), Operations: []coordinator.Operation{
					operation.Define("pay", func(ctx context.Context, in payload) (any, error) {
						c := operation.CallOf(ctx)
						calls <- made{c.Node, c.Key(), c.Attempt, in}
						<-ctx.Done()
						return nil, ctx.Err()
					}),
				}}
				if !begun {
					config.CallsMax = 1
				}
				e, err := coordinator.New(t.Context(), store, config)
				require.NoError(t, err)
				run := start(t, e)
				if !begun { // another call has all the room
					_, err := run.SendMessage(t.Context(), message("0", "z", 1))
					require.NoError(t, err)
					<-calls
				}
				add(t, run, "1")
				var first made
				if begun {
					first = <-calls
				}
				before, err := run.Cell(t.Context(), "account[a]")
				require.NoError(t, err)
				if keep {
					_, err := run.Snapshot(t.Context())
					require.NoError(t, err)
				}
				now, cancel := context.WithCancel(t.Context())
				cancel()
				_ = e.Shutdown(now)

				k := newTill(nil)
				e = engine(t, store, k, true)
				awaited(t, found(t, e), "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
				if begun {
					require.Equal(t, first.node+" "+first.key, k.known()["1"])
					require.Equal(t, payload{1, "1", "a"}, first.in)
				}
				require.Equal(t, before.Intents[0].Key+" w/"+before.Intents[0].Key, k.known()["1"])
				require.NoError(t, k.fault)
			})
		}
	}
}

// mark is the message and the state of the machine of TestReplayRunsNoStep.
type mark struct {
	ID string `json:"id"`
	N  int    `json:"n"`
}

// TestReplayRunsNoStep: recovery from a journal and from a snapshot runs no step of a machine in Go.
func TestReplayRunsNoStep(t *testing.T) {
	var steps atomic.Int64
	marks := machine.Define("marks", "1", func(_ *machine.Activation[string], _ *mark, m mark) (*mark, error) {
		steps.Add(1)
		return &m, nil
	})
	store := unclosed{memory.New()}
	open := func() *coordinator.Engine {
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
		require.NoError(t, err)
		return e
	}
	e := open()
	run, err := e.Start(t.Context(), machine.World("w", marks, machine.Subscribe("mark", marks, "id")), nil, coordinator.WithID("w"))
	require.NoError(t, err)
	send := func(n int64) {
		_, err := run.SendMessage(t.Context(), cells.Message{Name: "mark", Payload: map[string]any{"id": "a", "n": n}})
		require.NoError(t, err)
	}
	for n := range int64(5) {
		send(n)
	}
	_, err = run.Snapshot(t.Context())
	require.NoError(t, err)
	send(5)
	stepped := steps.Load()
	require.GreaterOrEqual(t, stepped, int64(6))
	shut(t, e)

	e = open()
	run = found(t, e)
	c, err := run.Cell(t.Context(), "marks[a]")
	require.NoError(t, err)
	require.Equal(t, map[string]any{"id": "a", "n": int64(5)}, c.State)
	require.Equal(t, stepped, steps.Load())
	shut(t, e)
}

// TestReplayCallsNobody: reading and recovering an idle world runs no step, makes no call and appends no event.
func TestReplayCallsNobody(t *testing.T) {
	store, k := &gated{unclosed: unclosed{memory.New()}}, newTill(nil)
	e := engine(t, store, k, true)
	l := life{t, start(t, e), &taken{sent: map[string]uint64{}}}
	l.lead()
	shut(t, e)
	before := store.appends
	head, err := store.Head(t.Context(), "w")
	require.NoError(t, err)
	for range 3 {
		again := newTill(nil)
		e := engine(t, store, again, true)
		life{t, found(t, e), nil}.settled(want)
		_, err := found(t, e).Explain(t.Context(), "")
		require.NoError(t, err)
		shut(t, e)
		require.Empty(t, again.known())
		require.Equal(t, before, store.appends)
	}
	now, err := store.Head(t.Context(), "w")
	require.NoError(t, err)
	require.Equal(t, head, now)
}

// rewritten is a store that changes an event as it is read.
type rewritten struct {
	unclosed
	change func(e *journal.Event)
}

func (r rewritten) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range r.unclosed.Read(ctx, stream, from) {
			if err == nil && stream == "w" {
				r.change(&e)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// TestOnlyActivationsEmit: no command and no message opens an intent that no activation has emitted.
func TestOnlyActivationsEmit(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	run := start(t, e)
	require.NoError(t, run.Pause(t.Context(), ""))
	add(t, run, "1")
	for _, c := range []cells.Message{
		{Name: "pay", Payload: map[string]any{"n": int64(1), "ref": "x", "id": "a"}}, {Name: "Receipt"}, {Name: "timer"}, {Name: "timer.late"},
		{Name: "sys/EffectReceiptEnvelope@1", Payload: map[string]any{}},
	} {
		_, err := run.SendMessage(t.Context(), c)
		require.ErrorIs(t, err, decide.ErrInvalidMessage, "message %q", c.Name)
	}
	_, err := run.SendMessage(t.Context(), cells.Message{})
	require.ErrorIs(t, err, coordinator.ErrRefused)
	for _, node := range []string{"account[a].pay@2.0", "account[a].pay", "pay", "account", "account[b]", ""} {
		require.Error(t, run.Retry(t.Context(), node), node)
		require.Error(t, run.Abort(t.Context(), node, ""), node)
		require.Error(t, run.PauseCell(t.Context(), node, ""), node)
	}
	require.Error(t, run.Retry(t.Context(), "account[a]"))
	c, err := run.Cell(t.Context(), "account[a]")
	require.NoError(t, err)
	require.Empty(t, c.Intents)
	require.Equal(t, 1, c.Mail)
	require.Empty(t, k.known())
	require.NoError(t, run.Resume(t.Context()))
	awaited(t, run, "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	emitted := map[string]bool{}
	for e, err := range run.Events(t.Context(), 1) {
		require.NoError(t, err)
		switch v, _ := e.Value.(map[string]any); e.Type {
		case journal.CellStepped:
			list, _ := v["emitted"].([]any)
			for i, x := range list {
				if name, ok := x.(map[string]any)["effect"]; ok {
					emitted[fmt.Sprintf("%s.%s@%d.%d", e.Node, name, e.Seq, i)] = true
				}
			}
		case journal.CallRequested:
			require.True(t, emitted[e.Node], "%s was emitted by nothing", e.Node)
		}
	}
	require.Len(t, emitted, 1)
}

// TestUndecodedStoreIsRefused: a world whose journal has a value that is not of its type is damaged, and parked at once.
func TestUndecodedStoreIsRefused(t *testing.T) {
	store, k := unclosed{memory.New()}, newTill(nil)
	e := engine(t, store, k, true)
	add(t, start(t, e), "1")
	awaited(t, found(t, e), "account[a]", "completed map[alien:[] fired:1 n:1 paid:1] 0 ")
	shut(t, e)
	step := func(change func(v map[string]any)) func(e *journal.Event) {
		return func(e *journal.Event) {
			if v, ok := e.Value.(map[string]any); ok && e.Type == journal.CellStepped && v["emitted"] != nil {
				v = maps.Clone(v)
				change(v)
				e.Value = v
			}
		}
	}
	emission := func(key string, to any) func(e *journal.Event) {
		return step(func(v map[string]any) {
			list := slices.Clone(v["emitted"].([]any))
			m := maps.Clone(list[0].(map[string]any))
			m[key] = to
			list[0] = m
			v["emitted"] = list
		})
	}
	for name, change := range map[string]func(e *journal.Event){
		"a step that is no object": func(e *journal.Event) {
			if e.Type == journal.CellStepped {
				e.Value = "x"
			}
		},
		"a state of another type":    step(func(v map[string]any) { v["state"] = "x" }),
		"a state that lacks a field": step(func(v map[string]any) { v["state"] = map[string]any{"n": int64(1)} }),
		"raised is no list":          step(func(v map[string]any) { v["raised"] = "x" }),
		"raised of no objects":       step(func(v map[string]any) { v["raised"] = []any{"x"} }),
		"an unknown event": step(func(v map[string]any) {
			v["raised"] = []any{map[string]any{"event": "Nope", "value": nil, "cells": []any{"book"}}}
		}),
		"an event for an unknown cell": step(func(v map[string]any) {
			v["raised"] = []any{map[string]any{"event": "Sum", "value": map[string]any{"id": "a", "n": int64(1)}, "cells": []any{"nope"}}}
		}),
		"emitted of no objects":  step(func(v map[string]any) { v["emitted"] = []any{"x"} }),
		"an unknown effect":      emission("effect", "nope"),
		"params of another type": emission("params", "x"),
		"a message of another type": func(e *journal.Event) {
			if e.Type == journal.MessageReceived {
				e.Value = "x"
			}
		},
		"a step of an unknown cell": func(e *journal.Event) {
			if e.Type == journal.CellStepped {
				e.Node = "nope"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			again := newTill(nil)
			e := engine(t, rewritten{store, change}, again, true)
			run := found(t, e)
			_, err := run.Cells(t.Context(), nil, 0)
			require.ErrorIs(t, err, journal.ErrDamaged)
			require.ErrorIs(t, run.Parked(t.Context()), journal.ErrDamaged)
			_, err = run.SendMessage(t.Context(), message("2", "a", 1))
			require.ErrorIs(t, err, journal.ErrDamaged)
			shut(t, e)
			require.Empty(t, again.known())
		})
	}
}
