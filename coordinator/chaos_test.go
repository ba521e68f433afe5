package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/value"
)

// mischief is the code of a program that panics, ends its goroutine or returns nonsense at random, at any place of its calls.
type mischief struct {
	mu    sync.Mutex
	rng   *rand.Rand
	off   bool
	sites map[string]int // number of harms done, by place
	calls map[string]int // number of calls of operation calm, by idempotency key
}

// roll returns a random number below n, or -1 for no harm.
func (m *mischief) roll(site string, n, chances int) int {
	m.mu.Lock()
	defer m.mu.Unlock()
	i := m.rng.IntN(chances)
	if m.off || i >= n {
		return -1
	}
	m.sites[site]++
	return i
}

// at panics, ends the goroutine, or does nothing.
func (m *mischief) at(site string) {
	switch m.roll(site, 2, 12) {
	case 0:
		panic("harm in " + site)
	case 1:
		runtime.Goexit()
	}
}

// thing returns a value that may be outside the model, or do harm when it is encoded.
func (m *mischief) thing(site string) any {
	list := append(slices.Clone(oddThings), wildValue{m}, map[string]any{"a": wildValue{m}}, operation.Reply{Output: 1, About: map[string]any{"a": wildValue{m}}})
	if i := m.roll(site, len(list), 2*len(list)); i >= 0 {
		return list[i]
	}
	return 1
}

var oddThings = []any{make(chan int), math.NaN(), value.Raw("\xff"), "\xff", func() {}}

// fault returns nil or an error whose methods may do harm.
func (m *mischief) fault(site string) error {
	list := []error{
		wildError{m}, (*operation.Error)(nil), &operation.Error{Details: wildValue{m}, Err: wildError{m}}, errors.New("\xff"),
		fmt.Errorf("so: %w", wildError{m}), coordinator.ErrShutdown, operation.ErrUnreachable, context.Canceled,
	}
	if i := m.roll(site, len(list), 4*len(list)); i >= 0 {
		return list[i]
	}
	return nil
}

type (
	wildValue struct{ m *mischief }
	wildError struct{ m *mischief }
	wildLog   struct{ m *mischief }
	wildStore struct {
		journal.Store
		m *mischief
	}
)

func (v wildValue) MarshalJSON() ([]byte, error) { v.m.at("MarshalJSON"); return []byte("1"), nil }
func (e wildError) Error() string                { e.m.at("Error"); return "wild" }
func (e wildError) Unwrap() error                { e.m.at("Unwrap"); return nil }
func (e wildError) Is(error) bool                { e.m.at("Is"); return false }
func (e wildError) As(any) bool                  { e.m.at("As"); return false }

func (l wildLog) Enabled(context.Context, slog.Level) bool  { l.m.at("Enabled"); return true }
func (l wildLog) Handle(context.Context, slog.Record) error { l.m.at("Handle"); return nil }
func (l wildLog) WithAttrs([]slog.Attr) slog.Handler        { l.m.at("WithAttrs"); return l }
func (l wildLog) WithGroup(string) slog.Handler             { l.m.at("WithGroup"); return l }

func (m *mischief) Participant(string) (value.Value, bool) {
	m.at("Participant")
	return map[string]any{"about": m.thing("about")}, true
}

func (m *mischief) Passports(string) []template.Passport {
	m.at("Passports")
	id := "ann"
	if m.roll("participant", 1, 8) == 0 {
		id = ""
	}
	return []template.Passport{{Participant: id, Attributes: map[string]value.Value{"a": m.thing("attribute")}}, {Participant: "bob"}}
}

// Append does harm to wild runs, before or after it has stored the events.
func (s wildStore) Append(ctx context.Context, stream string, after uint64, events []journal.Event, head journal.Head) (uint64, error) {
	wild := strings.HasPrefix(stream, "wild")
	if wild && s.m.roll("append", 1, 20) == 0 {
		return 0, errors.New("not now")
	}
	if wild {
		s.m.at("before an append")
	}
	last, err := s.Store.Append(ctx, stream, after, events, head)
	if wild {
		s.m.at("after an append")
	}
	return last, err
}

