package records

import (
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Live holds in memory the state of the streams appended to recently, and the readers that wait for each to grow. Only the
// committer adds streams and moves them; mu guards everything.
//
// A stream is remembered for at least max appends to other streams: two generations of at most that many, of which the
// older is dropped when the younger is full. So memory is bounded and no stream of the commit in flight is ever forgotten,
// which View relies on.
type Live struct {
	mu      sync.Mutex
	max     int
	young   map[string]*Tip
	old     map[string]*Tip
	waiting map[string]*waiters
}

// LiveStreams is how many streams each generation holds, at about 300 bytes each. It exceeds the number of streams in
// one commit.
const LiveStreams = 32 << 10

// Tip is the end of a stream. Last runs ahead of Durable while a commit is in flight.
type Tip struct {
	Last    uint64                // accepted by the committer
	Durable uint64                // synced, and so visible to readers
	First   uint64                // behind the trimmed events; 0: none were; only the committer uses it
	Head    []byte                // the encoded head at last; empty: none
	Sum     uint64                // of the head's keys in the indexes; 0: unknown
	Deleted *journal.DeletedError // its name is not free; nil: it was not deleted
}

// Move is the change of one stream by a commit.
type Move struct {
	Stream string // its name
	Tip    *Tip   // its end
	Last   uint64 // the sequence to which it moves
}

// waiters share one channel, which the next commit to their stream closes.
type waiters struct {
	grown chan struct{}
	count int
}

// AnyStream, as a name, stands for all streams: see Wait.
const AnyStream = ""

// NewLive returns an empty Live.
func NewLive(max int) *Live {
	return &Live{max: max, young: map[string]*Tip{}, old: map[string]*Tip{}, waiting: map[string]*waiters{}}
}

// Tip returns the end of a stream, or nil if it is not remembered. Called by the committer.
func (l *Live) Tip(stream string) *Tip {
	l.mu.Lock()
	defer l.mu.Unlock()
	if t := l.young[stream]; t != nil {
		return t
	}
	t := l.old[stream]
	if t != nil {
		l.keep(stream, t)
	}
	return t
}

// Remember adds a stream. Called by the committer.
func (l *Live) Remember(stream string, t *Tip) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(strings.Clone(stream), t) // the name may be part of a larger string
}

// Renew forgets the state of a stream of which nothing is left, and returns the new end. Called by the committer.
func (l *Live) Renew(stream string) *Tip {
	t := new(Tip)
	l.Remember(stream, t)
	return t
}

func (l *Live) keep(stream string, t *Tip) {
	if len(l.young) >= l.max {
		l.young, l.old = map[string]*Tip{}, l.young
	}
	l.young[stream] = t
}

// View opens an iterator and returns the sequence up to which the events that it sees of the stream are durable: all, if the
// stream is not remembered, since no commit in flight affects it. Events that Pebble has applied are readable before they
// are synced; a reader that saw them could act on events that a power failure then removes.
func (l *Live) View(db *pebble.DB, stream string) (it *pebble.Iterator, durable uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it, err = db.NewIter(nil); err != nil {
		return nil, 0, err
	}
	for _, generation := range []map[string]*Tip{l.young, l.old} {
		if t := generation[stream]; t != nil {
			return it, t.Durable, nil
		}
	}
	return it, 1<<64 - 1, nil
}

// Accept moves the end of a stream to that of the commit in progress.
func (l *Live) Accept(m Move, head []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.Tip.Last = m.Last
	m.Tip.Head = append(m.Tip.Head[:0], head...)
}

// Synced makes a commit visible, and wakes the readers that wait for it.
func (l *Live) Synced(moves []Move) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range moves {
		m.Tip.Durable = max(m.Tip.Durable, m.Last)
		if len(l.waiting) == 0 {
			continue
		}
		l.wake(m.Stream)
	}
	l.wake(AnyStream)
}

func (l *Live) wake(stream string) {
	if w := l.waiting[stream]; w != nil {
		close(w.grown)
		delete(l.waiting, stream)
	}
}

// Wait returns a channel that is closed when the stream, or any of AnyStream, grows, and a function that must be called when the caller stops
// waiting.
func (l *Live) Wait(stream string) (grown <-chan struct{}, leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.waiting[stream]
	if w == nil {
		w = &waiters{grown: make(chan struct{})}
		l.waiting[stream] = w
	}
	w.count++
	return w.grown, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if w.count--; w.count == 0 && l.waiting[stream] == w {
			delete(l.waiting, stream)
		}
	}
}

// Waiting returns the number of streams that readers wait for.
func (l *Live) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.waiting)
}
