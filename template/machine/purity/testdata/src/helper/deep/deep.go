// Package deep is impure two packages away from a step.
package deep

import (
	"crypto/rand"
	"os"
	"time"
)

// Host is read when the program starts.
var Host, _ = os.Hostname()

// Limit is assigned after the program has started.
var Limit = 10

// SetLimit assigns Limit.
func SetLimit(n int) { Limit = n }

// Hour reads the clock in a function literal.
func Hour() int { return func() int { return time.Now().Hour() }() }

// Token is random.
func Token() []byte {
	b := make([]byte, 8)
	rand.Read(b)
	return b
}

// Clock tells the time.
type Clock interface{ Time() time.Time }

// Wall is a clock on the wall.
type Wall struct{}

// Time reads the clock.
func (Wall) Time() time.Time { return time.Now() }

// Fixed is a clock that stands.
type Fixed struct{ At time.Time }

// Time returns what the clock was set to.
func (f Fixed) Time() time.Time { return f.At }

// Sum is pure.
func Sum(list ...int) (n int) {
	for _, i := range list {
		n += i
	}
	return n
}

// Fill changes a map that it is given.
func Fill(m map[string]int, key string) { m[key]++ }
