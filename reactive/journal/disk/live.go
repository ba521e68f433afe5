package disk

import (
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"
)

// live holds in memory the state of the streams appended to recently, and the readers that wait for each to grow. Only the
// committer adds streams and moves them; mu guards everything.
//
// A stream is remembered for at least max appends to other streams: two generations of at most that many, of which the
// older is dropped when the younger is full. So memory is bounded and no stream of the commit in flight is ever forgotten,
// which view relies on.
type live struct {
	mu      sync.Mutex
	max     int
	young   map[string]*tip
	old     map[string]*tip
	waiting map[string]*waiters
}

// rememberStreams is how many streams each generation holds, at about 300 bytes each. It exceeds the number of streams in
// one commit.
const rememberStreams = 32 << 10

// tip is the end of a stream. last runs ahead of durable while a commit is in flight.
type tip struct {
	last    uint64 // accepted by the committer
	durable uint64 // synced, and so visible to readers
	first   uint64 // behind the trimmed events; 0: none were; only the committer uses it
	head    []byte // the encoded head at last; empty: none
	sum     uint64 // of the head's keys in the indexes; 0: unknown
	deleted bool
}

// move is the change of one stream by a commit.
type move struct {
	stream string
	tip    *tip
	last   uint64
}

// waiters share one channel, which the next commit to their stream closes.
type waiters struct {
	grown chan struct{}
	count int
}

func newLive(max int) *live {
	return &live{max: max, young: map[string]*tip{}, old: map[string]*tip{}, waiting: map[string]*waiters{}}
}

// tip returns the end of a stream, or nil if it is not remembered. Called by the committer.
func (l *live) tip(stream string) *tip {
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

// remember adds a stream. Called by the committer.
func (l *live) remember(stream string, t *tip) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(strings.Clone(stream), t) // the name may be part of a larger string
}

func (l *live) keep(stream string, t *tip) {
	if len(l.young) >= l.max {
		l.young, l.old = map[string]*tip{}, l.young
	}
	l.young[stream] = t
}

// view opens an iterator and returns the sequence up to which the events that it sees of the stream are durable: all, if the
// stream is not remembered, since no commit in flight affects it. Events that Pebble has applied are readable before they
// are synced; a reader that saw them could act on events that a power failure then removes.
func (l *live) view(db *pebble.DB, stream string) (it *pebble.Iterator, durable uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if it, err = db.NewIter(nil); err != nil {
		return nil, 0, err
	}
	for _, generation := range []map[string]*tip{l.young, l.old} {
		if t := generation[stream]; t != nil {
			return it, t.durable, nil
		}
	}
	return it, 1<<64 - 1, nil
}

// accept moves the end of a stream to that of the commit in progress.
func (l *live) accept(m move, head []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m.tip.last = m.last
	m.tip.head = append(m.tip.head[:0], head...)
}

// synced makes a commit visible, and wakes the readers that wait for it.
func (l *live) synced(moves []move) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range moves {
		m.tip.durable = max(m.tip.durable, m.last)
		if len(l.waiting) == 0 {
			continue
		}
		if w := l.waiting[m.stream]; w != nil {
			close(w.grown)
			delete(l.waiting, m.stream)
		}
	}
}

// wait returns a channel that is closed when the stream grows, and a function that must be called when the caller stops
// waiting.
func (l *live) wait(stream string) (grown <-chan struct{}, leave func()) {
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
