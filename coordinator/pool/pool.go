package pool

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/coordinator/directory"
	"github.com/sluiceflow/sluice/coordinator/registry"
)

// Pool carries out calls. Go functions that return at once run one after the other on a few workers, because a
// goroutine for each would cost more than they do. A function that keeps its worker waiting is found out by the watch,
// which brings in another worker; from then on every call of that function gets a goroutine of its own, like the calls of
// bindings do from the start.
type Pool struct {
	people  directory.Directory // in place of what documents say; nil: nothing is
	room    [roomKinds]capacity
	answers answers
	closed  atomic.Bool

	mu       sync.Mutex
	queue    []*batch
	workers  []*worker // running
	watching bool
	all      sync.WaitGroup
	making   atomic.Int64
	quiet    chan struct{}  // has a token when making fell to zero
	left     map[*Call]bool // under way, though their runs have left memory
}

// Config is what a pool is made with.
type Config struct {
	CallsMax        int                 // calls at a time, and as many to decision sources; 0: no limit
	ProgramsMax     int                 // programs at a time, and as many that are decision sources; 0: 256, negative: no limit
	AnswersBytesMax int                 // bytes of answers that are in memory at a time; negative: no limit
	Directory       directory.Directory // who can be targeted, in place of what documents say; nil: what they say
}

// New returns a pool that makes no calls yet.
func New(config Config) *Pool {
	p := &Pool{people: config.Directory, answers: newAnswers(config.AnswersBytesMax), quiet: make(chan struct{}, 1), left: map[*Call]bool{}}
	programs := max(0, cmp.Or(config.ProgramsMax, programsMax))
	p.room[inCalls].max, p.room[inDeciders].max = config.CallsMax, config.CallsMax
	p.room[inPrograms].max, p.room[inDecidingPrograms].max = programs, programs
	return p
}

// directory is who can be targeted by a workflow.
func (p *Pool) directory(entry *registry.Entry) directory.Directory {
	if p.people != nil {
		return p.people
	}
	return entry.Directory
}

// Close makes the pool refuse new calls. Those in progress go on.
func (p *Pool) Close() {
	p.closed.Store(true)
	for i := range p.room {
		p.room[i].close()
	}
}

// Wait returns when no call is under way and no more are submitted.
func (p *Pool) Wait() { p.all.Wait() }

// Idle returns a channel that tells when no call is under way. It is meant for when no more are submitted.
func (p *Pool) Idle() <-chan struct{} {
	p.making.Add(1)
	p.count(1)
	return p.quiet
}

// count counts calls that have come back.
func (p *Pool) count(n int) {
	if p.making.Add(-int64(n)) == 0 {
		select {
		case p.quiet <- struct{}{}:
		default:
		}
	}
}

// batch is the quick calls of one turn of one run.
type batch struct {
	calls []*Call
	next  atomic.Int32
}

// worker is one goroutine that takes calls. turns grows with every call it takes.
type worker struct {
	turns atomic.Int64
	op    atomic.Pointer[registry.Performer]
	seen  int64 // turns at the watch's last look
	still int   // looks since turns last grew

	mu    sync.Mutex
	ended []*Call // quick calls that have ended, to be given back together
	run   *Run    // whose they are
}

const (
	patience   = time.Millisecond      // how long all calls may hold their workers before others are brought in
	waitsAfter = 20                    // looks at a call that still holds its worker, after which its operation counts as one that waits
	swiftCall  = 50 * time.Microsecond // a call that took less has not waited
	swiftCalls = 32                    // of those in a row, after which its operation goes back to the workers
	endedCount = 64                    // calls that a worker collects at most
)

// submit has calls made, and returns at once. here: the goroutine that submits them will make one of them itself.
func (p *Pool) submit(calls []Call, here bool) {
	p.making.Add(int64(len(calls)))
	quick := make([]*Call, 0, len(calls))
	for i := range calls {
		c := &calls[i]
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
		p.all.Go(p.watch)
	}
}

// start starts n workers. The caller holds mu.
func (p *Pool) start(n int) {
	for range n {
		w := &worker{}
		p.workers = append(p.workers, w)
		p.all.Go(func() { p.work(w) })
	}
}

