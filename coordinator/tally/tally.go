// Package tally counts the events that an engine journals, for its operators. Counting takes no lock.
package tally

import (
	"iter"
	"sync/atomic"
	"time"
)

// bounds are the upper bounds of the histogram's times.
var bounds = [...]time.Duration{
	250 * time.Microsecond, 500 * time.Microsecond, time.Millisecond, 2500 * time.Microsecond, 5 * time.Millisecond, 10 * time.Millisecond, 25 * time.Millisecond,
	50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, time.Second, 5 * time.Second,
}

// Tally has the counts of an engine since it began. It is safe for concurrent use. The zero Tally is empty.
type Tally struct {
	events  [1 << 8]atomic.Uint64          // by type
	appends [len(bounds) + 1]atomic.Uint64 // by time; the last has those that took longer
	took    atomic.Int64                   // time of all appends, in nanoseconds
}

// Event counts an event of a type that is durable.
func (t *Tally) Event(kind uint8) { t.events[kind].Add(1) }

// Appended counts an append, and adds the time that it took to make its events durable.
func (t *Tally) Appended(took time.Duration) {
	n := 0
	for n < len(bounds) && took > bounds[n] {
		n++
	}
	t.appends[n].Add(1)
	t.took.Add(int64(took))
}

// Events yields the number of events of each type that occurred.
func (t *Tally) Events() iter.Seq2[uint8, uint64] {
	return func(yield func(uint8, uint64) bool) {
		for i := range t.events {
			if n := t.events[i].Load(); n > 0 && !yield(uint8(i), n) {
				return
			}
		}
	}
}

// Appends returns the number of appends, the seconds that they took together, and, by a number of seconds, the appends that took at most
// that.
func (t *Tally) Appends() (count uint64, seconds float64, atMost map[float64]uint64) {
	atMost = map[float64]uint64{}
	for i := range t.appends {
		count += t.appends[i].Load()
		if i < len(bounds) {
			atMost[bounds[i].Seconds()] = count
		}
	}
	return count, time.Duration(t.took.Load()).Seconds(), atMost
}
