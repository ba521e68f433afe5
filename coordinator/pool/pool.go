package pool

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/workers"
	"github.com/sluiceflow/sluice/internal/goroutines"
)

// Pool carries out calls. Go functions that return at once run one after the other on a few workers, because a goroutine for each would
// cost more than the functions. If a function keeps its worker waiting, the watch starts another worker, and from then on every call of
// that function runs on its own goroutine, as the calls of bindings always do.
type Pool struct {
	configured directory.Directory // in place of those of documents; nil: none
	room       [roomKinds]capacity
	answers    answers
	closed     atomic.Bool

	mu         sync.Mutex
	queue      []*batch
	workers    []*worker // running
	watching   bool
	tick       *time.Timer // calls watch
	all        *goroutines.Group
	inProgress atomic.Int64
	idle       chan struct{}           // has a token when inProgress fell to zero
	unreturned map[*Call]bool          // calls in progress whose runs have left memory
	abandoned  map[<-chan error]string // steps of machines that took too long, and have not returned
	activation time.Duration           // bound of the time of a step of a machine
	verifier   operation.Verifier      // of answers to effects; nil: none
	away       *workers.Hub            // nil: there are none
	logs       *calllog.Logs           // nil: none can be followed
}

// Config configures a pool.
type Config struct {
	CallsMax        int                 // calls at a time, and as many to decision sources; 0: no limit
	ProgramsMax     int                 // programs at a time, and as many that are decision sources; 0: 256, negative: no limit
	AnswersBytesMax int                 // bytes of answers in memory at a time; negative: no limit
	Directory       directory.Directory // in place of the directories of documents; nil: those

	ActivationTimeout time.Duration // of one step of a machine in Go; 0: 1 s

	Verifier operation.Verifier // judges the answers to effects of worlds; nil: all are taken

	Workers *workers.Hub // of the operations that workers carry out; nil: there are none

	Logs *calllog.Logs // of the output of programs
}

// New returns a pool without calls.
func New(config Config) *Pool {
	p := &Pool{configured: config.Directory, answers: newAnswers(config.AnswersBytesMax), all: goroutines.New(), idle: make(chan struct{}, 1), unreturned: map[*Call]bool{},
		abandoned: map[<-chan error]string{}, activation: config.ActivationTimeout, verifier: config.Verifier, away: config.Workers, logs: config.Logs}
	if p.activation <= 0 {
		p.activation = activationTime
	}
	p.tick = time.AfterFunc(watchInterval, p.watch)
	p.tick.Stop()
	programs := max(0, cmp.Or(config.ProgramsMax, programsMax))
	p.room[inCalls].max, p.room[inDeciders].max = config.CallsMax, config.CallsMax
	p.room[inPrograms].max, p.room[inDecidingPrograms].max = programs, programs
	return p
}

// directory returns the directory for the calls of a workflow.
func (p *Pool) directory(entry *registry.Entry) directory.Directory {
	if p.configured != nil {
		return p.configured
	}
	return entry.Directory
}

// Close makes the pool refuse new calls. Calls in progress go on.
func (p *Pool) Close() {
	p.closed.Store(true)
	for i := range p.room {
		p.room[i].close()
	}
}

// Wait waits until no call is in progress, and then ends the pool's goroutines. The caller must have closed the pool. It is called once.
func (p *Pool) Wait() {
	p.all.Wait()
	p.all.Close()
}

// Idle returns a channel that receives a value when no call is in progress. The caller must have closed the pool.
func (p *Pool) Idle() <-chan struct{} {
	p.inProgress.Add(1)
	p.count(1)
	return p.idle
}

// count subtracts n calls that were delivered.
func (p *Pool) count(n int) {
	if p.inProgress.Add(-int64(n)) == 0 {
		select {
		case p.idle <- struct{}{}:
		default:
		}
	}
}

// batch holds the quick calls of one turn of one run.
type batch struct {
	calls []*Call
	next  atomic.Int32
}

// worker is a goroutine that makes calls.
type worker struct {
	turns atomic.Int64 // calls begun
	op    atomic.Pointer[registry.Performer]
	seen  int64 // turns at the last check of the watch
	still int   // checks since turns last grew

	mu    sync.Mutex
	ended []*Call // quick calls that have ended, to be delivered together
	run   *Run    // of ended
}

const (
	watchInterval = time.Millisecond      // if all workers are busy for this long, others are started
	waitsAfter    = 20                    // intervals after which the operation of a call that still runs counts as waiting
	quickCall     = 50 * time.Microsecond // longest duration of a call that does not wait
	quickCallsMin = 32                    // consecutive quick calls that return their operation to the workers
	endedCount    = 64                    // ended calls that a worker collects
)

// submit queues calls, whose slice it keeps, and returns at once. If here is true, the caller's goroutine will make one of them itself.
func (p *Pool) submit(calls []*Call, here bool) {
	p.inProgress.Add(int64(len(calls)))
	quick := calls[:0]
	for _, c := range calls {
		if c.op.Waits.Load() {
			p.all.Go(func() { c.makeAlone() })
		} else {
			quick = append(quick, c)
		}
	}
	if len(quick) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, &batch{calls: quick})
	wanted := len(quick)
	if here {
		wanted--
	}
	p.start(min(wanted, runtime.GOMAXPROCS(0)-len(p.workers)))
	if !p.watching {
		p.watching = true
		p.tick.Reset(watchInterval)
	}
}

// start starts n workers. The caller holds mu.
func (p *Pool) start(n int) {
	for range n {
		w := &worker{}
		p.workers = append(p.workers, w)
		p.all.Reuse(func() { p.work(w) })
	}
}

