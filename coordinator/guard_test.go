package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// harm panics or ends its goroutine, as a program's code may.
type harm func()

var harms = map[string]harm{"panics": func() { panic("boom") }, "ends its goroutine": runtime.Goexit}

// Types of values and errors whose methods do harm.
type (
	harmfulWriter struct{ harm harm }
	harmfulReader struct{ X int }
	harmfulError  struct{ harm harm }
	harmfulChain  struct{ harm harm }
)

func (v harmfulWriter) MarshalJSON() ([]byte, error) { v.harm(); return []byte("1"), nil }
func (harmfulReader) MarshalJSON() ([]byte, error)   { return []byte("1"), nil }
func (harmfulReader) UnmarshalJSON([]byte) error     { (*readerHarm.Load())(); return nil }
func (e harmfulError) Error() string                 { e.harm(); return "harmed" }
func (e harmfulChain) Error() string                 { return "chain" }
func (e harmfulChain) Unwrap() error                 { e.harm(); return nil }
func (e harmfulChain) Is(error) bool                 { e.harm(); return false }

// readerHarm is the harm of harmfulReader, which package json creates.
var readerHarm atomic.Pointer[harm]

// caller is an operation that implements operation.Caller itself.
type caller struct {
	name string
	call func(*operation.Call) (any, error)
}

func (c caller) Name() string        { return c.name }
func (c caller) Implementation() any { return callerFunc(c.call) }

type callerFunc func(*operation.Call) (any, error)

func (f callerFunc) Call(c *operation.Call) (any, error) { return f(c) }

// people is a directory that does harm.
type people struct{ participant, passports func() }

func (p people) Participant(string) (value.Value, bool) { p.participant(); return nil, true }
func (p people) Passports(string) []template.Passport {
	p.passports()
	return []template.Passport{{Participant: "ann"}}
}

func nothing() {}

// site is a place where the engine calls a program's code: a workflow that reaches it, and its Config. Its step x fails.
type site struct {
	config   coordinator.Config
	text     string
	function func([]value.Value) (value.Value, error)
}

func operations(list ...coordinator.Operation) coordinator.Config {
	return coordinator.Config{Operations: append(list, echo)}
}

const (
	calls    = `{kind: Workflow, name: w, steps: [{operation: x}]}`
	asks     = `{kind: Workflow, name: w, steps: [{operation: echo, id: x, target: {resolve: capability, capability_id: c}, fan_in: {policy: all}}]}`
	computes = `{kind: Workflow, name: w, steps: [{operation: echo, id: x, func: {name: f}}]}`
	tests    = `{kind: Workflow, name: w, steps: [{conditional: {id: x, func: {name: f}, then: [{operation: echo}]}}]}`
	lists    = `{kind: Workflow, name: w, steps: [{map: {id: x, func: {name: f}, steps: [{operation: echo}]}}]}`
)

// sites returns all sites where a call or step fails.
func sites(harm harm) map[string]site {
	define := func(f func(context.Context, any) (any, error)) coordinator.Config {
		return operations(operation.Define("x", f))
	}
	returns := func(out any, err error) coordinator.Config {
		return define(func(context.Context, any) (any, error) { return out, err })
	}
	own := func(out any, err error) coordinator.Config {
		return operations(caller{"x", func(*operation.Call) (any, error) { return out, err }})
	}
	pure := func(f func(any) (any, error)) coordinator.Config { return operations(operation.DefinePure("x", f)) }
	function := func(out value.Value, err error) func([]value.Value) (value.Value, error) {
		return func([]value.Value) (value.Value, error) { return out, err }
	}
	does := func([]value.Value) (value.Value, error) { harm(); return true, nil }
	readerHarm.Store(&harm)
	return map[string]site{
		"operation":                   {config: define(func(context.Context, any) (any, error) { harm(); return nil, nil }), text: calls},
		"its output":                  {config: returns(harmfulWriter{harm}, nil), text: calls},
		"a part of its output":        {config: returns(map[string]any{"a": []any{&harmfulWriter{harm}}}, nil), text: calls},
		"what it tells beside":        {config: returns(operation.Reply{About: map[string]any{"a": harmfulWriter{harm}}}, nil), text: calls},
		"its error":                   {config: returns(nil, harmfulError{harm}), text: calls},
		"its error's cause":           {config: returns(nil, &operation.Error{Code: "c", Err: harmfulError{harm}}), text: calls},
		"its error's chain":           {config: returns(nil, harmfulChain{harm}), text: calls},
		"its error, wrapped":          {config: returns(nil, fmt.Errorf("so: %w", harmfulChain{harm})), text: calls},
		"its input":                   {config: operations(operation.Define("x", func(context.Context, harmfulReader) (any, error) { return nil, nil })), text: calls},
		"caller":                      {config: operations(caller{"x", func(*operation.Call) (any, error) { harm(); return nil, nil }}), text: calls},
		"a caller's output":           {config: own(harmfulWriter{harm}, nil), text: calls},
		"pure operation":              {config: pure(func(any) (any, error) { harm(); return nil, nil }), text: calls},
		"a pure one's output":         {config: pure(func(any) (any, error) { return harmfulWriter{harm}, nil }), text: calls},
		"a pure one's error":          {config: pure(func(any) (any, error) { return nil, harmfulError{harm} }), text: calls},
		"directory, of a capability":  {config: coordinator.Config{Operations: operations().Operations, Directory: people{nothing, harm}}, text: asks},
		"directory, of a participant": {config: coordinator.Config{Operations: operations().Operations, Directory: people{harm, nothing}}, text: asks},
		"function of an input":        {config: operations(), text: computes, function: does},
		"function of a test":          {config: operations(), text: tests, function: does},
		"function of a list":          {config: operations(), text: lists, function: does},
		"a function's result":         {config: operations(), text: computes, function: function(harmfulWriter{harm}, nil)},
		"a function's error":          {config: operations(), text: computes, function: function(nil, harmfulError{harm})},
	}
}

