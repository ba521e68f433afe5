package disk

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// Bounds of one commit: beyond either, the rest of the queue waits for the next.
const (
	commitMaxRequests = 4096
	commitMaxBytes    = 4 << 20
)

// committer repeatedly writes the whole queue as one Pebble batch with one sync. A sync costs nearly the same for one append as
// for a thousand, so the cost of each append falls with the number of waiting callers.
//
//	Append ─┐                    ┌─▶ stage: is the last sequence as expected?
//	Append ─┼─▶ queue ─▶ gather ─┤
//	Append ─┘                    └─▶ apply ─▶ sync ─▶ mark ─▶ visible to readers ─▶ answer all
//
// One goroutine at a time commits and writes to the database. If nothing else is queued, the goroutine of the append commits,
// so that a single append waits for no other goroutine; otherwise the committer's own goroutine commits, which is woken for the
// requests queued later.
type committer struct {
	s     *Store
	woken chan struct{} // has a token if there are requests that no other goroutine commits

	turn          sync.Mutex // held by the goroutine that commits; guards the fields below
	ended         bool
	number        uint64 // of the last commit
	log           *records.ChangeLog
	before, after records.IndexKeys // of the old and the new head of a stream
	group         []*request
	bytes         int            // in group
	several       bool           // the last group had more than one request
	moves         []records.Move // of the streams of the accepted requests in group
	puts          bool           // the batch has content

	referred   map[string]bool // content that was appended or referred to since a sweep began; nil: no sweep
	key, value []byte
}

func newCommitter(s *Store, number uint64, log *records.ChangeLog) *committer {
	return &committer{s: s, number: number, log: log, woken: make(chan struct{}, 1)}
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
			// Serve the requests that were queued before the store closed.
			c.turn.Lock()
			defer c.turn.Unlock()
			c.drain()
			c.ended = true
			return
		}
	}
}

// drain commits until the queue is empty. The caller holds turn.
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

