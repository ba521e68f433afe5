package coordinator_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"log/slog"
	"runtime"
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
)

// record is a log handler that keeps its lines.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

// lines returns the lines that contain all words.
func (r *record) lines(words ...string) (list []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
next:
	for line := range strings.Lines(r.text.String()) {
		for _, word := range words {
			if !strings.Contains(line, word) {
				continue next
			}
		}
		list = append(list, line)
	}
	return list
}

func (r *record) logger() *slog.Logger { return slog.New(slog.NewTextHandler(r, nil)) }

// spoiled is a store that outlives its engines, and spoils the reads of some streams.
type spoiled struct {
	journal.Store
	mu    sync.Mutex
	spoil map[string]func(*journal.Event) error // by stream: changes an event, or returns the error in its place
}

func newSpoiled() *spoiled {
	return &spoiled{Store: memory.New(), spoil: map[string]func(*journal.Event) error{}}
}

func (s *spoiled) set(stream string, f func(*journal.Event) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spoil[stream] = f
}

func (s *spoiled) read(stream string, from iter.Seq2[journal.Event, error]) iter.Seq2[journal.Event, error] {
	s.mu.Lock()
	f := s.spoil[stream]
	s.mu.Unlock()
	if f == nil {
		return from
	}
	return func(yield func(journal.Event, error) bool) {
		for e, err := range from {
			if err == nil {
				err = f(&e)
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

func (s *spoiled) Read(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return s.read(stream, s.Store.Read(ctx, stream, from))
}

func (s *spoiled) Tail(ctx context.Context, stream string, from uint64) iter.Seq2[journal.Event, error] {
	return s.read(stream, s.Store.Tail(ctx, stream, from))
}

func (s *spoiled) Close() error { return nil }

// abandoned returns a store with unfinished runs, each of which calls slow.
func abandoned(t *testing.T, ids ...string) *spoiled {
	g, store := newGate(), newSpoiled()
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{g.define("slow")}})
	require.NoError(t, err)
	for _, id := range ids {
		start(t, e, slowly, coordinator.WithID(id))
		<-g.entered
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))
	return store
}

const slowly = `{kind: Workflow, name: slowly, steps: [{operation: slow}], output: "{{ steps.slow.output }}"}`

// slow is an operation that returns at once.
var slow = operation.Define("slow", func(context.Context, any) (string, error) { return "slow after all", nil })

func engineOn(t testing.TB, store journal.Store, log *record, list ...coordinator.Operation) *coordinator.Engine {
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Logger: log.logger(), Operations: list, IdleTimeout: time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.Shutdown(context.Background())) })
	return e
}

// requireParked checks that all methods report a run as parked.
func requireParked(t testing.TB, e *coordinator.Engine, log *record, id, reason string) {
	t.Helper()
	r := find(t, e, id)
	_, err := r.Wait(t.Context())
	require.ErrorIs(t, err, coordinator.ErrParked)
	require.ErrorContains(t, err, reason)
	require.ErrorIs(t, r.Parked(t.Context()), coordinator.ErrParked)
	state, err := r.State(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, state.Parked, coordinator.ErrParked)
	require.Contains(t, coordinator.ParkedReason(state.Parked), reason)
	require.False(t, state.Finished)
	for _, step := range []string{"", "slow"} {
		x, err := r.Explain(t.Context(), step)
		require.NoError(t, err)
		require.Equal(t, "parked", x.Reasons[0].Kind)
		require.Contains(t, x.Reasons[0].Text, reason)
	}
	for head, err := range e.Runs(t.Context(), "") {
		require.NoError(t, err)
		if head.Run == id {
			require.ErrorIs(t, e.Parked(t.Context(), &head), coordinator.ErrParked, "as Engine.Parked of a list")
		}
	}
	for len(log.lines("WARN", "parked", "run="+id)) == 0 {
		runtime.Gosched() // it is logged after it is parked, without a lock
	}
	require.Len(t, log.lines("WARN", "parked", "run="+id), 1, "it is logged once")
}

