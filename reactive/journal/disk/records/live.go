package records

import (
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Live holds in memory the state of the streams appended to recently, and the readers that wait for each to grow. Only the
// committer adds streams and moves them. mu guards all fields.
//
// A stream is remembered for at least max appends to other streams: there are two generations of at most max streams, and the
// older is dropped when the younger is full. So memory is bounded, and no stream of the commit in progress is ever dropped, on
// which View relies.
type Live struct {
	mu      sync.Mutex
	max     int
	young   map[string]*Tip
	old     map[string]*Tip
	waiting map[string]*waiters
}

// LiveStreams is the number of streams in each generation, at about 300 bytes each. It exceeds the number of streams in one
// commit.
const LiveStreams = 32 << 10

// Tip is the end of a stream. Last is ahead of Durable while a commit is in progress.
type Tip struct {
	Last    uint64                // accepted by the committer
	Durable uint64                // synced, and so visible to readers
	First   uint64                // behind the trimmed events; 0: nothing was trimmed; only the committer uses it
	Head    []byte                // the encoded head at last; empty: none
	Sum     uint64                // of the head's keys in the indexes; 0: unknown
	Deleted *journal.DeletedError // set if the stream was deleted, so that its name is not free
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

// AnyStream is the name that means all streams: see Wait.
const AnyStream = ""

// NewLive returns an empty Live.
func NewLive(max int) *Live {
	return &Live{max: max, young: map[string]*Tip{}, old: map[string]*Tip{}, waiting: map[string]*waiters{}}
}

// Tip returns the end of a stream, or nil if it is not remembered. Only the committer calls it.
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

// Remember adds a stream. Only the committer calls it.
func (l *Live) Remember(stream string, t *Tip) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(strings.Clone(stream), t) // the name may be part of a larger string
}

// Renew resets the state of a stream without remaining records, and returns the new end. Only the committer calls it.
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

// View opens an iterator and returns the sequence up to which the visible events of the stream are durable: all, if the stream
// is not remembered, since no commit in progress affects it. Events that Pebble has applied are readable before they are
// synced, and a power failure could still remove them, so readers must not see them.
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

// Accept moves the end of a stream to its end in the commit in progress.
func (l *Live) Accept(m Move, head []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.Tip.Last = m.Last
	m.Tip.Head = append(m.Tip.Head[:0], head...)
}

// Synced makes a commit visible and wakes the waiting readers.
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
