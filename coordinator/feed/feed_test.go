package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk"
	"github.com/sluiceflow/sluice/reactive/journal/memory"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/kinds"
)

// chain returns a workflow of n steps, each of which waits for a message.
func chain(t *testing.T, n int) *template.Workflow {
	var steps []string
	for i := range n {
		steps = append(steps, fmt.Sprintf("{id: s%d, operation: o%d}", i, i))
	}
	var operations []string
	for i := range n {
		operations = append(operations, fmt.Sprintf("o%d: {wait: {message: m%d}}", i, i))
	}
	text := fmt.Sprintf("{kind: Workflow, name: chain, operations: {%s}, steps: [%s]}", strings.Join(operations, ", "), strings.Join(steps, ", "))
	checked, err := kinds.Load("chain.yaml", []byte(text), template.Known{})
	require.NoError(t, err)
	return checked.Workflow
}

func newEngine(t *testing.T, store journal.Store) *coordinator.Engine {
	engine, err := coordinator.New(t.Context(), store, coordinator.Config{Operations: []coordinator.Operation{later}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Shutdown(context.Background())) })
	return engine
}

func newHub(t *testing.T, engine *coordinator.Engine) *Hub {
	hub := New(engine)
	t.Cleanup(hub.Close)
	return hub
}

func stores(t *testing.T, test func(t *testing.T, engine *coordinator.Engine)) {
	t.Run("memory", func(t *testing.T) { test(t, newEngine(t, memory.New())) })
	t.Run("disk", func(t *testing.T) {
		store, err := disk.Open(t.TempDir(), disk.Config{})
		require.NoError(t, err)
		test(t, newEngine(t, store))
	})
}

// send makes the run go on, message by message.
func send(t *testing.T, run *coordinator.Run, from, to int) {
	for i := from; i < to; i++ {
		require.NoError(t, run.Send(context.Background(), fmt.Sprint("m", i), i))
	}
}

func decode[T any](t *testing.T, f Frame) (v T) {
	require.NoError(t, json.Unmarshal(f.Data, &v), string(f.Data))
	return v
}

// journaled returns the sequences and types of a run's events, as the store has them.
func journaled(t *testing.T, run *coordinator.Run) (list []string) {
	for e, err := range run.Events(context.Background(), 1) {
		require.NoError(t, err)
		list = append(list, fmt.Sprint(e.Seq, " ", e.Type))
	}
	return list
}

// kills returns the number of times that an observer is killed: the race detector makes each kill ten times as expensive.
func kills() int {
	switch {
	case os.Getenv("SLUICE_EXHAUSTIVE") != "":
		return 2000
	case testing.Short():
		return 40
	}
	return 200
}

func TestAnObserverThatIsKilledAndResumedGetsEachEventOnceAndInOrder(t *testing.T) {
	stores(t, func(t *testing.T, engine *coordinator.Engine) {
		const steps = 120
		kills := kills()
		run, err := engine.Start(t.Context(), chain(t, steps), nil)
		require.NoError(t, err)
		hub, random := newHub(t, engine), rand.New(rand.NewPCG(1, 2))
		sent := make(chan struct{})
		go func() { defer close(sent); send(t, run, 0, steps) }()
		var got []string
		pos, killed, ended := uint64(0), 0, false
		for !ended || killed < kills {
			if ended { // again from an earlier frame: the later ones are dropped
				pos, ended = uint64(random.IntN(len(got))), false
				got = got[:pos]
			}
			o, err := hub.Run(t.Context(), run.ID(), Options{View: Events, Resume: true, After: pos})
			require.NoError(t, err)
			for range 1 + random.IntN(8) {
				f, err := o.Next(t.Context())
				require.NoError(t, err)
				if ended = f.Kind == KindEnd; ended {
					_, err = o.Next(t.Context())
					require.ErrorIs(t, err, io.EOF)
					break
				}
				u := decode[Update](t, f)
				require.Equal(t, pos+1, u.From)
				for _, e := range u.Events {
					got = append(got, fmt.Sprint(e.Event.Seq, " ", e.Event.Type))
				}
				pos, err = strconv.ParseUint(f.ID, 10, 64)
				require.NoError(t, err)
				require.Equal(t, u.Seq, pos)
			}
			o.Close()
			killed++
			if ended {
				require.Equal(t, journaled(t, run), got)
			}
		}
		<-sent
		require.Empty(t, hub.topics, "observers that have left leave nothing behind")
	})
}