func TestARunThatLacksAnOperationIsParkedUntilItIsRegistered(t *testing.T) {
	store := abandoned(t, "a", "b")
	log := &record{}
	e := engineOn(t, store, log)
	for _, id := range []string{"a", "b"} {
		requireParked(t, e, log, id, `operation "slow"`)
		for range 2 { // each command returns the error, which is logged once
			require.ErrorIs(t, find(t, e, id).Cancel(t.Context(), "no"), coordinator.ErrParked)
		}
		requireParked(t, e, log, id, `operation "slow"`)
	}
	require.NoError(t, e.Register(parse(t, `{kind: Workflow, name: other, operations: {one: {value: 1}}, steps: [{operation: one}]}`)))
	require.ErrorIs(t, find(t, e, "a").Parked(t.Context()), coordinator.ErrParked)

	w := parse(t, `{kind: Workflow, name: another, steps: [{operation: slow}]}`)
	require.True(t, w.Provide("slow", slow.Implementation()))
	require.NoError(t, e.Register(w))
	for _, id := range []string{"a", "b"} {
		r := find(t, e, id)
		require.Equal(t, "slow after all", wait(t, r).Output)
		require.NoError(t, r.Parked(t.Context()))
		state, err := r.State(t.Context())
		require.NoError(t, err)
		require.NoError(t, state.Parked)
	}
}

// held is a store whose lists of runs wait for the test.
type held struct {
	*spoiled
	asked, goOn chan struct{}
	once        sync.Once
}

func (h *held) Heads(ctx context.Context, after string) iter.Seq2[journal.Head, error] {
	if after != "" { // the list of New does not wait
		h.once.Do(func() { close(h.asked) })
		<-h.goOn
	}
	return h.spoiled.Heads(ctx, after)
}

// A workflow that is registered while a run is being parked makes the run go on.
func TestARunWhoseOperationIsRegisteredWhileItIsParkedIsTriedAgain(t *testing.T) {
	store := &held{spoiled: abandoned(t, "a"), asked: make(chan struct{}), goOn: make(chan struct{})}
	e := engineOn(t, store, &record{})
	<-store.asked
	w := parse(t, slowly)
	require.True(t, w.Provide("slow", slow.Implementation()))
	require.NoError(t, e.Register(w))
	close(store.goOn)
	require.Equal(t, "slow after all", wait(t, find(t, e, "a")).Output)
}

// A finished run is not parked, even if the program lacks its operations.
func TestAFinishedRunIsNotParked(t *testing.T) {
	store := newSpoiled()
	e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{slow}})
	require.NoError(t, err)
	wait(t, start(t, e, slowly, coordinator.WithID("a")))
	require.NoError(t, e.Shutdown(t.Context()))

	log := &record{}
	e = engineOn(t, store, log)
	r := find(t, e, "a")
	require.Error(t, r.Retry(t.Context(), "slow"))
	require.Equal(t, "slow after all", wait(t, r).Output)
	require.NoError(t, r.Parked(t.Context()))
	require.Empty(t, log.lines("parked"))
}

// A damaged journal parks only its run. A command makes the engine read it again.
func TestAJournalThatCannotBeReadParksItsRun(t *testing.T) {
	for name, test := range map[string]struct {
		spoil  func(*journal.Event) error
		reason string
		logged string // besides the line about parking
	}{
		"damaged": {
			spoil:  func(*journal.Event) error { return journal.ErrDamaged },
			reason: "damaged record",
		},
		"damaged later": {
			spoil: func(e *journal.Event) error {
				if e.Seq > 1 {
					return journal.ErrDamaged
				}
				return nil
			},
			reason: "damaged record",
		},
		"of a newer version": {
			spoil:  func(*journal.Event) error { return journal.ErrVersion },
			reason: "written by a newer version",
		},
		"of other rules": {
			spoil: func(e *journal.Event) error {
				if e.Type == journal.RunStarted {
					start := *e.Detail.Start
					start.Engine--
					e.Detail = &journal.Detail{Start: &start}
				}
				return nil
			},
			reason: "it was started under other rules",
		},
		"no error that is known": {
			spoil:  func(*journal.Event) error { return errors.New("the cable is out") },
			reason: "the cable is out",
		},
		"we panic": {
			spoil: func(e *journal.Event) error {
				if e.Type == journal.CallRequested {
					*e = journal.Event{Type: journal.MessageReceived, Seq: e.Seq, At: e.At} // without its name
				}
				return nil
			},
			reason: "panic: runtime error: invalid memory address",
			logged: "goroutine ",
		},
		"it panics": {
			spoil:  func(*journal.Event) error { panic("the disk is gone") },
			reason: "panic: the disk is gone",
			logged: "goroutine ",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := abandoned(t, "bad", "good")
				store.set("bad", test.spoil)
				log := &record{}
				e := engineOn(t, store, log, slow)
				require.Equal(t, "slow after all", wait(t, find(t, e, "good")).Output)
				time.Sleep(time.Minute)
				synctest.Wait()
				if name == "it panics" { // for a direct read, too
					_, err := find(t, e, "bad").Wait(t.Context())
					require.ErrorContains(t, err, test.reason)
				} else {
					requireParked(t, e, log, "bad", test.reason)
				}
				if test.logged != "" {
					require.NotEmpty(t, log.lines("ERROR", "run=bad", test.logged), "a panic is logged with its stack")
				}
				store.set("bad", nil)
				require.ErrorIs(t, find(t, e, "bad").Resume(t.Context()), coordinator.ErrNotPossible)
				require.Equal(t, "slow after all", wait(t, find(t, e, "bad")).Output)
				require.Len(t, log.lines("WARN", "parked"), 1)
			})
		})
	}
}

