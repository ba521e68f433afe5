package callorder_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/callgraph"
	"github.com/sluiceflow/sluice/reactive/net/callorder"
)

// place is the place of a call. The order reads it from the key.
type place struct {
	run       string
	iteration int32
	task      int
}

func (p place) key() string { return fmt.Sprint(p.run, " ", p.iteration, " ", p.task) }

// laneOf parses a key.
func laneOf(key string) (run string, iteration int32) {
	var task int
	if _, err := fmt.Sscan(key, &run, &iteration, &task); err != nil {
		panic(err)
	}
	return run, iteration
}

// record is a plain model: it keeps all step-runs and calls, and searches all of them for each answer.
type record struct {
	runs  []string
	from  map[string][]string
	apart map[string]bool
	calls []place // by number
}

// lane returns the calls of a lane, in their order.
func (r *record) lane(p place) (calls []int32) {
	for i, c := range r.calls {
		if c.run == p.run && (c.iteration == p.iteration || !r.apart[p.run]) {
			calls = append(calls, int32(i))
		}
	}
	return calls
}

// last returns the calls that represent an ended step-run: the last call of each lane or, without calls, the calls for which it
// waited.
func (r *record) last(run string) []int32 {
	last := map[int32]int32{}
	for i, c := range r.calls {
		if c.run != run {
			continue
		}
		if !r.apart[run] {
			c.iteration = 0
		}
		last[c.iteration] = int32(i)
	}
	if len(last) == 0 {
		return r.first(run)
	}
	var all []int32
	for _, i := range last {
		all = append(all, i)
	}
	return all
}

// first returns the calls for which the first call of a step-run waits.
func (r *record) first(run string) (all []int32) {
	for _, from := range r.from[run] {
		all = append(all, r.last(from)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// before returns the calls for which the next call at a place waits: the call before it of another task, or else the result of
// first.
func (r *record) before(p place) []int32 {
	for _, i := range slices.Backward(r.lane(p)) {
		if r.calls[i].key() != p.key() {
			return []int32{i}
		}
	}
	return r.first(p.run)
}

// For any step-runs and calls, each call waits for the calls that a search of the whole record finds.
func TestACallWaitsForThoseBeforeIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := &record{from: map[string][]string{}, apart: map[string]bool{}}
		o := callorder.New(callgraph.New(nil), laneOf)
		over := map[string]bool{}     // step-runs that have ended
		current := map[string]place{} // by lane: the current task
		schedule := func(t *rapid.T, from []string) {
			run := fmt.Sprint("run", len(r.runs))
			r.apart[run] = rapid.Bool().Draw(t, "apart")
			o.Scheduled(run, from, r.apart[run])
			if len(from) == 0 { // it follows all step-runs that precede no other
				for _, earlier := range r.runs {
					if !slices.ContainsFunc(r.runs, func(later string) bool { return slices.Contains(r.from[later], earlier) }) {
						from = append(from, earlier)
					}
				}
			}
			r.from[run] = from
			r.runs = append(r.runs, run)
		}
		schedule(t, nil)
		live := func() []string {
			return slices.DeleteFunc(slices.Clone(r.runs), func(run string) bool { return over[run] })
		}
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				if len(live()) == 0 {
					t.Skip("all have ended")
				}
				p := place{run: rapid.SampledFrom(live()).Draw(t, "run"), iteration: rapid.Int32Range(0, 2).Draw(t, "iteration")}
				lane := fmt.Sprint(p.run, " ", p.iteration)
				if !r.apart[p.run] {
					lane = p.run
				}
				if was, ok := current[lane]; ok {
					if p = was; rapid.Bool().Draw(t, "next task") { // otherwise it is retried
						p.task++
						if !r.apart[p.run] {
							p.iteration = rapid.Int32Range(0, 2).Draw(t, "iteration")
						}
					}
				}
				current[lane] = p
				require.ElementsMatch(t, r.before(p), o.Before(p.key()))
				o.Called(p.key(), int32(len(r.calls)))
				r.calls = append(r.calls, p)
			},
			"end": func(t *rapid.T) {
				if len(live()) > 0 {
					over[rapid.SampledFrom(live()).Draw(t, "run")] = true
				}
			},
			"schedule": func(t *rapid.T) {
				if len(over) == 0 {
					t.Skip("none has ended")
				}
				ended := slices.DeleteFunc(slices.Clone(r.runs), func(run string) bool { return !over[run] })
				schedule(t, rapid.SliceOfNDistinct(rapid.SampledFrom(ended), 1, 3, rapid.ID).Draw(t, "from"))
			},
			"final step": func(t *rapid.T) {
				if len(live()) > 0 {
					t.Skip("some go on")
				}
				schedule(t, nil)
			},
		})
	})
}

// More calls than a call may wait for directly meet in one node, which all calls that wait for them share.
func TestManyLanesMeet(t *testing.T) {
	for lanes, want := range map[int32]int{1: 1, callgraph.MeetMax: callgraph.MeetMax, callgraph.MeetMax + 1: 1} {
		o := callorder.New(callgraph.New(nil), laneOf)
		o.Scheduled("loop", nil, true)
		for i := range lanes {
			p := place{run: "loop", iteration: i}
			require.Empty(t, o.Before(p.key()))
			o.Called(p.key(), i)
		}
		var seen [][]int32
		for _, run := range []string{"a", "b"} {
			o.Scheduled(run, []string{"loop"}, false)
			seen = append(seen, o.Before(place{run: run}.key()))
		}
		require.Len(t, seen[0], want, "%d lanes", lanes)
		require.Equal(t, seen[0], seen[1], "%d lanes", lanes)
		require.Equal(t, lanes > callgraph.MeetMax, seen[0][0] < 0, "a meeting has a negative number")
	}
}

// A call of a step-run that was never scheduled, as in a journal that was written elsewhere, waits for the calls that no other has waited for.
func TestACallOfAnUnknownStepRunIsOrdered(t *testing.T) {
	o := callorder.New(callgraph.New(nil), laneOf)
	key := place{"b@1", 0, 0}.key()
	require.Empty(t, o.Before(key))
	o.Called(key, 0)
	require.Equal(t, []int32{0}, o.Before(place{"b@1", 0, 1}.key()))
	o.Scheduled("c@1", []string{"elsewhere@1"}, false)
	require.Equal(t, []int32{0}, o.Before(place{"c@1", 0, 0}.key()))
}