// lead commits the queue, unless another goroutine does. An append does so once, and leaves later requests to other goroutines.
func (c *committer) lead() {
	if !c.turn.TryLock() {
		return // the goroutine that holds turn reads the queue again after it unlocks
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

// unlock unlocks turn, and ensures that requests queued in the meantime are committed.
func (c *committer) unlock() {
	c.turn.Unlock()
	if len(c.s.queue) > 0 {
		select {
		case c.woken <- struct{}{}:
		default:
		}
	}
}

// commit commits r and the requests queued behind it.
func (c *committer) commit(r *request) {
	err := errPanic
	defer func() { // in any case, because callers without an answer would wait forever
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

// answer answers the group: with err, or each request with its own result.
func (c *committer) answer(err error) {
	for i, r := range c.group {
		c.group[i] = nil
		r.done <- cmp.Or(err, r.err)
	}
	c.several = len(c.group) > 1
	c.group, c.bytes = c.group[:0], 0
}

// errPanic makes the store read-only after a panic in a commit, because it is unknown how much of the commit is stored.
var errPanic = errors.New("a commit has panicked")

// gather takes r and the queue. If the last commit had several requests, gather first yields to the goroutines that it has just
// woken, so that their next appends share this sync. A single caller needs no yield, which would wake a thread.
func (c *committer) gather(r *request) {
	c.take(r)
	if c.several {
		runtime.Gosched()
	}
	for len(c.group) < commitMaxRequests && c.bytes < commitMaxBytes {
		select {
		case r := <-c.s.queue:
			c.take(r)
		default:
			return
		}
	}
}

// take adds r to the group, unless its caller has returned.
func (c *committer) take(r *request) {
	if !r.state.CompareAndSwap(queued, taken) {
		r.release()
		return
	}
	c.group = append(c.group, r)
	c.bytes += r.size()
}

// write makes the group durable. It sets err of each request that was not accepted; the returned error is about all requests.
func (c *committer) write() error {
	s := c.s
	if s.space.Due(c.bytes) {
		_ = s.watch(&s.space, c.bytes) // it has recorded the error
	}
	if reason := s.readOnly.Load(); reason != nil {
		return *reason
	}
	b := s.db.NewBatch()
	defer b.Close()
	clear(c.moves)
	c.moves, c.puts = c.moves[:0], false
	for _, r := range c.group {
		r.err = c.stage(b, r)
	}
	if len(c.moves) == 0 {
		return c.writeLater(b) // no append was in time
	}
	c.value = appendCommit(c.value[:0], c.number+1)
	if err := b.Set(commitKey, c.value, nil); err != nil {
		return s.fail(s.dir, err)
	}
	if err := c.logChanges(b); err != nil {
		return s.fail(s.dir, err)
	}
	if err := c.sync(b); err != nil {
		return err
	}
	c.number++
	s.newest.Store(c.number)
	// The mark is written after the sync and before the answers: it covers all acknowledged commits, and no commit that a crash can undo.
	if err := s.mark.Write(c.number); err != nil {
		_ = s.fail(s.files.PathJoin(s.dir, records.MarkName), err)
	}
	s.live.Synced(c.moves)
	return nil
}

// writeLater writes b without a sync; the next sync covers it. The commit has no number, since COMMIT counts durable commits.
func (c *committer) writeLater(b *pebble.Batch) error {
	if b.Empty() {
		return nil
	}
	return c.s.write(b, false)
}

// sync applies b and waits until it is durable. Heads are read between two syncs (see Heads), hence the lock.
func (c *committer) sync(b *pebble.Batch) error {
	c.s.syncing.Lock()
	defer c.s.syncing.Unlock()
	return c.s.write(b, true)
}

// stage adds r to the batch if the stream is at the sequence that r expects.
func (c *committer) stage(b *pebble.Batch, r *request) error {
	if reason := c.s.full.Load(); reason != nil && r.adds() {
		return *reason
	}
	t, err := c.tipOf(r.stream, r.headKey)
	if err != nil {
		return err
	}
	c.note(r)
	if x, ok := r.change.(expiry); ok {
		return x.stage(c, b, r.stream, t)
	}
	if t.Deleted != nil {
		if !r.begins(t.Deleted) {
			return t.Deleted
		}
		t = c.s.live.Renew(r.stream)
	}
	if r.change != nil {
		return c.stageChange(b, r, t)
	}
	switch after := r.after; {
	case r.gap && (t.Last != 1 || t.First != 0), !r.gap && t.Last != after:
		return fmt.Errorf("it is at %d: %w", t.Last, journal.ErrConflict)
	case r.gap:
		t.First = after + 1
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
		head = t.Head
	}
	if !journal.IsContent(r.stream) {
		if err := c.stageIndex(b, r, t); err != nil {
			return err
		}
		c.value = records.Head{Last: r.last, First: t.First, Encoded: head}.Append(c.value[:0], r.headKey)
		if err := b.Set(r.headKey, c.value, nil); err != nil {
			return err
		}
	}
	c.accept(records.Move{Stream: r.stream, Tip: t, Last: r.last}, head)
	return nil
}

// stageBlob adds a blob to the batch, unless it is already stored.
func (c *committer) stageBlob(b *pebble.Batch, v *blob) error {
	t, err := c.tipOf(v.stream, nil)
	if c.referred != nil {
		c.referred[v.stream] = true
	}
	if err != nil || t.Last > 0 {
		return err
	}
	if err := b.Set(v.key, v.record, nil); err != nil {
		return err
	}
	c.accept(records.Move{Stream: v.stream, Tip: t, Last: 1}, nil)
	return nil
}

func (c *committer) accept(m records.Move, head []byte) {
	c.s.live.Accept(m, head)
	c.moves = append(c.moves, m)
}

// tipOf returns the end of a stream, from memory if possible.
func (c *committer) tipOf(stream string, headKey []byte) (*records.Tip, error) {
	if t := c.s.live.Tip(stream); t != nil {
		return t, nil
	}
	t := new(records.Tip)
	var err error
	if journal.IsContent(stream) {
		c.key = appendEventsKey(c.key[:0], stream, 1)
		_, err = c.s.get(c.key, func([]byte) error { t.Last = 1; return nil })
	} else {
		err = c.loadTip(t, stream, headKey)
	}
	if err != nil {
		return nil, err
	}
	t.Durable = t.Last
	c.s.live.Remember(stream, t)
	return t, nil
}

// loadTip reads the end of a stream from its head. A stream with events but no head has lost its head, and starting it again
// would overwrite the events.
func (c *committer) loadTip(t *records.Tip, stream string, headKey []byte) error {
	found, err := c.s.get(headKey, func(record []byte) error {
		h, err := records.OpenHead(record, headKey)
		t.Last, t.First, t.Head, t.Deleted = h.Last, h.First, append([]byte(nil), h.Encoded...), h.Deleted
		return err
	})
	if err != nil || found {
		return err
	}
	c.key = appendEventsKey(c.key[:0], stream, 1)
	if found, err = c.s.get(c.key, func([]byte) error { return nil }); found {
		return errHeadless
	}
	return err
}

// get calls use with the record under key, if there is one.
func (s *Store) get(key []byte, use func(record []byte) error) (found bool, err error) {
	record, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, s.readFault(readError(err))
	}
	defer closer.Close()
	return true, use(record)
}
