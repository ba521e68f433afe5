package call

import (
	"math"
	"time"
)

// After returns the instant d after at, in Unix nanoseconds, but at most the last representable instant, in the year 2262.
func After(at int64, d time.Duration) int64 {
	if at > 0 && int64(d) > math.MaxInt64-at {
		return math.MaxInt64
	}
	return at + int64(d)
}
