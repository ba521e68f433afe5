package call_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

var (
	passing = &journal.Failure{Code: "busy", Retryable: true}
	lasting = &journal.Failure{Code: "refused"}
)

func timed(t template.Timing) call.Policy { return call.Policy{Timing: &t} }

func TestWhetherAnotherAttemptFollows(t *testing.T) {
	three := func(r template.Retry) template.Timing {
		r.MaxAttempts = 3
		return template.Timing{Retry: &r}
	}
	within := func(total time.Duration) template.Timing {
		x := three(template.Retry{Backoff: 10})
		x.TotalTimeout = total
		return x
	}
	tests := []struct {
		name   string
		timing template.Timing
		ended  call.Ended
		due    int64
		again  bool
	}{
		{"not without a retry", template.Timing{}, call.Ended{Failure: passing, Attempts: 1}, 0, false},
		{"a passing failure is retried at once without a backoff", three(template.Retry{}), call.Ended{Failure: passing, Attempts: 1, At: 7}, 7, true},
		{"the attempts include the first", three(template.Retry{}), call.Ended{Failure: passing, Attempts: 3}, 0, false},
		{"a lasting failure is final", three(template.Retry{}), call.Ended{Failure: lasting, Attempts: 1}, 0, false},
		{"a code in on is retried although it is lasting", three(template.Retry{On: []string{"refused"}}), call.Ended{Failure: lasting, Attempts: 1}, 0, true},
		{"a code not in on is final although it is passing", three(template.Retry{On: []string{"refused"}}), call.Ended{Failure: passing, Attempts: 1}, 0, false},
		{"a code in never is final although it is passing", three(template.Retry{Never: []string{"busy"}}), call.Ended{Failure: passing, Attempts: 1}, 0, false},
		{"never leaves other codes alone", three(template.Retry{Never: []string{"refused"}}), call.Ended{Failure: passing, Attempts: 1}, 0, true},
		{"the callee may ask for a later instant", three(template.Retry{Backoff: 10}), call.Ended{Failure: passing, Attempts: 1, At: 5, RetryAt: 40}, 40, true},
		{"but for no earlier one", three(template.Retry{Backoff: 10}), call.Ended{Failure: passing, Attempts: 1, At: 5, RetryAt: 9}, 15, true},
		{"just before the deadline", three(template.Retry{Backoff: 10}), call.Ended{Failure: passing, Attempts: 1, At: 5, Deadline: 16}, 15, true},
		{"not at the deadline", three(template.Retry{Backoff: 10}), call.Ended{Failure: passing, Attempts: 1, At: 5, Deadline: 15}, 0, false},
		{"not when the callee asks for an instant after the deadline", three(template.Retry{}), call.Ended{Failure: passing, Attempts: 1, RetryAt: 20, Deadline: 15}, 0, false},
		{"just before the end of the total timeout", within(50), call.Ended{Failure: passing, Attempts: 1, First: 100, At: 139}, 149, true},
		{"not at the end of the total timeout", within(50), call.Ended{Failure: passing, Attempts: 1, First: 100, At: 140}, 0, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			due, again := timed(test.timing).Again(test.ended)
			require.Equal(t, test.again, again)
			require.Equal(t, test.due, due)
		})
	}
}

func TestTheDelayGrowsUpToItsCeiling(t *testing.T) {
	tests := []struct {
		name  string
		retry template.Retry
		want  []time.Duration // after the first attempt, the second, ...
	}{
		{"constant without a multiplier", template.Retry{Backoff: time.Second}, []time.Duration{time.Second, time.Second, time.Second}},
		{"geometric", template.Retry{Backoff: time.Second, Multiplier: 2}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second}},
		{"a fraction", template.Retry{Backoff: time.Second, Multiplier: 1.5}, []time.Duration{time.Second, 1500 * time.Millisecond, 2250 * time.Millisecond}},
		{"never shrinking", template.Retry{Backoff: time.Second, Multiplier: 0.5}, []time.Duration{time.Second, time.Second}},
		{"at most the ceiling", template.Retry{Backoff: time.Second, Multiplier: 10, MaxBackoff: 30 * time.Second}, []time.Duration{time.Second, 10 * time.Second, 30 * time.Second, 30 * time.Second}},
		{"a ceiling below the backoff", template.Retry{Backoff: time.Minute, MaxBackoff: time.Second}, []time.Duration{time.Second}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.retry.MaxAttempts = 100
			p := timed(template.Timing{Retry: &test.retry})
			for i, want := range test.want {
				due, ok := p.Again(call.Ended{Failure: passing, Attempts: i + 1, At: 1000})
				require.True(t, ok)
				require.Equal(t, want, time.Duration(due-1000), "after attempt %d", i+1)
			}
		})
	}
}

