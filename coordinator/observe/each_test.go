package observe_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/reactivex/rxgo/v2"
	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/coordinator/observe"
)

// operators holds one rxgo operator of each kind: they map, gather, end early, flatten, merge, and wait.
var operators = map[string]func(ctx context.Context, o rxgo.Observable) rxgo.Observable{
	"none": func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o },
	"Map":  func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.Map(same) },
	"Filter": func(_ context.Context, o rxgo.Observable) rxgo.Observable {
		return o.Filter(func(any) bool { return true })
	},
	"Take":     func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.Take(2) },
	"TakeLast": func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.TakeLast(2) },
	"TakeUntil": func(_ context.Context, o rxgo.Observable) rxgo.Observable {
		return o.TakeUntil(func(any) bool { return true })
	},
	"Skip":     func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.Skip(1) },
	"SkipLast": func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.SkipLast(1) },
	"Scan": func(_ context.Context, o rxgo.Observable) rxgo.Observable {
		return o.Scan(func(_ context.Context, a, b any) (any, error) { return b, nil })
	},
	"Buffer": func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.BufferWithCount(2) },
	"Window": func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.WindowWithCount(2) },
	"GroupBy": func(_ context.Context, o rxgo.Observable) rxgo.Observable {
		return o.GroupBy(2, func(i rxgo.Item) int { return 0 })
	},
	"FlatMap": func(ctx context.Context, o rxgo.Observable) rxgo.Observable {
		return o.FlatMap(func(i rxgo.Item) rxgo.Observable { return rxgo.Just(1, 2, 3)() })
	},
	"Merge": func(ctx context.Context, o rxgo.Observable) rxgo.Observable {
		return rxgo.Merge([]rxgo.Observable{o, rxgo.Just(1, 2)()}, rxgo.WithContext(ctx))
	},
	"Concat": func(ctx context.Context, o rxgo.Observable) rxgo.Observable {
		return rxgo.Concat([]rxgo.Observable{o, rxgo.Just(1, 2)()}, rxgo.WithContext(ctx))
	},
	"CombineLatest": func(ctx context.Context, o rxgo.Observable) rxgo.Observable {
		return rxgo.CombineLatest(func(list ...any) any { return list }, []rxgo.Observable{o, rxgo.Just(1, 2)()}, rxgo.WithContext(ctx))
	},
	"pool": func(_ context.Context, o rxgo.Observable) rxgo.Observable { return o.Map(same, rxgo.WithPool(3)) },
	"eager": func(ctx context.Context, o rxgo.Observable) rxgo.Observable {
		return o.Map(same, rxgo.WithObservationStrategy(rxgo.Eager))
	},
	"a chain": func(_ context.Context, o rxgo.Observable) rxgo.Observable {
		return o.Map(same).Filter(func(any) bool { return true }).BufferWithCount(1).Skip(1).Map(same)
	},
}

// read reads an item that is an observable to its end.
func read(item rxgo.Item) {
	if inner, ok := item.V.(rxgo.Observable); ok {
		go func() {
			for range inner.Observe() {
			}
		}()
	}
}

func same(_ context.Context, v any) (any, error) { return v, nil }

// TestEachLeaksNoGoroutine breaks off the iteration after any number of items, and ends the context while it waits for items, for
// every kind of operator. goleak checks at the end.
func TestEachLeaksNoGoroutine(t *testing.T) {
	run := startRun(t, t.Context())
	waiting := startWaiting(t, t.Context())
	for name, build := range operators {
		t.Run(name, func(t *testing.T) {
			for n := range 5 {
				got := 0
				for item := range observe.Each(t.Context(), run, 1, build) {
					read(item)
					if got++; got > n {
						break
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				ending := func(ctx context.Context, o rxgo.Observable) rxgo.Observable {
					passed := 0
					return build(ctx, o.Map(func(_ context.Context, v any) (any, error) {
						if passed++; passed > n%2 { // the run waits after two updates
							cancel()
						}
						return v, nil
					}))
				}
				for item := range observe.Each(ctx, waiting, 1, ending) {
					read(item)
				}
			}
		})
	}
}

// TestASlowObserverDoesNotDelayTheRun: the run ends while an observer has received one update; the observer then receives all others.
func TestASlowObserverDoesNotDelayTheRun(t *testing.T) {
	run := startWaiting(t, t.Context())
	var seen []uint64
	for item := range observe.Each(t.Context(), run, 1, operators["none"]) {
		require.NoError(t, item.E)
		if len(seen) == 0 {
			require.NoError(t, run.Send(t.Context(), "go", nil))
			result, err := run.Wait(t.Context())
			require.NoError(t, err)
			require.NoError(t, result.Err())
		}
		seen = append(seen, seqOf(item))
	}
	last, err := run.Last(t.Context())
	require.NoError(t, err)
	require.Len(t, seen, int(last), fmt.Sprint(seen))
	for i, seq := range seen {
		require.EqualValues(t, i+1, seq)
	}
}
