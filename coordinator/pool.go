package coordinator

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
)

// pool carries out calls. Go functions that return at once run one after the other on a few workers, because a
// goroutine for each would cost more than they do. A function that keeps its worker waiting is found out by the watch,
// which brings in another worker; from then on every call of that function gets a goroutine of its own, like the calls of
// bindings do from the start.
type pool struct {
	mu       sync.Mutex
	queue    []*shipment
	workers  []*worker // running
	watching bool
	all      sync.WaitGroup
	flying   atomic.Int64
	quiet    chan struct{}    // has a token when flying fell to zero
	strays   map[*flight]bool // under way, though their runs have left memory
}

func newPool() *pool { return &pool{quiet: make(chan struct{}, 1), strays: map[*flight]bool{}} }

// idle tells when no call is under way. It is meant for when no more are submitted.
func (p *pool) idle() <-chan struct{} {
	p.flying.Add(1)
	p.home(1)
	return p.quiet
}

// home counts calls that have come home.
func (p *pool) home(n int) {
	if p.flying.Add(-int64(n)) == 0 {
		select {
		case p.quiet <- struct{}{}:
		default:
		}
	}
}

// shipment is the quick calls of one turn of one run.
type shipment struct {
	flights []*flight
	next    atomic.Int32
}

// flight is a call under way.
type flight struct {
	operation.Call
	run     *run
	op      *registry.Performer
	req     reactive.Request
	making  int32       // of the call, by its reports
	room    counts      // what it counts in
	home    atomic.Bool // it has come back
	stopped bool        // its attempt was ended by something else than its answer; belongs to the run's loop
	key     string      // of the node, as it was when the call was made; Call.Node is the caller's to change
	out     any         // of a call that was answered with an output and nothing beside it
	other   *landing    // how a call has ended otherwise
	side    *side       // what few calls have; nil: nothing. See aside
}

// side is what few calls have. Calls are many, and what each takes in memory is paid for by all.
type side struct {
	secrets []string        // marks of those that it is given
	entry   *registry.Entry // of the run: its document may say who the participant is
	texts   int64           // bytes of room that its answer has, as a text
	values  int64           // and as a value
}

// aside is what the call has that few have. Until the call is made it belongs to the run's loop, then to the goroutine that makes
// it, and after that to the loop again.
func (f *flight) aside() *side {
	if f.side == nil {
		f.side = &side{}
	}
	return f.side
}

// end keeps how the call has ended.
func (f *flight) end(l landing) {
	f.out, f.other = l.Output, nil
	if l.About != nil || l.Failure != nil || l.lost != nil {
		other := l // of its own, so that l is not on the heap for all the others
		f.out, f.other = nil, &other
	}
}

// landing is how the call has ended.
func (f *flight) landing() landing {
	if f.other != nil {
		return *f.other
	}
	return landing{Result: call.Result{Output: f.out}}
}

// worker is one goroutine that takes calls. turns grows with every call it takes.
type worker struct {
	turns atomic.Int64
	op    atomic.Pointer[registry.Performer]
	seen  int64 // turns at the watch's last look
	still int   // looks since turns last grew

	mu   sync.Mutex
	bag  []*flight // quick calls that have landed, to be brought home together
	home *run      // whose they are
}

const (
	patience   = time.Millisecond      // how long all calls may hold their workers before others are brought in
	waitsAfter = 20                    // looks at a call that still holds its worker, after which its operation counts as one that waits
	swiftCall  = 50 * time.Microsecond // a call that took less has not waited
	swiftCalls = 32                    // of those in a row, after which its operation goes back to the workers
	bagSize    = 64                    // landings that a worker collects at most
)

// submit has calls made, and returns at once.
func (p *pool) submit(flights []flight) {
	p.flying.Add(int64(len(flights)))
	quick := make([]*flight, 0, len(flights))
	for i := range flights {
		f := &flights[i]
		if f.op.Waits.Load() {
			p.all.Go(func() { f.run.land(f, flyAlone(f)) })
		} else {
			quick = append(quick, f)
		}
	}
	if len(quick) == 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, &shipment{flights: quick})
	p.hire(min(len(quick), runtime.GOMAXPROCS(0)-len(p.workers)))
	if !p.watching {
		p.watching = true
		p.all.Go(p.watch)
	}
}

// hire starts n workers. The caller holds mu.
func (p *pool) hire(n int) {
	for range n {
		w := &worker{}
		p.workers = append(p.workers, w)
		p.all.Go(func() { p.work(w) })
	}
}