func (s wildStore) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		if strings.HasPrefix(stream, "wild") {
			s.m.at("read")
			if s.m.roll("read in vain", 1, 6) == 0 {
				yield(journal.Event{}, errors.New("not now"))
				return
			}
		}
		for e, err := range s.Store.Read(ctx, stream, from) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// Close does nothing: the next engine uses the store.
func (s wildStore) Close() error { return nil }

// config returns the Config of an engine in which all extension points except the operation calm do mischief.
func (m *mischief) config() coordinator.Config {
	return coordinator.Config{
		Directory: m, Logger: slog.New(wildLog{m}), CallsMax: 2, // so that lost room blocks the test
		PickUp: func(h journal.Head) bool { return true },
		Operations: []coordinator.Operation{
			echo,
			operation.Define("wild", func(_ context.Context, in any) (any, error) {
				m.at("operation")
				return m.thing("output"), m.fault("error")
			}),
			operation.Define("float", func(context.Context, any) (float64, error) {
				m.at("float")
				return []float64{1, math.NaN()}[m.roll("NaN", 1, 4)+1], nil
			}),
			operation.DefinePure("pure", func(any) (any, error) {
				m.at("pure")
				return m.thing("pure output"), m.fault("pure error")
			}),
			caller{"own", func(c *operation.Call) (any, error) {
				m.at("caller")
				c.Node, c.Participant = "mine", "me"
				c.End(nil)
				return m.thing("caller output"), m.fault("caller error")
			}},
			operation.Define("calm", func(ctx context.Context, n int) (int, error) {
				m.mu.Lock()
				defer m.mu.Unlock()
				m.calls[operation.CallOf(ctx).Key()]++
				return n + 1, nil
			}),
		},
	}
}

const wildText = `
kind: Workflow
name: wild
steps:
  - parallel:
      steps:
        - {operation: wild, id: a, timing: {retry: {max_attempts: 3, backoff: PT1S}}}
        - {operation: own, id: b}
        - {operation: pure, id: c}
        - {operation: echo, id: d, func: {name: wildly}}
        - {operation: wild, id: e, target: {resolve: capability, capability_id: any, filter: {a: 1}}, fan_in: {policy: all}}
        - {operation: float, id: f}
        - conditional: {id: g, func: {name: wildly}, then: [{operation: wild, id: h}], else: [{operation: own, id: i}]}
        - map: {id: j, func: {name: wildly}, steps: [{operation: pure, id: k}]}
  - {operation: wild, id: l}`

const calmText = `
kind: Workflow
name: calm
steps:
  - {operation: calm, id: a, input: "{{ input }}"}
  - {operation: calm, id: b, input: "{{ steps.a.output }}"}
  - {operation: calm, id: c, input: "{{ steps.b.output }}"}
output: "{{ steps.c.output }}"`

func (m *mischief) workflow(t testing.TB) *template.Workflow {
	w := parse(t, wildText)
	w.Register(&template.Function{Name: "wildly", Call: func([]value.Value) (value.Value, error) {
		m.at("function")
		return []value.Value{true, []any{1, 2}, m.thing("result")}[m.roll("answer", 2, 3)+1], m.fault("function's error")
	}})
	return w
}

// apart calls f on a goroutine that f may end, and returns its result, or an error if f did not return.
func apart[T any](f func() (T, error)) (out T, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		err = errors.New("f did not return")
		defer func() { _ = recover() }()
		out, err = f()
	}()
	<-done
	return out, err
}

