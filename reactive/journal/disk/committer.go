package disk

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Bounds of one commit: beyond either, the rest of the queue waits for the next.
const (
	commitMaxRequests = 4096
	commitMaxBytes    = 4 << 20
)

// committer turns everything that is queued into one Pebble batch and one sync, over and over. A sync costs nearly the
// same for one append as for a thousand, so the more callers wait, the less each of them pays.
//
//	Append ─┐                    ┌─▶ stage: who is right about the last sequence?
//	Append ─┼─▶ queue ─▶ gather ─┤
//	Append ─┘                    └─▶ apply ─▶ sync ─▶ mark ─▶ visible to readers ─▶ answer all
//
// One goroutine at a time commits, the only writer of the database: that of an append where nothing else is queued, so that one
// which comes alone waits for no other goroutine; or the committer's own, which is woken for what is queued behind that.
type committer struct {
	s     *Store
	woken chan struct{} // has a token when something is queued and no other goroutine commits it

	turn   sync.Mutex // held by the goroutine that commits; guards what follows
	ended  bool
	number uint64 // of the last commit
	group  []*request
	bytes  int    // in group
	moves  []move // of the streams of those in group that were accepted
	key    []byte
	value  []byte
}

func newCommitter(s *Store, number uint64) *committer {
	return &committer{s: s, number: number, woken: make(chan struct{}, 1)}
}

func (c *committer) run() {
	defer close(c.s.stopped)
	for {
		select {
		case <-c.woken:
			c.turn.Lock()
			c.drain()
			c.unlock()
		case <-c.s.closing:
			// Who got into the queue before the door closed is served.
			c.turn.Lock()
			defer c.turn.Unlock()
			c.drain()
			c.ended = true
			return
		}
	}
}

// drain commits until nothing is queued. The caller holds turn.
func (c *committer) drain() {
	for {
		select {
		case r := <-c.s.queue:
			c.commit(r)
		default:
			return
		}
	}
}

// lead commits what is queued, unless another goroutine does. An append does so once, and leaves what came in meanwhile to others.
func (c *committer) lead() {
	if !c.turn.TryLock() {
		return // whoever has it looks at the queue again when it has let go
	}
	defer c.unlock()
	if c.ended {
		return
	}
	select {
	case r := <-c.s.queue:
		c.commit(r)
	default:
	}
}

// unlock lets go of turn, and has what was queued in the meantime committed.
func (c *committer) unlock() {
	c.turn.Unlock()
	if len(c.s.queue) > 0 {
		select {
		case c.woken <- struct{}{}:
		default:
		}
	}
}

// commit serves r and all that is queued behind it.
func (c *committer) commit(r *request) {
	err := errPanic
	defer func() { // in any case: callers that are not answered wait for ever
		if err == errPanic {
			err = c.s.fail(c.s.dir, err)
		}
		c.answer(err)
	}()
	if c.gather(r); len(c.group) > 0 {
		err = c.write()
	} else {
		err = nil
	}
}

// answer answers the group: with err, or each with what has become of it.
func (c *committer) answer(err error) {
	for i, r := range c.group {
		c.group[i] = nil
		r.done <- cmp.Or(err, r.err)
	}
	c.group, c.bytes = c.group[:0], 0
}

// errPanic is why nothing is written any more after a commit has panicked: what of it is stored is not known.
var errPanic = errors.New("a commit has panicked")

// gather takes r and what is queued. Before it looks, it lets those run whom the last commit has just woken: their next
// appends then share this sync, instead of waiting for it and taking another.
func (c *committer) gather(r *request) {
	c.take(r)
	runtime.Gosched()
	for len(c.group) < commitMaxRequests && c.bytes < commitMaxBytes {
		select {
		case r := <-c.s.queue:
			c.take(r)
		default:
			return
		}
	}
}

// take makes r part of the group, unless its caller has left.
func (c *committer) take(r *request) {
	if !r.state.CompareAndSwap(queued, taken) {
		r.release()
		return
	}
	c.group = append(c.group, r)
	c.bytes += r.size()
}