func TestADelayBeyondAllMeasureIsStillAnInstant(t *testing.T) {
	p := timed(template.Timing{Retry: &template.Retry{MaxAttempts: math.MaxInt, Backoff: time.Hour, Multiplier: 1e9}})
	due, ok := p.Again(call.Ended{Failure: passing, Attempts: 5000, At: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()})
	require.True(t, ok)
	require.Positive(t, due, "it has not wrapped around")
	p = timed(template.Timing{Retry: &template.Retry{MaxAttempts: math.MaxInt, Multiplier: 2, MaxBackoff: time.Hour, Jitter: 0.5}})
	due, ok = p.Again(call.Ended{Failure: passing, Attempts: 5000, At: 7})
	require.True(t, ok)
	require.Equal(t, int64(7), due, "what has no backoff is retried at once, however often")
}

func TestInstantsDoNotWrapAround(t *testing.T) {
	at := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
	const long = 100_000 * 24 * time.Hour
	require.Equal(t, int64(math.MaxInt64), call.After(at, long))
	require.Equal(t, at+int64(time.Hour), call.After(at, time.Hour))
	require.Equal(t, int64(long)-1, call.After(-1, long))
	p := timed(template.Timing{Timeout: long, TotalTimeout: long, Retry: &template.Retry{MaxAttempts: 2, Backoff: time.Second}})
	require.Equal(t, int64(math.MaxInt64), p.AttemptEnd(at))
	require.Equal(t, int64(math.MaxInt64), p.TotalEnd(at))
	due, ok := p.Again(call.Ended{Failure: passing, Attempts: 1, First: at, At: at})
	require.True(t, ok, "the end of the total timeout is far away")
	require.Equal(t, at+int64(time.Second), due)
	p = timed(template.Timing{Retry: &template.Retry{MaxAttempts: 2, Backoff: long}})
	due, ok = p.Again(call.Ended{Failure: passing, Attempts: 1, At: at})
	require.True(t, ok)
	require.Equal(t, int64(math.MaxInt64), due)
}

// TestJitter: a request always has the same delay, within its share below the backoff, and other requests have other delays.
func TestJitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		share := rapid.Float64Range(0.01, 1).Draw(t, "share")
		backoff := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "backoff"))
		p := timed(template.Timing{Retry: &template.Retry{MaxAttempts: 9, Backoff: backoff, Jitter: share}})
		request := rapid.StringN(1, 30, -1).Draw(t, "request")
		e := call.Ended{Failure: passing, Attempts: 1, Request: request}
		due, ok := p.Again(e)
		require.True(t, ok)
		require.LessOrEqual(t, due, int64(backoff))
		require.GreaterOrEqual(t, float64(due)+1, float64(backoff)*(1-share))
		again, _ := p.Again(e)
		require.Equal(t, due, again)
	})
	p := timed(template.Timing{Retry: &template.Retry{MaxAttempts: 9, Backoff: time.Hour, Jitter: 1}})
	seen := map[int64]bool{}
	var sum float64
	for i := range 1000 {
		due, _ := p.Again(call.Ended{Failure: passing, Attempts: 1, Request: "run/step#" + string(rune('0'+i%10)) + time.Duration(i).String()})
		seen[due] = true
		sum += float64(due)
	}
	require.Greater(t, len(seen), 990, "other requests have other delays")
	require.InDelta(t, 0.5, sum/1000/float64(time.Hour), 0.05, "and are spread over all of the share")
}

func TestLimitsCountFromTheirRequests(t *testing.T) {
	var none call.Policy
	require.Zero(t, none.AttemptEnd(5))
	require.Zero(t, none.TotalEnd(5))
	require.Equal(t, template.FailOnTimeout, none.OnTimeout())
	_, again := none.Again(call.Ended{Failure: passing, Attempts: 1})
	require.False(t, again, "the zero policy makes one attempt")

	require.Zero(t, timed(template.Timing{}).AttemptEnd(5))
	require.Equal(t, template.FailOnTimeout, timed(template.Timing{}).OnTimeout())
	p := timed(template.Timing{Timeout: 10, TotalTimeout: 100, OnTimeout: template.SkipOnTimeout})
	require.EqualValues(t, 15, p.AttemptEnd(5))
	require.EqualValues(t, 105, p.TotalEnd(5))
	require.Equal(t, template.SkipOnTimeout, p.OnTimeout())
}
