package call

import (
	"math"
	"time"
)

// After returns the instant that comes so long after another, both in Unix nanoseconds: the last that there is, in the year 2262,
// when the sum lies beyond it.
func After(at int64, d time.Duration) int64 {
	if at > 0 && int64(d) > math.MaxInt64-at {
		return math.MaxInt64
	}
	return at + int64(d)
}