// write makes the group durable. Each request's err tells whether it was accepted; the error is about all of them.
func (c *committer) write() error {
	s := c.s
	s.space.check(s, c.bytes)
	if reason := s.readOnly.Load(); reason != nil {
		return *reason
	}
	b := s.db.NewBatch()
	defer b.Close()
	clear(c.moves)
	c.moves = c.moves[:0]
	for _, r := range c.group {
		r.err = c.stage(b, r)
	}
	if len(c.moves) == 0 {
		return nil // all of them were late
	}
	c.value = appendCommit(c.value[:0], c.number+1)
	if err := b.Set(commitKey, c.value, nil); err != nil {
		return s.fail(s.dir, err)
	}
	if err := c.sync(b); err != nil {
		return s.fail(s.dir, err)
	}
	if err := s.stood(); err != nil {
		return err
	}
	c.number++
	// The mark follows the sync and precedes the answers: it never names a commit that a crash can take back, and always
	// all that were acknowledged.
	if err := s.mark.write(c.number); err != nil {
		_ = s.fail(s.files.PathJoin(s.dir, markName), err)
	}
	s.live.synced(c.moves)
	return nil
}

// sync applies b and waits until it is on the disk. Heads are read between two syncs (see Heads), hence the lock.
// A sync that has failed is no error here: see stood.
func (c *committer) sync(b *pebble.Batch) error {
	c.s.syncing.Lock()
	defer c.s.syncing.Unlock()
	if err := c.s.db.ApplyNoSyncWait(b, pebble.Sync); err != nil {
		return err
	}
	return b.SyncWait()
}

// stage adds r to the batch if the stream is where r believes it to be.
func (c *committer) stage(b *pebble.Batch, r *request) error {
	t, err := c.tipOf(r.stream, r.headKey)
	if err != nil {
		return err
	}
	if t.last != r.after {
		return fmt.Errorf("it is at %d: %w", t.last, journal.ErrConflict)
	}
	for i := range r.blobs {
		if err := c.stageBlob(b, &r.blobs[i]); err != nil {
			return err
		}
	}
	if len(r.record) > 0 {
		if err := b.Set(r.key, r.record, nil); err != nil {
			return err
		}
	}
	head := r.head
	if len(head) == 0 {
		head = t.head
	}
	if !journal.IsContent(r.stream) {
		c.value = headRecord{last: r.last, head: head}.append(c.value[:0], r.headKey)
		if err := b.Set(r.headKey, c.value, nil); err != nil {
			return err
		}
	}
	c.accept(move{r.stream, t, r.last}, head)
	return nil
}

// stageBlob adds a blob to the batch if it is not stored yet.
func (c *committer) stageBlob(b *pebble.Batch, v *blob) error {
	t, err := c.tipOf(v.stream, nil)
	if err != nil || t.last > 0 {
		return err
	}
	if err := b.Set(v.key, v.record, nil); err != nil {
		return err
	}
	c.accept(move{v.stream, t, 1}, nil)
	return nil
}

func (c *committer) accept(m move, head []byte) {
	c.s.live.accept(m, head)
	c.moves = append(c.moves, m)
}

// tipOf returns the end of a stream, from memory if possible.
func (c *committer) tipOf(stream string, headKey []byte) (*tip, error) {
	if t := c.s.live.tip(stream); t != nil {
		return t, nil
	}
	t := new(tip)
	var err error
	if journal.IsContent(stream) {
		c.key = appendEventsKey(c.key[:0], stream, 1)
		_, err = c.load(c.key, func([]byte) error { t.last = 1; return nil })
	} else {
		err = c.loadTip(t, stream, headKey)
	}
	if err != nil {
		return nil, err
	}
	t.durable = t.last
	c.s.live.remember(stream, t)
	return t, nil
}

// loadTip reads the end of a stream from its head. One that has events and no head has lost it: to begin anew would
// overwrite them.
func (c *committer) loadTip(t *tip, stream string, headKey []byte) error {
	found, err := c.load(headKey, func(record []byte) error {
		h, err := openHead(record, headKey)
		t.last, t.head = h.last, append([]byte(nil), h.head...)
		return err
	})
	if err != nil || found {
		return err
	}
	c.key = appendEventsKey(c.key[:0], stream, 1)
	if found, err = c.load(c.key, func([]byte) error { return nil }); found {
		return errHeadless
	}
	return err
}

// load calls use with the record under key, if there is one.
func (c *committer) load(key []byte, use func(record []byte) error) (found bool, err error) {
	record, closer, err := c.s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, c.s.blame(readError(err))
	}
	defer closer.Close()
	return true, use(record)
}