// While the program's code misbehaves at random: runs that do not use it finish, and make each call once; the others fail, or
// are parked and can be tried again; nothing hangs; no goroutine is left; every journaled value can be encoded; and an engine on
// the same store, without mischief, finishes the unfinished runs.
func TestMischiefHarmsNoOtherRun(t *testing.T) {
	seeds := 600
	if testing.Short() {
		seeds = 40
	}
	done := map[string]int{}
	for seed := range uint64(seeds) {
		ok := t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &mischief{rng: rand.New(rand.NewPCG(seed, 0)), sites: map[string]int{}, calls: map[string]int{}}
				m.perform(t)
				for site, n := range m.sites {
					done[site] += n
				}
			})
		})
		if !ok {
			return
		}
	}
	for _, site := range []string{
		"operation", "output", "error", "caller", "pure", "function", "Participant", "Passports", "MarshalJSON", "Error", "Unwrap", "Is", "As",
		"Enabled", "Handle", "before an append", "after an append", "append", "read", "read in vain", "NaN", "participant",
	} {
		require.NotZero(t, done[site], "no harm was done in %s: %v", site, slices.Sorted(maps.Keys(done)))
	}
}

func (m *mischief) perform(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	store := wildStore{memory.New(), m}
	e, err := coordinator.New(t.Context(), store, m.config())
	require.NoError(t, err)
	wild, calm := m.workflow(t), parse(t, calmText)
	for i := range 4 {
		_, _ = apart(func() (*coordinator.Run, error) {
			return e.Start(t.Context(), wild, m.thing("input"), coordinator.WithID(fmt.Sprint("wild-", i)))
		})
		_, err := e.Start(t.Context(), calm, i, coordinator.WithID(fmt.Sprint("calm-", i)))
		require.NoError(t, err)
	}
	for i := range 4 {
		r, err := e.Run(t.Context(), fmt.Sprint("calm-", i))
		require.NoError(t, err)
		result, err := r.Wait(ctx)
		require.NoError(t, err)
		require.EqualValues(t, i+3, result.Output)
		m.tryWild(t, e, fmt.Sprint("wild-", i))
	}
	require.Len(t, m.calls, 12)
	for key, n := range m.calls {
		require.Equal(t, 1, n, key)
	}
	require.NoError(t, e.Shutdown(t.Context()))

	m.mu.Lock()
	m.off = true
	m.mu.Unlock()
	config := m.config()
	config.Workflows = []*template.Workflow{wild}
	e, err = coordinator.New(t.Context(), store, config)
	require.NoError(t, err)
	for head, err := range e.Runs(t.Context(), "") {
		require.NoError(t, err)
		r, err := e.Run(t.Context(), head.Run)
		require.NoError(t, err)
		result, err := r.Wait(ctx)
		require.NoError(t, err)
		require.NotEmpty(t, result.Status)
		for event, err := range r.Events(t.Context(), 1) {
			require.NoError(t, err)
			_, err := (&journal.Codec{}).Append(nil, &event)
			require.NoError(t, err, "every event can be encoded")
			require.NotEqual(t, "mine", event.Node, "an operation cannot change the node of its call")
		}
	}
	require.NoError(t, e.Shutdown(t.Context()))
}

// tryWild waits for a wild run unless it stays parked, and reads it.
func (m *mischief) tryWild(t *testing.T, e *coordinator.Engine, id string) {
	r, err := apart(func() (*coordinator.Run, error) { return e.Run(t.Context(), id) })
	if err != nil { // the run was not started, or the outcome of its start is unknown
		return
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for range 3 {
		_, _ = apart(func() (*coordinator.State, error) { return r.State(t.Context()) })
		_, _ = apart(func() (*coordinator.Explanation, error) { return r.Explain(t.Context(), "") })
		_, err := apart(func() (*coordinator.Result, error) { return r.Wait(ctx) })
		require.NotErrorIs(t, err, context.DeadlineExceeded, "nothing hangs")
		if !errors.Is(err, coordinator.ErrParked) {
			return
		}
		require.ErrorIs(t, e.Parked(t.Context(), &journal.Head{Run: id, Open: true}), coordinator.ErrParked)
		_, _ = apart(func() (any, error) { return nil, r.Resume(t.Context()) })
	}
}