// A journal that can be read after a few attempts does not park its run.
func TestAJournalIsReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := abandoned(t, "a")
		tries := 0
		store.set("a", func(*journal.Event) error {
			if tries++; tries < 5 {
				return errors.New("not yet")
			}
			return nil
		})
		log := &record{}
		e := engineOn(t, store, log, slow)
		time.Sleep(time.Minute)
		require.Equal(t, "slow after all", wait(t, find(t, e, "a")).Output)
		require.Empty(t, log.lines("parked"))
	})
}

// A run that only waits is not read when an engine is made. If it could not go on, the methods of the run report the reason, and it is
// logged once.
func TestSleepingRunsThatCannotGoOnAreFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newSpoiled()
		e, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{slow}})
		require.NoError(t, err)
		start(t, e, `
kind: Workflow
name: w
operations: {approval: {wait: {message: approve}}}
steps: [{operation: approval}, {operation: slow}]
output: "{{ steps.slow.output }}"`, coordinator.WithID("asleep"))
		start(t, e, waits2, coordinator.WithID("well"))
		require.NoError(t, e.Shutdown(t.Context()))

		log := &record{}
		e = engineOn(t, store, log)
		synctest.Wait()
		require.Zero(t, e.InMemory())
		require.ErrorIs(t, find(t, e, "asleep").Parked(t.Context()), coordinator.ErrParked)
		require.Len(t, log.lines("WARN", "parked"), 1)
		requireParked(t, e, log, "asleep", `operation "slow"`)
		require.NoError(t, find(t, e, "well").Parked(t.Context()))

		w := parse(t, slowly)
		require.True(t, w.Provide("slow", slow.Implementation()))
		r, err := e.Start(t.Context(), w, nil) // Start registers the workflow, too
		require.NoError(t, err)
		wait(t, r)
		require.NoError(t, find(t, e, "asleep").Send(t.Context(), "approve", 1))
		require.Equal(t, "slow after all", wait(t, find(t, e, "asleep")).Output)
	})
}

// Wait for a run that has left memory returns when it is parked.
func TestWaitReturnsWhenARunIsParked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log := newSpoiled(), &record{}
		e := engineOn(t, store, log)
		r := start(t, e, waits2, coordinator.WithID("a"))
		time.Sleep(time.Minute)
		require.Zero(t, e.InMemory())
		parked := make(chan error, 1)
		go func() {
			_, err := r.Wait(t.Context())
			parked <- err
		}()
		synctest.Wait()
		store.set("a", func(*journal.Event) error { return journal.ErrDamaged })
		require.ErrorIs(t, r.Send(t.Context(), "approve", 1), coordinator.ErrParked)
		require.ErrorIs(t, <-parked, journal.ErrDamaged)
		store.set("a", nil)
		require.NoError(t, r.Send(t.Context(), "approve", 1))
		require.EqualValues(t, 1, wait(t, r).Output)
	})
}