func TestAnObserverOfAllRunsThatIsKilledAndResumedGetsEachChangeOnceAndInOrder(t *testing.T) {
	stores(t, func(t *testing.T, engine *coordinator.Engine) {
		const runs, steps = 20, 20
		kills := kills()
		hub, random, w := newHub(t, engine), rand.New(rand.NewPCG(3, 4)), chain(t, steps)
		place := ""
		o, err := hub.All("", "")
		require.NoError(t, err)
		f, err := o.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, KindReady, f.Kind)
		begin := f.ID
		place = begin
		o.Close()
		go func() {
			for i := range runs {
				run, err := engine.Start(context.Background(), w, nil, coordinator.WithID(fmt.Sprint("run-", i)))
				if err == nil {
					send(t, run, 0, steps)
				}
			}
		}()
		seen, status, done := map[string]uint64{}, map[string]string{}, 0
		for killed := 0; done < runs || killed < kills; killed++ {
			if done == runs {
				place, done = begin, 0
				clear(seen)
				clear(status)
			}
			o, err := hub.All("", place)
			require.NoError(t, err)
			for range 1 + random.IntN(4) {
				if done == runs {
					break
				}
				f, err := o.Next(t.Context())
				require.NoError(t, err)
				require.Equal(t, KindUpdate, f.Kind)
				for _, c := range decode[Changed](t, f).Runs {
					require.Greater(t, c.Seq, seen[c.Run])
					require.GreaterOrEqual(t, c.Head.Events, c.Seq)
					if seen[c.Run] = c.Seq; c.Head.Finished && c.Head.Events == c.Seq {
						done++
					}
				}
				place = f.ID
			}
			o.Close()
		}
		for run, last := range seen {
			r, err := engine.Run(t.Context(), run)
			require.NoError(t, err)
			now, err := r.Last(t.Context())
			require.NoError(t, err)
			require.Equal(t, now, last)
		}
		require.Len(t, seen, runs)
		require.Nil(t, hub.runs)
	})
}

func TestAnEventIsEncodedOnceForAllObservers(t *testing.T) {
	const observers, steps = 100, 50
	engine := newEngine(t, memory.New())
	hub := newHub(t, engine)
	run, err := engine.Start(t.Context(), chain(t, steps), nil)
	require.NoError(t, err)
	begun, err := run.Last(t.Context())
	require.NoError(t, err)
	all := make([]*Observer, observers)
	for i := range all {
		view := []View{Steps, Events}[i%2]
		all[i], err = hub.Run(t.Context(), run.ID(), Options{View: view})
		require.NoError(t, err)
		defer all[i].Close()
		f, err := all[i].Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, KindSnapshot, f.Kind)
		require.Equal(t, begun, decode[Snapshot](t, f).Seq)
	}
	before := runtime.NumGoroutine()
	for range 100 { // observers that only wait
		o, err := hub.Run(t.Context(), run.ID(), Options{})
		require.NoError(t, err)
		defer o.Close()
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before, "an observer costs no goroutine")
	send(t, run, 0, steps)
	_, err = run.Wait(t.Context())
	require.NoError(t, err)
	last, err := run.Last(t.Context())
	require.NoError(t, err)
	for i, o := range all {
		steps, f := map[string]string{}, Frame{}
		for f.Kind != KindEnd {
			f, err = o.Next(t.Context())
			require.NoError(t, err)
			u := decode[Update](t, f)
			for _, s := range u.Steps {
				steps[s.Step] = s.Status
			}
			for _, e := range u.Events {
				for _, c := range e.Changes {
					steps[c.Step] = c.To
				}
			}
		}
		require.Len(t, steps, 50, i)
		for _, s := range steps {
			require.Equal(t, "completed", s)
		}
	}
	require.Equal(t, int64(last-begun), hub.encoded.Load())
}

// Observers that have seen a run up to the same event share the frame with the events after it.
func TestAFrameIsPutTogetherOnceForAllObservers(t *testing.T) {
	const observers = 100
	engine := newEngine(t, memory.New())
	hub := newHub(t, engine)
	run, err := engine.Start(t.Context(), chain(t, 2), nil)
	require.NoError(t, err)
	all := make([]*Observer, observers)
	for i := range all {
		all[i], err = hub.Run(t.Context(), run.ID(), Options{})
		require.NoError(t, err)
		defer all[i].Close()
		_, err := all[i].Next(t.Context())
		require.NoError(t, err)
	}
	send(t, run, 0, 1)
	last, err := run.Last(t.Context())
	require.NoError(t, err)
	for all[0].pos < last {
		f, err := all[0].Next(t.Context())
		require.NoError(t, err)
		require.NotZero(t, f.Since, "it is news")
	}
	before := hub.joined.Load()
	var first Frame
	for i, o := range all[1:] {
		f, err := o.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, last, o.pos)
		if i == 0 {
			first = f
		}
		require.Same(t, &first.Data[0], &f.Data[0])
	}
	require.LessOrEqual(t, hub.joined.Load()-before, int64(1))
}

