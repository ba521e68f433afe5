package workers

import "time"

// withdrawnTime is how long a worker may take to give the output of a call whose attempt has ended, so that it is kept as late, and
// withdrawnMax bounds such calls.
const (
	withdrawnTime = 10 * time.Minute
	withdrawnMax  = 10_000
)

// withdrawn has the calls whose attempts have ended while a worker had them, and when. The first output that comes for one is journaled, as
// late, and no other: a worker may give the same again and again.
type withdrawn map[ID]time.Time

func (w withdrawn) add(id ID, now time.Time) {
	if len(w) < withdrawnMax {
		w[id] = now
	}
}

// take reports whether an output of a call is to be kept, and forgets the call.
func (w withdrawn) take(id ID) bool {
	_, ok := w[id]
	delete(w, id)
	return ok
}

func (w withdrawn) expire(now time.Time) {
	for id, at := range w {
		if now.Sub(at) > withdrawnTime {
			delete(w, id)
		}
	}
}