// A parked child does not fail its parent: the call goes on when the child does.
func TestAParkedChildHoldsItsParentUp(t *testing.T) {
	for name, spoil := range map[string]func(*journal.Event) error{
		"child":      func(*journal.Event) error { return journal.ErrDamaged },
		"definition": nil,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, store, log := newGate(), newSpoiled(), &record{}
				inner := parse(t, `{kind: Workflow, name: inner, steps: [{operation: slow}], output: "{{ steps.slow.output }}"}`)
				outer := `
kind: Workflow
name: outer
operations: {below: {workflow: {name: inner}}}
steps: [{operation: below}]
output: "{{ steps.below.output }}"`
				e, err := coordinator.New(t.Context(), store, coordinator.Config{
					Operations: []coordinator.Operation{g.define("slow")}, Workflows: []*template.Workflow{inner},
				})
				require.NoError(t, err)
				start(t, e, outer, coordinator.WithID("p"))
				<-g.entered
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				require.NoError(t, e.Shutdown(ended))

				store.set("p/below#1", spoil)
				var list []coordinator.Operation
				if spoil != nil {
					list = append(list, slow)
				}
				e = engineOn(t, store, log, list...)
				_, err = find(t, e, "p/below#1").Wait(t.Context())
				require.ErrorIs(t, err, coordinator.ErrParked)
				synctest.Wait()
				for event, err := range find(t, e, "p").Events(t.Context(), 1) {
					require.NoError(t, err)
					require.NotEqual(t, journal.CallError, event.Type)
				}
				if spoil != nil {
					store.set("p/below#1", nil)
					require.ErrorIs(t, find(t, e, "p/below#1").Resume(t.Context()), coordinator.ErrNotPossible)
				} else {
					require.True(t, inner.Provide("slow", slow.Implementation()))
					require.NoError(t, e.Register(inner))
				}
				require.Equal(t, "slow after all", wait(t, find(t, e, "p")).Output)
			})
		})
	}
}

// A child that cannot be started here parks its parent. Another engine whose program has the child's operations goes on with it.
func TestAChildThatCannotBeBegunParksItsParent(t *testing.T) {
	g, store, log := newGate(), newSpoiled(), &record{}
	inner := parse(t, `{kind: Workflow, name: inner, steps: [{operation: other}], output: "{{ steps.other.output }}"}`)
	other := operation.Define("other", func(context.Context, any) (string, error) { return "begun after all", nil })
	e, err := coordinator.New(t.Context(), store, coordinator.Config{
		Operations: []coordinator.Operation{g.define("slow"), other}, Workflows: []*template.Workflow{inner},
	})
	require.NoError(t, err)
	start(t, e, `
kind: Workflow
name: outer
operations: {below: {workflow: {name: inner}}}
steps: [{operation: slow}, {operation: below}]
output: "{{ steps.below.output }}"`, coordinator.WithID("p"))
	<-g.entered
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, e.Shutdown(ended))

	e = engineOn(t, store, log, slow)
	p := find(t, e, "p")
	_, err = p.Wait(t.Context())
	require.ErrorIs(t, err, coordinator.ErrParked)
	require.ErrorContains(t, err, `child workflow of operation "below": coordinator: this program does not have what the run needs: operation "other"`)
	for event, err := range p.Events(t.Context(), 1) {
		require.NoError(t, err)
		require.NotEqual(t, journal.CallError, event.Type)
	}
	require.True(t, inner.Provide("other", other.Implementation()))
	require.NoError(t, e.Register(inner))
	require.Equal(t, "begun after all", wait(t, p).Output)
	require.Len(t, log.lines("WARN", "parked"), 1)
}

// An engine that does not go on with a run reports only reasons that would park it anywhere.
func TestARunThatIsNotPickedUpIsNotParkedForMissingOperations(t *testing.T) {
	store := abandoned(t, "a", "old")
	store.set("old", func(e *journal.Event) error {
		if e.Type == journal.RunStarted {
			start := *e.Detail.Start
			start.Expressions--
			e.Detail = &journal.Detail{Start: &start}
		}
		return nil
	})
	e, err := coordinator.New(t.Context(), store, coordinator.Config{PickUp: func(journal.Head) bool { return false }})
	require.NoError(t, err)
	parked := map[string]bool{}
	for head, err := range e.Runs(t.Context(), "") {
		require.NoError(t, err)
		parked[head.Run] = e.Parked(t.Context(), &head) != nil
	}
	require.Equal(t, map[string]bool{"a": false, "old": true}, parked)
	x, err := find(t, e, "a").Explain(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "nobody", x.Reasons[0].Kind)
	x, err = find(t, e, "old").Explain(t.Context(), "")
	require.NoError(t, err)
	require.Equal(t, "parked", x.Reasons[0].Kind)
	require.NoError(t, e.Shutdown(t.Context()))
}
