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
	Attempts int              // number of attempts so far, this one included
	At       int64            // instant of the failure; for a timeout, its scheduled instant
	First    int64            // instant of the first request
	Deadline int64            // of the run
	RetryAt  int64            // earliest instant that the callee requested
	Request  string           // names the attempt; seeds the jitter
}

// Again reports whether another attempt follows, and returns its instant. The delay before attempt n+1 is backoff ×
// multiplier^(n−1), at most the ceiling, and the attempt does not begin before the instant that the callee requested. No
// attempt begins at or after the run's deadline or the end of the total timeout.
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

// TotalEnd returns the end of a step's total timeout, if its first attempt was requested at first, or 0 without a total
// timeout.
func (p Policy) TotalEnd(first int64) int64 {
	if p.Timing == nil || p.Timing.TotalTimeout == 0 {
		return 0
	}
	return After(first, p.Timing.TotalTimeout)
}

// AttemptEnd returns the instant at which an attempt requested at an instant times out, or 0 without a timeout.
func (p Policy) AttemptEnd(requested int64) int64 {
	if p.Timing == nil || p.Timing.Timeout == 0 {
		return 0
	}
	return After(requested, p.Timing.Timeout)
}

// QueueEnd returns the instant until which a call that may start at ready waits for a worker, or 0 without a queue timeout.
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

// retried reports whether a policy retries a failure of this kind.
func retried(r *template.Retry, f *journal.Failure) bool {
	if slices.Contains(r.Never, f.Code) {
		return false
	}
	if len(r.On) > 0 {
		return slices.Contains(r.On, f.Code)
	}
	return f.Retryable
}

// delay returns the pause after the n-th attempt. The jitter subtracts up to its share, by a hash of the request, so it is the
// same in every replay and differs between requests.
func delay(r *template.Retry, n int, request string) time.Duration {
	if r.Backoff == 0 {
		return 0 // a power of the multiplier may be infinite, and then the product is no number
	}
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