// work takes calls until there are none. A function that ends the goroutine takes this worker with it, not its place.
func (p *pool) work(w *worker) {
	normal := false
	defer func() {
		if !normal {
			w.bringHome()
			p.mu.Lock()
			defer p.mu.Unlock()
			p.dismiss(w)
			p.hire(1)
		}
	}()
	for s := p.pick(w); s != nil; s = p.pick(w) {
		for i := s.next.Add(1) - 1; int(i) < len(s.flights); i = s.next.Add(1) - 1 {
			f := s.flights[i]
			w.op.Store(f.op)
			w.turns.Add(1)
			w.collect(f, fly(f))
		}
		w.bringHome()
	}
	normal = true
}

// collect keeps a landing, so that a run is not woken for every one of a thousand quick calls.
func (w *worker) collect(f *flight, l landing) {
	w.mu.Lock()
	if len(w.bag) == bagSize || w.home != f.run {
		w.deliver()
	}
	w.home = f.run
	f.end(l)
	w.bag = append(w.bag, f)
	w.mu.Unlock()
}

// bringHome delivers what was collected. The watch does it for a worker that is held up.
func (w *worker) bringHome() {
	w.mu.Lock()
	w.deliver()
	w.mu.Unlock()
}

func (w *worker) deliver() {
	if len(w.bag) > 0 {
		w.home.bringHome(w.bag...)
		clear(w.bag)
		w.bag = w.bag[:0]
	}
}

// pick gives a worker the first shipment with calls left. With none it takes the worker off the list and returns nil.
func (p *pool) pick(w *worker) *shipment {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.queue) > 0 {
		if s := p.queue[0]; int(s.next.Load()) < len(s.flights) {
			return s
		}
		p.queue[0] = nil // its calls are not to be kept in memory by the queue
		p.queue = p.queue[1:]
	}
	p.dismiss(w)
	return nil
}

// dismiss takes a worker off the list. The caller holds mu.
func (p *pool) dismiss(w *worker) {
	p.workers = slices.DeleteFunc(p.workers, func(x *worker) bool { return x == w })
}

// watch looks, as long as there is work, for workers that have not moved since its last look: it brings home what they
// have collected, and replaces them where all are held up and calls wait.
func (p *pool) watch() {
	tick := time.NewTicker(patience)
	defer tick.Stop()
	for range tick.C {
		if !p.look() {
			return
		}
	}
}

// look reports whether there is anything left to look after.
func (p *pool) look() bool {
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
		w.bringHome()
		if w.still++; w.still == waitsAfter {
			w.op.Load().Waits.Store(true)
		}
		if w.still >= waitsAfter {
			waiting++
		}
	}
	queued := p.queued()
	if moving == 0 { // twice as many each time: a thousand calls that wait are soon under way
		p.hire(min(queued, max(runtime.GOMAXPROCS(0), len(p.workers))))
	}
	p.watching = queued > 0 || waiting < len(p.workers)
	return p.watching
}

// queued is how many calls nobody has taken. The caller holds mu.
func (p *pool) queued() int {
	n := 0
	for _, s := range p.queue {
		n += max(0, len(s.flights)-int(s.next.Load()))
	}
	return n
}

// flyAlone makes a call on a goroutine of its own, and takes the operation back to the workers when its calls have
// ceased to wait. Those of bindings always wait.
func flyAlone(f *flight) landing {
	op := f.op
	begin := time.Now()
	l := fly(f)
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

// landing is how a call has ended, if it has: lost says why it has not.
type landing struct {
	call.Result
	lost error // ErrShutdown: it was given up because the engine shuts down; else why the run cannot go on in this process
}

// fly makes a call, and ends its context. A panic, and a function that ends its goroutine, fail the call and nothing else.
func fly(f *flight) (l landing) {
	defer f.End(decide.ErrEnded)
	err := usercode.CallExit(func() error { l = f.make(); return nil },
		func(p *usercode.Panic) { f.run.land(f, f.run.failed(p)) })
	if err != nil {
		return f.run.failed(err)
	}
	return l
}

// make makes a call, and makes of what comes back what can be journaled. It calls methods of values and errors that are not
// ours.
func (f *flight) make() landing {
	if f.Participant != "" {
		var err error
		if f.About, err = about(f.run.engine.directory(f.aside().entry), f.Participant); err != nil {
			return landing{Result: operation.Settle(nil, nil, err)}
		}
	}
	if err := f.run.reveal(f); err != nil {
		return landing{Result: operation.ResultOf(nil, err)}
	}
	out, err := f.op.Caller.Call(&f.Call)
	err = usercode.Finite(err)
	if unable, ok := err.(*unableError); ok {
		return landing{lost: unable.reason}
	}
	if errors.Is(err, ErrShutdown) && f.run.engine.shutting() {
		return landing{lost: ErrShutdown}
	}
	return landing{Result: f.run.redacted(operation.Settle(f.op.Caller, out, f.run.redactedError(err)))}
}

// failed is the landing of a call whose function did not return.
func (r *run) failed(err error) landing {
	return landing{Result: r.redacted(operation.Settle(nil, nil, r.redactedError(err)))}
}
