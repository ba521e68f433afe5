package workers

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/keychain"
	"github.com/sluiceflow/sluice/reactive/call"
)

// ErrClosed is returned when the engine shuts down.
var ErrClosed = errors.New("workers: the engine shuts down")

// Engine has the runs whose calls workers carry out.
type Engine interface {
	// Ask runs a turn of a run, in which it reserves workers for its ready steps, and returns after it.
	Ask(ctx context.Context, run string) error

	// Answer ends a call; wait returns when that is durable. If the call had ended before, was is its status, and nothing is journaled,
	// unless late is true: then the answer is journaled as a late one. A run that has ended accepts no answer.
	Answer(ctx context.Context, id ID, result call.Result, late bool) (wait func() (was string, err error))

	// Report journals a report of a call.
	Report(ctx context.Context, id ID, making, number int32, kind string, payload any) error

	// Secrets returns the secrets of a run that this hub does not have; nil: it has none. was is the reason that there is no such run.
	Secrets(ctx context.Context, run string) (ring *keychain.Ring, was string, err error)

	// Log takes text of a worker about a call.
	Log(id ID, worker, text string)
}

// Hub brings the calls of runs and workers together. It is safe for concurrent use.
type Hub struct {
	engine Engine
	signer *signer
	number uint64 // of this engine
	began  time.Time
	ctx    context.Context
	cancel context.CancelFunc
	drain  chan struct{}  // closed when no more calls are taken
	asking sync.WaitGroup // goroutines of the hub

	mu         sync.Mutex
	operations map[string]*operation
	calls      map[ID]*request // the known calls that are requested and unanswered
	sessions   map[Worker]*session
	withdrawn  withdrawn
	answering  int            // being journaled, with the next calls of their runs
	lingering  map[*take]bool // those that wait for further calls
	taken      uint64         // leases granted
	scanning   bool
}

// operation holds the calls that wait for workers of an operation, and the workers that wait for its calls.
type operation struct {
	queue  queue      // runs with a step that is ready
	offers []*request // requested calls that no worker has, oldest first; others among them are skipped
	takes  []*take
	served time.Time // when a worker last waited for its calls; zero: never
}

// request is a call that is requested and unanswered.
type request struct {
	Wanted // if known
	id     ID
	known  bool // its run has described it; otherwise only a worker has
	state  state
	making int32 // the making of the present lease
	sent   int32 // reports of that making without a number

	holder  *session // that has the lease; nil: a worker that the engine has not heard from yet
	number  uint64   // of the lease
	engine  uint64   // of the lease
	expires time.Time
}

type state uint8

const (
	offered   state = iota // no worker has it
	assigned               // a take is about to return it
	leased                 // a worker has it, or had it when the engine began
	answering              // its answer is being journaled
	gone                   // it has ended
)

// New returns a hub. The key signs its leases.
func New(engine Engine, key []byte) *Hub {
	h := &Hub{engine: engine, signer: newSigner(key), began: time.Now(), operations: map[string]*operation{}, calls: map[ID]*request{}, sessions: map[Worker]*session{}, withdrawn: withdrawn{}, lingering: map[*take]bool{}}
	random := make([]byte, 8)
	rand.Read(random) // never fails
	h.number = binary.BigEndian.Uint64(random)
	h.ctx, h.cancel = context.WithCancel(context.Background())
	h.drain = make(chan struct{})
	return h
}

// Drain ends all takes, which return the calls that they have, and refuses new ones.
func (h *Hub) Drain() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.drained() {
		close(h.drain)
	}
}

func (h *Hub) drained() bool {
	select {
	case <-h.drain:
		return true
	default:
		return false
	}
}

// Close ends all takes. Calls that workers have stay theirs: they deliver the answers to the next engine.
func (h *Hub) Close() {
	h.Drain()
	h.mu.Lock() // so that no goroutine of the hub starts after it
	h.cancel()
	h.mu.Unlock()
	h.asking.Wait()
}

// operation returns the state of an operation, making it if there is none. The caller holds mu.
func (h *Hub) operation(name string) *operation {
	o := h.operations[name]
	if o == nil {
		o = &operation{}
		h.operations[name] = o
	}
	return o
}

// Ticket is a place for a call in the answer to a worker that waits.
type Ticket struct {
	take *take
}

// Reserve reserves a worker for a call of a run. If none waits, the run is asked again when one does.
func (h *Hub) Reserve(run, name string) (t Ticket, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	o := h.operation(name)
	for _, t := range o.takes {
		if t.free > 0 && !h.drained() {
			t.free--
			t.tickets++
			return Ticket{t}, true
		}
	}
	o.queue.add(run, time.Now())
	return Ticket{}, false
}

// Return returns a ticket for which there is no call.
func (h *Hub) Return(t Ticket) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.take.tickets--
	t.take.free++
	h.ask(t.take)
	t.take.signal()
}

// Wanted is a call that a worker is to carry out.
type Wanted struct {
	call.Request
	Once     bool           // it must not be asked again
	Deadline time.Time      // when its attempt is ended; zero: never
	Ring     *keychain.Ring // the secrets of its run; nil: none
}

// Offer passes on a call whose request is durable; with a ticket, if one was reserved for it.
func (h *Hub) Offer(t Ticket, c Wanted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := &request{id: IDOf(&c.Request), Wanted: c, known: true, making: c.Making}
	h.calls[r.id] = r
	if t.take == nil {
		h.place(r)
		return
	}
	t.take.tickets--
	if t.take.over {
		h.place(r)
		return
	}
	t.take.add(r)
}

// place finds a worker for a call without one. The caller holds mu.
func (h *Hub) place(r *request) {
	o := h.operation(r.Operation)
	for _, t := range o.takes {
		if t.free > 0 {
			t.free--
			t.add(r)
			return
		}
	}
	r.state, r.holder = offered, nil
	o.offers = append(o.offers, r)
}

// Adopt takes over a call that was requested before this engine began, or while its run was in memory the last time. If no worker is
// known to have it, one may still deliver its answer for the time of a lease; after that, the call is asked again.
func (h *Hub) Adopt(c Wanted) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := IDOf(&c.Request)
	r := h.calls[id]
	if r == nil {
		r = &request{id: id, state: leased, making: c.Making, expires: time.Now().Add(LeaseTime)}
		h.calls[id] = r
		h.scan()
	}
	if !r.known {
		r.known, r.Wanted = true, c
	}
}

// Withdraw ends a call whose attempt has ended before it was answered. Its worker is notified at once.
func (h *Hub) Withdraw(id ID, reason string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r := h.calls[id]
	if r == nil {
		return
	}
	delete(h.calls, id)
	if r.state == leased {
		h.withdrawn.add(id, r.Ring)
		h.notify(r, reason)
	}
	if r.state != answering {
		h.release(r)
		r.state = gone
	}
}

// notify notifies the worker with a lease of a call that its answer is not wanted. The caller holds mu.
func (h *Hub) notify(r *request, reason string) {
	if s := r.holder; s != nil {
		s.cancels = append(s.cancels, Cancel{Lease: h.signed(r), Reason: reason, Grace: Grace})
		s.signal()
	}
}

// signed returns the lease of a call as text. The caller holds mu.
func (h *Hub) signed(r *request) string {
	return (&lease{ID: r.id, making: r.making, engine: r.engine, number: r.number}).sign(h.signer, r.holder.who.boundTo())
}
