package feed

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Bounds of the list of the newest changes of a run, and of the changes joined in one frame.
const (
	ringEvents    = 512
	ringBytes     = 1 << 20
	frameBytes    = 64 << 10 // maximum of a frame with more than one event
	snapshotsKept = 8        // snapshots of one event that are kept: observers may open different maps
	updatesKept   = 16       // updates to one event that are kept: observers may also have reached different events
)

// topic is a run that is observed.
type topic struct {
	hub    *Hub
	run    *coordinator.Run
	ctx    context.Context
	cancel context.CancelFunc

	observers int // guarded by the hub

	ready uint64 // sequence of the newest event when it was made: before it, nothing is shown

	mu       sync.Mutex
	snapshot state  // the run as of the newest event
	first    uint64 // ring has all changes after this event
	ring     []fragment
	bytes    int
	encoded  map[string]Frame // the snapshot as of the newest event, by wants
	updates  map[update]Frame // updates as of the newest event
	moved    uint64           // sequence of the event by which the run was moved to another workflow last; 0: none
	err      error            // the reason that there are no more changes; io.EOF: the run has ended
	grown    chan struct{}    // closed by the next change; nil: no observer waits
}

// update identifies a frame that many observers receive.
type update struct {
	wants string
	after uint64 // sequence of the event before it
}

func newTopic(h *Hub, run *coordinator.Run, last uint64) *topic {
	t := &topic{
		hub: h, run: run, ready: last, first: last, encoded: map[string]Frame{}, updates: map[update]Frame{}, snapshot: newState(run.ID()),
	}
	t.ctx, t.cancel = context.WithCancel(h.ctx)
	return t
}

// watch follows the run until it ends or has no observer.
func (t *topic) watch() {
	err := io.EOF
	for u, failed := range t.run.Watch(t.ctx, 1) {
		if failed != nil {
			err = failed
			break
		}
		if failed = t.take(&u); failed != nil {
			err = failed
			break
		}
	}
	if t.hub.ctx.Err() != nil && !errors.Is(err, io.EOF) {
		err = coordinator.ErrShutdown
	}
	t.hub.retire(t)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err = err
	t.wake()
}

// take adds an update. An event from before the first observer is only part of the snapshot.
func (t *topic) take(u *coordinator.Update) error {
	var f fragment
	shared := u.Event.Seq > t.first
	if shared {
		var err error
		if f, err = fragmentOf(t.run.ID(), u); err != nil {
			return err
		}
		f.taken = time.Now()
		t.hub.encoded.Add(1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.snapshot.apply(u); u.Event.Type == journal.RunMoved {
		t.moved = u.Event.Seq
	}
	clear(t.encoded)
	clear(t.updates)
	if shared {
		t.push(f)
	}
	if u.Event.Seq >= t.ready {
		t.wake()
	}
	return nil
}

// frame returns the snapshot for an observer, which is encoded once for all observers with the same wants. The caller holds mu.
func (t *topic) frame(w *wants) (Frame, error) {
	f, known := t.encoded[w.name]
	if known {
		return f, nil
	}
	data, err := encode(t.snapshot.shown(w))
	if err == nil {
		if len(t.encoded) == snapshotsKept {
			clear(t.encoded)
		}
		f = Frame{Kind: KindSnapshot, ID: strconv.FormatUint(t.snapshot.Seq, 10), Data: data}
		t.encoded[w.name] = f
	}
	return f, err
}

// since returns the update behind an event, which is joined once for all observers with the same wants. The caller holds
// mu, and the ring reaches back to the event.
func (t *topic) since(seq uint64, w *wants) Frame {
	key := update{w.name, seq}
	f, known := t.updates[key]
	if !known {
		if len(t.updates) == updatesKept {
			clear(t.updates)
		}
		t.hub.joined.Add(1)
		f = joined(w, seq, t.after(seq, w))
		t.updates[key] = f
	}
	return f
}

// push adds a fragment to the ring, and drops the oldest beyond its bounds.
func (t *topic) push(f fragment) {
	t.ring = append(t.ring, f)
	t.bytes += f.size()
	drop := 0
	for len(t.ring)-drop > ringEvents || t.bytes > ringBytes && len(t.ring)-drop > 1 {
		t.bytes -= t.ring[drop].size()
		t.first = t.ring[drop].seq
		t.ring[drop] = fragment{} // its bytes are free at once
		drop++
	}
	t.ring = t.ring[drop:]
}

func (t *topic) wake() {
	if t.grown != nil {
		close(t.grown)
		t.grown = nil
	}
}

// waiting returns a channel that the next change closes. The caller holds mu.
func (t *topic) waiting() <-chan struct{} {
	if t.grown == nil {
		t.grown = make(chan struct{})
	}
	return t.grown
}

// after returns the changes behind an event for one frame. The caller holds mu, and the ring reaches back to the event.
func (t *topic) after(seq uint64, w *wants) []fragment {
	from, to := len(t.ring), len(t.ring)
	for from > 0 && t.ring[from-1].seq > seq {
		from--
	}
	return t.ring[from : from+oneFrame(t.ring[from:to], w)]
}

// oneFrame returns the number of fragments that one frame joins.
func oneFrame(list []fragment, w *wants) (n int) {
	size := 0
	for n < len(list) {
		if size += w.size(&list[n]); n > 0 && size > frameBytes {
			break
		}
		n++
	}
	return n
}