func TestASlowObserverOfStepsIsShownASnapshotInPlaceOfALongReplay(t *testing.T) {
	engine := newEngine(t, memory.New())
	hub := newHub(t, engine)
	const steps = 2000
	run, err := engine.Start(t.Context(), chain(t, steps), nil)
	require.NoError(t, err)
	send(t, run, 0, steps)
	_, err = run.Wait(t.Context())
	require.NoError(t, err)
	last, err := run.Last(t.Context())
	require.NoError(t, err)
	require.Greater(t, last, uint64(replayMax)+1)
	kinds := func(o Options) (list []string, final map[string]string) {
		observer, err := hub.Run(t.Context(), run.ID(), o)
		require.NoError(t, err)
		defer observer.Close()
		final = map[string]string{}
		for {
			f, err := observer.Next(t.Context())
			if errors.Is(err, io.EOF) {
				return list, final
			}
			require.NoError(t, err)
			require.Less(t, len(f.Data), 3*frameBytes)
			if len(list) == 0 || list[len(list)-1] != f.Kind {
				list = append(list, f.Kind)
			}
			for _, s := range decode[Snapshot](t, f).Steps {
				final[s.Step] = s.Status
			}
		}
	}
	got, final := kinds(Options{Resume: true, After: 1})
	require.Equal(t, []string{KindReset, KindSnapshot, KindEnd}, got)
	require.Len(t, final, steps)
	got, near := kinds(Options{Resume: true, After: last - 100})
	require.Equal(t, []string{KindUpdate, KindEnd}, got)
	for step, status := range near {
		require.Equal(t, final[step], status)
	}
	got, _ = kinds(Options{View: Events, Resume: true})
	require.Equal(t, []string{KindUpdate, KindEnd}, got, "every event counts")
	_, err = hub.Run(t.Context(), run.ID(), Options{Resume: true, After: last + 1})
	require.ErrorIs(t, err, ErrAhead)
}

func TestWhatAQueryDoesNotSelectIsToldAsLeft(t *testing.T) {
	engine := newEngine(t, memory.New())
	hub := newHub(t, engine)
	o, err := hub.All("status:waiting", "")
	require.NoError(t, err)
	defer o.Close()
	_, err = o.Next(t.Context())
	require.NoError(t, err)
	run, err := engine.Start(t.Context(), chain(t, 1), nil)
	require.NoError(t, err)
	last := func() (c RunChange) {
		end, err := run.Last(t.Context())
		require.NoError(t, err)
		for c.Seq < end {
			f, err := o.Next(t.Context())
			require.NoError(t, err)
			runs := decode[Changed](t, f).Runs
			c = runs[len(runs)-1]
		}
		return c
	}
	c := last()
	require.Equal(t, "waiting", c.Head.Status)
	send(t, run, 0, 1)
	_, err = run.Wait(t.Context())
	require.NoError(t, err)
	c = last()
	require.True(t, c.Left)
	require.Nil(t, c.Head)
	require.NoError(t, engine.Delete(t.Context(), run.ID()))
	f, err := o.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, []RunChange{{Run: run.ID(), Deleted: true}}, decode[Changed](t, f).Runs)

	again, err := hub.All("", "made up")
	require.NoError(t, err)
	defer again.Close()
	f, err = again.Next(t.Context())
	require.NoError(t, err)
	require.Equal(t, KindReset, f.Kind)
	_, err = hub.All("status:no", "")
	require.ErrorContains(t, err, "status")
}

func TestObserversEndWithTheHub(t *testing.T) {
	engine := newEngine(t, memory.New())
	hub := New(engine)
	run, err := engine.Start(t.Context(), chain(t, 1), nil)
	require.NoError(t, err)
	o, err := hub.Run(t.Context(), run.ID(), Options{})
	require.NoError(t, err)
	defer o.Close()
	all, err := hub.All("", "")
	require.NoError(t, err)
	defer all.Close()
	_, err = o.Next(t.Context())
	require.NoError(t, err)
	hub.Close()
	_, err = o.Next(t.Context())
	require.ErrorIs(t, err, coordinator.ErrShutdown)
	for err = nil; err == nil; { // it may have been ready before
		_, err = all.Next(t.Context())
	}
	require.ErrorIs(t, err, coordinator.ErrShutdown)
}

// Observers of steps receive a reset when the run moves to another workflow; observers of events receive every event.
func TestAMoveResetsObserversOfSteps(t *testing.T) {
	stores(t, func(t *testing.T, engine *coordinator.Engine) {
		ctx := t.Context()
		run, err := engine.Start(ctx, chain(t, 2), nil, coordinator.WithID("a"))
		require.NoError(t, err)
		hub := newHub(t, engine)
		steps, err := hub.Run(ctx, "a", Options{View: Steps})
		require.NoError(t, err)
		defer steps.Close()
		f, err := steps.Next(ctx)
		require.NoError(t, err)
		require.Equal(t, KindSnapshot, f.Kind)
		_, err = run.Move(ctx, chain(t, 3))
		require.NoError(t, err)
		require.NoError(t, run.Send(ctx, "m0", nil))
		var kinds []string
		var last Snapshot
		for len(kinds) == 0 || kinds[len(kinds)-1] != KindSnapshot {
			f, err := steps.Next(ctx)
			require.NoError(t, err)
			if kinds = append(kinds, f.Kind); f.Kind == KindSnapshot {
				require.NoError(t, json.Unmarshal(f.Data, &last))
			}
		}
		require.Contains(t, kinds, KindReset)
		start, err := run.State(ctx)
		require.NoError(t, err)
		require.Equal(t, start.Start.Workflow, last.Hash)
	})
}