// work takes calls until there are none. A function that ends the goroutine takes this worker with it, not its place.
func (p *Pool) work(w *worker) {
	normal := false
	defer func() {
		if !normal {
			w.handBack()
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
		if !p.last(w) {
			w.handBack()
			continue
		}
		w.goOn()
		if !p.back(w) {
			break
		}
	}
	normal = true
}

// last reports whether no call is left for a worker. It is then no worker any more, and may take its time with the run whose call
// it has made; if calls come, others are brought in.
func (p *Pool) last(w *worker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.queued() > 0 {
		return false
	}
	p.remove(w)
	return true
}

// back makes a worker again of one that was the last, unless there are enough.
func (p *Pool) back(w *worker) bool {
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

// collect keeps a call that has ended, so that a run is not woken for every one of a thousand quick calls.
func (w *worker) collect(c *Call, l Ending) {
	w.mu.Lock()
	if len(w.ended) == endedCount || w.run != c.run {
		w.deliver()
	}
	w.run = c.run
	c.end(l)
	w.ended = append(w.ended, c)
	w.mu.Unlock()
}

// handBack gives back what was collected. The watch does it for a worker that is held up.
func (w *worker) handBack() {
	w.mu.Lock()
	w.deliver()
	w.mu.Unlock()
}

// goOn gives back what was collected, and goes on with the run that it is for.
func (w *worker) goOn() {
	w.mu.Lock()
	run, ended := w.run, w.ended
	w.run, w.ended = nil, nil
	w.mu.Unlock()
	if len(ended) > 0 {
		run.landHere(ended)
		clear(ended)
		w.ended = ended[:0] // it is no worker now: nobody else looks at it
	}
}

func (w *worker) deliver() {
	if len(w.ended) > 0 {
		w.run.landAll(w.ended)
		clear(w.ended)
		w.ended = w.ended[:0]
	}
}

// pick gives a worker the first batch with calls left. With none it takes the worker off the list and returns nil.
func (p *Pool) pick(w *worker) *batch {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		if s := p.queue[0]; int(s.next.Load()) < len(s.calls) {
			return s
		}
		p.queue[0] = nil // its calls are not to be kept in memory by the queue
		p.queue = p.queue[1:]
	}
	p.remove(w)
	return nil
}

// remove takes a worker off the list. The caller holds mu.
func (p *Pool) remove(w *worker) {
	p.workers = slices.DeleteFunc(p.workers, func(x *worker) bool { return x == w })
}

// watch looks, as long as there is work, for workers that have not moved since its last look: it gives back what they
// have collected, and replaces them where all are held up and calls wait.
func (p *Pool) watch() {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for range tick.C {
		if !p.look() {
			return
		}
	}
}

// look reports whether there is anything left to look after.
func (p *Pool) look() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	moving, waiting := 0, 0
	for _, w := range p.workers {
		turns := w.turns.Load()
		if turns != w.seen || turns == 0 { // one that has not had its first turn is as good as moving
			w.seen, w.still = turns, 0
			moving++
			continue
		}
		w.handBack()
		if w.still++; w.still == waitsAfter {
			w.op.Load().Waits.Store(true)
		}
		if w.still >= waitsAfter {
			waiting++
		}
	}
	queued := p.queued()
	if moving == 0 { // twice as many each time: a thousand calls that wait are soon under way
		p.start(min(queued, max(runtime.GOMAXPROCS(0), len(p.workers))))
	}
	p.watching = queued > 0 || waiting < len(p.workers)
	return p.watching
}

// queued is how many calls nobody has taken. The caller holds mu.
func (p *Pool) queued() int {
	n := 0
	for _, s := range p.queue {
		n += max(0, len(s.calls)-int(s.next.Load()))
	}
	return n
}

// makeAlone makes a call on a goroutine of its own, which goes on with the run.
func (c *Call) makeAlone() {
	l := c.carryOutAlone()
	c.end(l)
	c.run.landHere([]*Call{c})
	if w := (&worker{}); c.run.pool.back(w) { // a turn that it has taken counts on it: see submit
		c.run.pool.work(w)
	}
}

// carryOutAlone makes a call on a goroutine of its own, and takes the operation back to the workers when its calls have
// ceased to wait. Those of bindings always wait.
func (c *Call) carryOutAlone() Ending {
	op := c.op
	begin := time.Now()
	l := c.carryOut()
	switch {
	case op.Bound:
	case time.Since(begin) > swiftCall:
		op.Swift.Store(0)
	case op.Swift.Add(1) >= swiftCalls:
		op.Swift.Store(0)
		op.Waits.Store(false)
	}
	return l
}