// work makes calls until there are none. If a function ends the goroutine, another worker replaces this one.
func (p *Pool) work(w *worker) {
	normal := false
	defer func() {
		if !normal {
			w.flush()
			p.mu.Lock()
			defer p.mu.Unlock()
			p.remove(w)
			p.start(1)
		}
	}()
	for s := p.pick(w); s != nil; s = p.pick(w) {
		for i := s.next.Add(1) - 1; int(i) < len(s.calls); i = s.next.Add(1) - 1 {
			c := s.calls[i]
			w.op.Store(c.op)
			w.turns.Add(1)
			w.collect(c, c.carryOut())
		}
		if !p.removeIfIdle(w) {
			w.flush()
			continue
		}
		w.flushAndDrive()
		if !p.rejoin(w) {
			break
		}
	}
	normal = true
}

// removeIfIdle removes a worker if no call is queued, and reports whether it did. The goroutine may then spend any time on the run of its
// last call: further calls start other workers.
func (p *Pool) removeIfIdle(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued() > 0 {
		return false
	}
	p.remove(w)
	return true
}

// rejoin makes the goroutine a worker again if calls are queued and there are too few workers. It reports whether it did.
func (p *Pool) rejoin(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued() == 0 || len(p.workers) >= runtime.GOMAXPROCS(0) {
		return false
	}
	w.turns.Store(0)
	w.seen, w.still = 0, 0
	p.workers = append(p.workers, w)
	return true
}

// collect records a call that has ended, so that a run is not woken for each of a thousand quick calls.
func (w *worker) collect(c *Call, l Ending) {
	w.mu.Lock()
	if len(w.ended) == endedCount || w.run != c.run {
		w.flushLocked()
	}
	w.run = c.run
	c.end(l)
	w.ended = append(w.ended, c)
	w.mu.Unlock()
}

// flush delivers the collected calls. The watch calls it for a worker whose call takes long.
func (w *worker) flush() {
	w.mu.Lock()
	w.flushLocked()
	w.mu.Unlock()
}

// flushAndDrive delivers the collected calls, and drives their run.
func (w *worker) flushAndDrive() {
	w.mu.Lock()
	run, ended := w.run, w.ended
	w.run, w.ended = nil, nil
	w.mu.Unlock()
	if len(ended) > 0 {
		run.deliverHere(ended)
		clear(ended)
		w.mu.Lock()
		w.ended = ended[:0]
		w.mu.Unlock()
	}
}

func (w *worker) flushLocked() {
	if len(w.ended) > 0 {
		w.run.deliverAll(w.ended)
		clear(w.ended)
		w.ended = w.ended[:0]
	}
}

// pick returns the first batch that has calls left. If there is none, it removes the worker and returns nil.
func (p *Pool) pick(w *worker) *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		if s := p.queue[0]; int(s.next.Load()) < len(s.calls) {
			return s
		}
		p.queue[0] = nil // release its calls
		p.queue = p.queue[1:]
	}
	p.remove(w)
	return nil
}

// remove removes a worker. The caller holds mu.
func (p *Pool) remove(w *worker) {
	p.workers = slices.DeleteFunc(p.workers, func(x *worker) bool { return x == w })
}

// watch checks, once in an interval as long as there is work, for workers that have made no progress in the last one: it delivers the
// calls they have collected, and starts others if all are blocked and calls wait. A timer calls it: a goroutine that waits for the end of
// the interval would have to start before the first call.
func (p *Pool) watch() {
	still, again := p.look()
	for _, w := range still { // without mu: calls whose run has left memory are removed from the pool
		w.flush()
	}
	if again {
		p.tick.Reset(watchInterval)
	}
}

// look returns the workers that have made no progress since the last round, and whether another round is needed.
func (p *Pool) look() (still []*worker, again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	moving, waiting := 0, 0
	for _, w := range p.workers {
		turns := w.turns.Load()
		if turns != w.seen || turns == 0 { // a worker that has not begun yet counts as moving
			w.seen, w.still = turns, 0
			moving++
			continue
		}
		still = append(still, w)
		if w.still++; w.still == waitsAfter {
			w.op.Load().Waits.Store(true)
		}
		if w.still >= waitsAfter {
			waiting++
		}
	}
	queued := p.queued()
	if moving == 0 { // double the number each time: a thousand calls that wait soon all run
		p.start(min(queued, max(runtime.GOMAXPROCS(0), len(p.workers))))
	}
	p.watching = queued > 0 || waiting < len(p.workers)
	return still, p.watching
}

// queued returns the number of calls that no worker has begun. The caller holds mu.
func (p *Pool) queued() int {
	n := 0
	for _, s := range p.queue {
		n += max(0, len(s.calls)-int(s.next.Load()))
	}
	return n
}

// makeAlone makes a call on a separate goroutine, which then drives the run.
func (c *Call) makeAlone() {
	l := c.carryOutAlone()
	c.end(l)
	c.run.deliverHere([]*Call{c})
	if w := (&worker{}); c.run.pool.rejoin(w) { // the turn has left one call to this goroutine: see submit
		c.run.pool.work(w)
	}
}

// carryOutAlone makes a call on a separate goroutine, and returns the operation to the workers when its calls no longer
// wait. Calls of bindings always do.
func (c *Call) carryOutAlone() Ending {
	op := c.op
	begin := time.Now()
	l := c.carryOut()
	switch {
	case op.Bound:
	case time.Since(begin) > quickCall:
		op.QuickCalls.Store(0)
	case op.QuickCalls.Add(1) >= quickCallsMin:
		op.QuickCalls.Store(0)
		op.Waits.Store(false)
	}
	return l
}
