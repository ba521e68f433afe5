package call

import (
	"hash/fnv"
	"math"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
)

// Policy is a step's timing. The zero Policy makes one attempt and sets no limit.
type Policy struct{ Timing *template.Timing }

// Ended describes a failed attempt for Policy.Again. Instants are Unix nanoseconds; 0 means none.
type Ended struct {
	Failure  *journal.Failure // not nil
	Attempts int              // made so far, this one included
	At       int64            // when it failed: the instant that was meant, for a timeout
	First    int64            // when the first attempt was requested
	Deadline int64            // of the run
	RetryAt  int64            // earliest instant the callee asked for
	Request  string           // names the attempt; seeds the jitter
}

// Again reports whether another attempt follows, and when. The delay before attempt n+1 is backoff × multiplier^(n−1), at
// most the ceiling, and the attempt does not begin before the instant that the callee requested. No attempt begins at or
// after the run's deadline or the end of the total timeout.
func (p Policy) Again(e Ended) (due int64, ok bool) {
	r := p.retry()
	if r == nil || e.Attempts >= r.MaxAttempts || !retried(r, e.Failure) {
		return 0, false
	}
	due = max(After(e.At, delay(r, e.Attempts, e.Request)), e.RetryAt)
	if e.Deadline > 0 && due >= e.Deadline {
		return 0, false
	}
	if end := p.TotalEnd(e.First); end > 0 && due >= end {
		return 0, false
	}
	return due, true
}

func (p Policy) retry() *template.Retry {
	if p.Timing == nil {
		return nil
	}
	return p.Timing.Retry
}

// TotalEnd returns when a step's total timeout ends, if its first attempt was requested at first; 0: never.
func (p Policy) TotalEnd(first int64) int64 {
	if p.Timing == nil || p.Timing.TotalTimeout == 0 {
		return 0
	}
	return After(first, p.Timing.TotalTimeout)
}

// AttemptEnd returns when an attempt that was requested at an instant times out; 0: never.
func (p Policy) AttemptEnd(requested int64) int64 {
	if p.Timing == nil || p.Timing.Timeout == 0 {
		return 0
	}
	return After(requested, p.Timing.Timeout)
}

// QueueEnd returns until when a call that may start at an instant waits for a worker to take it; 0: for ever.
func (p Policy) QueueEnd(ready int64) int64 {
	if p.Timing == nil || p.Timing.QueueTimeout == 0 {
		return 0
	}
	return After(ready, p.Timing.QueueTimeout)
}

// OnTimeout returns the effect of a timeout after the last attempt.
func (p Policy) OnTimeout() template.OnTimeout {
	if p.Timing == nil || p.Timing.OnTimeout == "" {
		return template.FailOnTimeout
	}
	return p.Timing.OnTimeout
}

// retried reports whether a failure of this kind is retried at all.
func retried(r *template.Retry, f *journal.Failure) bool {
	if slices.Contains(r.Never, f.Code) {
		return false
	}
	if len(r.On) > 0 {
		return slices.Contains(r.On, f.Code)
	}
	return f.Retryable
}

// delay returns the pause after the n-th attempt. The jitter subtracts up to its share, by a hash of the request: the same
// in every replay, different for other requests.
func delay(r *template.Retry, n int, request string) time.Duration {
	d := float64(r.Backoff) * math.Pow(max(1, r.Multiplier), float64(n-1))
	if ceiling := float64(r.MaxBackoff); ceiling > 0 {
		d = min(d, ceiling)
	}
	if r.Jitter > 0 {
		h := fnv.New64a()
		h.Write([]byte(request))
		d *= 1 - r.Jitter*float64(h.Sum64()>>11)/(1<<53)
	}
	if d >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(d)
}
