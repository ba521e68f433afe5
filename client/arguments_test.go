package client_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/client"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/doctor"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/coordinator/retention"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// documents are workflows of each kind, by the ids of their runs.
var documents = map[string]string{
	"flow": `{kind: Workflow, name: flow, operations: {letter: {wait: {message: letter}}, nap: {sleep: {for: PT0.001S}}, contract: {value: 1}},
 steps: [{operation: letter}, {operation: nap}, {operation: contract, fulfillment: {policy: never}}]}`,
	"routed": `{apiVersion: sluice/v1, kind: Playbook, metadata: {name: routed}, workflow: [{step: a, tool: {kind: noop}, next: {arcs: [{step: b}]}},
 {step: b, tool: {kind: noop}, spec: {policy: {admit: {rules: [{when: "{{ ctx.open == true }}", then: {allow: true}}]}}}}]}`,
	"world": `{kind: World, name: world, types: {Vote: {record: {poll: text}}}, routing: {subscriptions: [{event: Vote, machine: poll, key_field: poll}]},
 machines: {poll: {key: text, state: {record: {votes: nat}}, event: [Vote], emits: [], lifecycle: entity,
 rules: [{event: Vote, when: "{{ state == null }}", set: {votes: "{{ 1 }}"}}, {event: Vote, set: {votes: "{{ state.votes + 1 }}"}}]}}}`,
}

// TestNoArgumentPanics calls the methods of engines, runs and clients, found by reflection, with arguments from the edges of their types and
// with names that mean something. A call may fail; it must neither panic, but for a nil pointer or a function that panics itself, nor keep the engine
// from shutting down. No stream of the engine's own may be lost.
func TestNoArgumentPanics(t *testing.T) {
	t.Chdir(t.TempDir()) // a text may name the folder of a copy
	for seed := range uint64(20) {
		store := memory.New()
		engine, objects := populated(t, store)
		require.NoError(t, engine.Keep(t.Context(), retention.Rule{Keep: time.Hour}, "ann"))
		r := rand.New(rand.NewPCG(seed, 0))
		for range 300 {
			callOne(t, r, objects[r.IntN(len(objects))])
		}
		rules := 0
		for _, err := range store.Read(t.Context(), journal.RetentionStream, 1) {
			require.NoError(t, err)
			rules++
		}
		require.Positive(t, rules)
		require.NoError(t, engine.Shutdown(t.Context()))
	}
}

// TestCallsAtTheSameTimeLeaveASoundFolder: six goroutines make such calls while the engine shuts down.
func TestCallsAtTheSameTimeLeaveASoundFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	quiet := disk.Config{FreeFloorBytes: -1, Logger: slog.New(slog.DiscardHandler)}
	for seed := range uint64(4) {
		dir := t.TempDir()
		store, err := disk.Open(dir, quiet)
		require.NoError(t, err)
		engine, objects := populated(t, store)
		var callers, half sync.WaitGroup
		for i := range uint64(6) {
			half.Add(1)
			callers.Go(func() {
				r := rand.New(rand.NewPCG(seed, i))
				for n := range 200 {
					if n == 100 {
						half.Done()
					}
					callOne(t, r, objects[r.IntN(len(objects))])
				}
			})
		}
		half.Wait()
		require.NoError(t, engine.Shutdown(t.Context()))
		callers.Wait()
		raw, err := disk.OpenRaw(dir, false, quiet)
		require.NoError(t, err)
		report, err := doctor.Check(t.Context(), raw, doctor.How{}, func(f doctor.Fault) error { return errors.New(f.What) })
		require.NoError(t, err)
		require.True(t, report.Sound())
		require.NoError(t, raw.Close())
	}
}

// populated returns an engine with a run of each kind, and all values that have methods to call.
func populated(t *testing.T, store journal.Store) (*coordinator.Engine, []any) {
	engine, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	objects := []any{engine, client.Of(engine), folder.Local(engine)}
	for _, id := range slices.Sorted(maps.Keys(documents)) {
		loaded, err := kinds.Load(id+".yaml", []byte(documents[id]), template.Known{})
		require.NoError(t, err)
		run, err := engine.Start(t.Context(), loaded.Workflow, nil, coordinator.WithID(id))
		require.NoError(t, err)
		other, err := client.Of(engine).Run(t.Context(), id)
		require.NoError(t, err)
		objects = append(objects, run, run, other)
	}
	return engine, objects
}

