package workers

import (
	"time"

	"github.com/sluiceflow/sluice/coordinator/keychain"
)

// withdrawnTime bounds the time in which a worker can deliver the output of a call whose attempt has ended, to be kept as late;
// withdrawnMax bounds such calls.
const (
	withdrawnTime = 10 * time.Minute
	withdrawnMax  = 10_000
)

// withdrawn has the calls whose attempts ended while a worker had them, with the time of that and the secrets of their runs. Only the
// first output of each is journaled, as late: a worker may deliver the same repeatedly.
type withdrawn map[ID]withdrawal

type withdrawal struct {
	at   time.Time
	ring *keychain.Ring
}

func (w withdrawn) add(id ID, ring *keychain.Ring) {
	if len(w) < withdrawnMax {
		w[id] = withdrawal{time.Now(), ring}
	}
}

// take reports whether an output of a call is to be kept, and forgets the call.
func (w withdrawn) take(id ID) bool {
	_, ok := w[id]
	delete(w, id)
	return ok
}

func (w withdrawn) expire(now time.Time) {
	for id, one := range w {
		if now.Sub(one.at) > withdrawnTime {
			delete(w, id)
		}
	}
}