// Harm fails only the call or step that needed the code, with the stack in the details. Other runs go on, before and after. The
// failure is the same for a panic and an ended goroutine.
func TestHarmFailsItsCallOrStep(t *testing.T) {
	codes := map[string]string{}
	for how, harm := range harms {
		for name, site := range sites(harm) {
			t.Run(name+" "+how, func(t *testing.T) {
				g := newGate()
				site.config.Operations = append(site.config.Operations, g.define("beside"))
				e := newEngine(t, site.config)
				beside := start(t, e, `{kind: Workflow, name: beside, steps: [{operation: beside}]}`)
				<-g.entered
				w := parse(t, site.text)
				if site.function != nil {
					w.Register(&template.Function{Name: "f", Call: site.function})
				}
				r, err := e.Start(t.Context(), w, nil)
				require.NoError(t, err)
				result := wait(t, r)
				require.Error(t, result.Err())
				require.Contains(t, stackOf(t, r), "goroutine ", "the details have the stack")
				g.leave <- nil
				if code, seen := codes[name]; seen {
					require.Equal(t, code, result.Failure.Code)
				}
				codes[name] = result.Failure.Code
				require.NoError(t, wait(t, beside).Err())
				require.NoError(t, wait(t, start(t, e, `{kind: Workflow, name: after, steps: [{operation: echo}]}`)).Err())
			})
		}
	}
}

// stackOf returns the stack in the details of the first failure in a run's journal.
func stackOf(t testing.TB, r *coordinator.Run) string {
	for event, err := range r.Events(t.Context(), 1) {
		require.NoError(t, err)
		if event.Detail != nil && event.Detail.Failure != nil {
			stack, _ := event.Detail.Failure.Details.(string)
			return stack
		}
	}
	return ""
}

// A failure is journaled even if its details cannot be encoded.
func TestTheDetailsOfAnErrorMayDoHarm(t *testing.T) {
	for how, harm := range harms {
		t.Run(how, func(t *testing.T) {
			e := newEngine(t, operations(operation.Define("x", func(context.Context, any) (any, error) {
				return nil, &operation.Error{Code: "mine", Message: "said", Details: harmfulWriter{harm}, Permanent: true}
			})))
			f := wait(t, start(t, e, calls)).Failure
			require.NotNil(t, f)
			if how == "panics" {
				require.Equal(t, "mine", f.Code)
				require.Equal(t, "said", f.Message)
			}
		})
	}
}

// Harm on the goroutine of a caller of the engine is an error of the method.
func TestHarmOnTheCallersGoroutineIsAnError(t *testing.T) {
	boom := harms["panics"]
	e := newEngine(t, operations())
	_, err := e.Start(t.Context(), parse(t, `{kind: Workflow, name: w, steps: [{operation: echo}]}`), harmfulWriter{boom}, coordinator.WithID("r"))
	require.ErrorContains(t, err, "input: value (a coordinator_test.harmfulWriter) cannot be represented: panic: boom")
	_, err = e.Run(t.Context(), "r")
	require.ErrorIs(t, err, coordinator.ErrRunNotFound, "nothing is journaled")

	r := start(t, e, waits2)
	require.ErrorContains(t, r.Send(t.Context(), "approve", harmfulWriter{boom}), "panic: boom")
	require.ErrorContains(t, r.Patch(t.Context(), map[string]any{"a": harmfulWriter{boom}}), "panic: boom")
	require.NoError(t, r.Send(t.Context(), "approve", 1))
	result := wait(t, r)
	readerHarm.Store(&boom)
	require.ErrorContains(t, result.Decode(new(harmfulReader)), "panic: boom")

	_, err = e.Start(t.Context(), nil, nil)
	require.Error(t, err)
	_, err = e.Start(t.Context(), &template.Workflow{Name: "w", Steps: []template.Node{nil}}, nil)
	require.Error(t, err)

	func() { // only the caller's goroutine ends
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = e.Start(t.Context(), parse(t, `{kind: Workflow, name: w, steps: [{operation: echo}]}`), harmfulWriter{runtime.Goexit})
		}()
		<-done
	}()
	require.NoError(t, wait(t, start(t, e, `{kind: Workflow, name: w, steps: [{operation: echo}]}`)).Err())
}