// callOne calls one method, and reads a part of the iteration that it may return.
func callOne(t *testing.T, r *rand.Rand, of any) {
	v := reflect.ValueOf(of)
	i := r.IntN(v.NumMethod())
	name, m := v.Type().Method(i).Name, v.Method(i)
	if name == "Shutdown" || name == "Close" || name == "BeforeShutdown" {
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(r.IntN(10))*time.Millisecond)
	defer cancel()
	var args []reflect.Value
	for k := range m.Type().NumIn() {
		if m.Type().IsVariadic() && k == m.Type().NumIn()-1 {
			break
		}
		args = append(args, argument(r, ctx, m.Type().In(k), 3))
	}
	defer func() {
		switch p := recover(); {
		case p == nil, p == errUser, strings.Contains(fmt.Sprint(p), "nil pointer dereference"):
		default:
			t.Errorf("%T.%s%v: %v", of, name, args, p)
			panic(p)
		}
	}()
	for _, out := range m.Call(args) {
		if out.Kind() == reflect.Func && out.Type().CanSeq2() {
			for range out.Seq2() {
				if r.IntN(3) == 0 {
					break
				}
			}
		}
	}
}

var errUser = errors.New("a function of the program panics")

var (
	texts = []string{"", "flow", "routed", "world", "letter", "nap", "contract", "a", "b@1", "nap@1", "poll[tea]", "poll", "Vote", "ctx.open", "fulfilled", "cancel",
		"rerun", "delete", "flow/nap#1", "a/", "*", "status:failed", "name:flow", journal.RetentionStream, "def/x", "\xff", "\x00", strings.Repeat("x", 3000)}
	numbers = []int64{0, 1, -1, 5, 100, math.MinInt64, math.MaxInt64}
	others  = []any{1, "x", []any{1, "a"}, map[string]any{"poll": "tea"}, make(chan int), func() {}, math.NaN()}
)

// argument draws a value of a type.
func argument(r *rand.Rand, ctx context.Context, t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	switch {
	case t == reflect.TypeFor[context.Context]():
		return reflect.ValueOf(ctx)
	case t == reflect.TypeFor[*template.Workflow]() && r.IntN(4) > 0:
		loaded, err := kinds.Load("w.yaml", []byte(documents[[]string{"flow", "routed", "world"}[r.IntN(3)]]), template.Known{})
		if err != nil {
			panic(err)
		}
		return reflect.ValueOf(loaded.Workflow)
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString(texts[r.IntN(len(texts))])
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := numbers[r.IntN(len(numbers))]; !v.OverflowInt(n) {
			v.SetInt(n)
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := uint64(numbers[r.IntN(len(numbers))]); !v.OverflowUint(n) {
			v.SetUint(n)
		}
	case reflect.Interface:
		if t.NumMethod() == 0 {
			v.Set(reflect.ValueOf(others[r.IntN(len(others))]))
		}
	case reflect.Func:
		var calls atomic.Int64 // of many goroutines
		v.Set(reflect.MakeFunc(t, func([]reflect.Value) (out []reflect.Value) {
			if calls.Add(1)%5 == 0 {
				panic(errUser)
			}
			for i := range t.NumOut() {
				out = append(out, reflect.Zero(t.Out(i)))
			}
			return out
		}))
	}
	if depth == 0 {
		return v
	}
	next := func(of reflect.Type) reflect.Value { return argument(r, ctx, of, depth-1) }
	switch t.Kind() {
	case reflect.Slice:
		for range r.IntN(3) {
			v.Set(reflect.Append(v, next(t.Elem())))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		for range r.IntN(3) {
			v.SetMapIndex(next(t.Key()), next(t.Elem()))
		}
	case reflect.Pointer:
		if r.IntN(3) > 0 {
			v.Set(reflect.New(t.Elem()))
			v.Elem().Set(next(t.Elem()))
		}
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).IsExported() {
				v.Field(i).Set(next(t.Field(i).Type))
			}
		}
	}
	return v
}