const waits2 = `
kind: Workflow
name: waits
operations: {approval: {wait: {message: approve}}}
steps: [{operation: approval}]
output: "{{ steps.approval.output }}"`

// harmfulOperation is an Operation whose methods do harm.
type harmfulOperation struct{ name, implementation harm }

func (o harmfulOperation) Name() string        { o.name(); return "x" }
func (o harmfulOperation) Implementation() any { o.implementation(); return nil }

// A failed New leaves no goroutine.
func TestHarmWhileAnEngineIsMade(t *testing.T) {
	for how, harm := range harms {
		for name, config := range map[string]coordinator.Config{
			"name":           {Operations: []coordinator.Operation{harmfulOperation{harm, nothing}}},
			"implementation": {Operations: []coordinator.Operation{harmfulOperation{nothing, harm}}},
			"pick up":        {PickUp: func(journal.Head) bool { harm(); return true }},
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				store := &kept{memory.New()}
				first, err := coordinator.New(t.Context(), store, coordinator.Config{})
				require.NoError(t, err)
				start(t, first, waits2)
				require.NoError(t, first.Shutdown(t.Context()))

				made := make(chan error, 1)
				go func() {
					err := errors.New("the goroutine has ended")
					defer func() { made <- err }()
					_, err = coordinator.New(t.Context(), store, config)
				}()
				require.Error(t, <-made)
				second, err := coordinator.New(t.Context(), store, coordinator.Config{})
				require.NoError(t, err)
				require.NoError(t, second.Shutdown(t.Context()))
			})
		}
	}
}

// harmfulLog is a handler whose methods do harm.
type harmfulLog struct{ harm harm }

func (h harmfulLog) Enabled(context.Context, slog.Level) bool  { h.harm(); return true }
func (h harmfulLog) Handle(context.Context, slog.Record) error { h.harm(); return nil }
func (h harmfulLog) WithAttrs([]slog.Attr) slog.Handler        { h.harm(); return h }
func (h harmfulLog) WithGroup(string) slog.Handler             { h.harm(); return h }

func TestALoggerThatDoesHarmIsSurvived(t *testing.T) {
	for how, harm := range harms {
		t.Run(how, func(t *testing.T) {
			failed := false
			store := &flaky{Store: memory.New()}
			store.fail = func(_ string, after uint64, _ []journal.Event) error {
				if after == 0 || failed {
					return nil
				}
				failed = true
				return errors.New("once")
			}
			e, err := coordinator.New(t.Context(), store, coordinator.Config{
				Operations: []coordinator.Operation{echo}, Logger: slog.New(harmfulLog{harm}),
			})
			require.NoError(t, err)
			r := start(t, e, `{kind: Workflow, name: w, steps: [{operation: echo, id: a}, {operation: echo, id: b}]}`)
			require.NoError(t, wait(t, r).Err())
			require.True(t, failed, "the handler was called")
			require.NoError(t, e.Shutdown(t.Context()))
		})
	}
}

// Observers are called on separate goroutines, and may panic or end them.
func TestObserversMayEndInAnyWay(t *testing.T) {
	for how, harm := range harms {
		t.Run(how, func(t *testing.T) {
			e := newEngine(t, operations())
			r := start(t, e, waits2)
			done := make(chan struct{})
			for _, observe := range []func(){
				func() {
					for range r.Watch(t.Context(), 1) {
						harm()
					}
				},
				func() {
					for range r.Events(t.Context(), 1) {
						harm()
					}
				},
				func() {
					for range e.Runs(t.Context(), "") {
						harm()
					}
				},
				func() {
					for range r.Views(t.Context(), 1) {
						harm()
					}
				},
			} {
				go func() {
					defer func() { _ = recover(); done <- struct{}{} }()
					observe()
				}()
				<-done
			}
			require.NoError(t, r.Send(t.Context(), "approve", 1))
			require.NoError(t, wait(t, r).Err())
		})
	}
}

// unfit is a directory whose data about its participant is not a value.
type unfit struct{ people }

func (unfit) Participant(string) (value.Value, bool) { return map[string]any{"rate": math.NaN()}, true }

// TestADirectoryWithoutAValue: if a participant's data is not a value, the call fails and is not made.
func TestADirectoryWithoutAValue(t *testing.T) {
	e := newEngine(t, coordinator.Config{Directory: unfit{people{nothing, nothing}}, Operations: []coordinator.Operation{
		operation.Define("echo", func(context.Context, any) (any, error) { t.Error("the call was made"); return nil, nil }),
	}})
	r := start(t, e, asks)
	require.Error(t, wait(t, r).Err())
	s, err := r.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, coordinator.CodeDirectory, s.Steps[0].Dispatches[0].Failure.Code)
	require.Contains(t, s.Steps[0].Dispatches[0].Failure.Message, "ann")
}
