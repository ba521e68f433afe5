package worker

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/coordinator/operation"
	"github.com/sluiceflow/sluice/coordinator/workers/wire"
)

// Operation is an operation that a worker carries out, as returned by operation.Define.
type Operation interface {
	// Name returns the name by which steps call it.
	Name() string

	// Implementation returns the implementation, an operation.Caller.
	Implementation() any
}

// Config configures a worker.
type Config struct {
	URL        string       // of the server
	Token      string       // of `sluice token create --role worker`, with the names of the operations
	Operations []Operation  // that it carries out
	Name       string       // of the worker, different from others of the same token. Default: the host's, with random letters
	Calls      int          // that it carries out at a time. Default: 64
	Client     *http.Client // Default: a new one
	Logger     *slog.Logger // Default: slog.Default

	// Grace is the time for which calls that are under way when the context of Serve ends may go on. After that, a call is asked again,
	// or fails with `interrupted` if its step is not idempotent. Default: 10 s
	Grace time.Duration
}

// Bounds of waiting.
const (
	beatTime  = 5 * time.Second // between heartbeats: a third of a lease
	takeTime  = 30 * time.Second
	retryTime = 5 * time.Second // longest wait before a request is made again
)

// takeMax bounds the calls that are taken at once; more free places are filled by the next takes.
const takeMax = 1000

// ErrRefused is wrapped by errors of Serve that would recur on each attempt: the token is invalid, or does not name an operation.
var ErrRefused = errors.New("worker: the server refuses the worker")

// Serve takes calls and delivers their results until ctx ends. It then returns nil, after the calls under way have ended or Config.Grace
// has passed. If the server does not answer, Serve asks again; if the server refuses the worker, Serve returns ErrRefused.
func Serve(ctx context.Context, config Config) error {
	w, err := newWorker(config)
	if err != nil {
		return err
	}
	life, die := context.WithCancel(context.WithoutCancel(ctx))
	defer die()
	w.life = life
	var giving sync.WaitGroup
	giving.Go(w.give)
	err = w.take(ctx)
	w.drain()
	die()
	w.endCalls()
	giving.Wait()
	return err
}

// worker is a worker that serves.
type worker struct {
	Config
	callers map[string]operation.Caller
	names   []string
	life    context.Context // of calls and deliveries

	mu      sync.Mutex
	calls   map[string]*job // whose results are not durable, by lease
	running int             // of these, those whose operation has not returned
	asked   int             // places that takes under way may fill
	out     outbox
	beaten  time.Time     // time of the last heartbeats
	wake    chan struct{} // there is something to deliver
	freed   chan struct{} // there is a free place
	idle    chan struct{} // there is no call
}

func newWorker(config Config) (*worker, error) {
	w := &worker{
		Config: config, callers: map[string]operation.Caller{}, calls: map[string]*job{},
		wake: make(chan struct{}, 1), freed: make(chan struct{}, 1), idle: make(chan struct{}, 1),
	}
	if len(config.Operations) == 0 {
		return nil, errors.New("worker: Config.Operations is empty: a worker carries out at least one operation")
	}
	for _, op := range config.Operations {
		caller, ok := op.Implementation().(operation.Caller)
		if !ok {
			return nil, fmt.Errorf("worker: operation %q has no implementation: make it with operation.Define", op.Name())
		}
		if w.callers[op.Name()] != nil {
			return nil, fmt.Errorf("worker: two operations have the name %q", op.Name())
		}
		w.callers[op.Name()] = caller
		w.names = append(w.names, op.Name())
	}
	slices.Sort(w.names)
	if w.Name == "" {
		host, _ := os.Hostname() // the letters alone distinguish workers
		w.Name = host + "-" + rand.Text()[:8]
	}
	w.Calls, w.Grace = cmp.Or(w.Calls, 64), cmp.Or(w.Grace, 10*time.Second)
	w.Logger = cmp.Or(w.Logger, slog.Default())
	if w.Client == nil {
		w.Client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute}}
	}
	return w, nil
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// take takes calls until ctx ends. Of two requests one waits while the calls of the other travel: so a run that takes a result finds a
// worker that waits for its next call.
func (w *worker) take(ctx context.Context) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	full := make(chan struct{}, 1)
	var all sync.WaitGroup
	all.Go(func() { stop(w.watch(ctx, full)) })
	for range 2 {
		all.Go(func() { stop(w.fill(ctx, full)) })
	}
	all.Wait()
	if err := context.Cause(ctx); errors.Is(err, ErrRefused) {
		return err
	}
	return nil
}

// fill takes calls until ctx ends, whenever there is a free place.
func (w *worker) fill(ctx context.Context, full chan struct{}) error {
	for wait := (backoff{}); ctx.Err() == nil; {
		places := w.reserve()
		if places == 0 {
			signal(full)
			select {
			case <-w.freed:
			case <-ctx.Done():
			}
			continue
		}
		err := w.ask(ctx, places)
		switch {
		case err == nil:
			wait = backoff{}
		case isFinal(err):
			return fmt.Errorf("%w: %w", ErrRefused, err)
		case ctx.Err() == nil:
			w.Logger.Warn("the server returns no calls, and is asked again", "error", err)
			wait.pause(ctx)
		}
	}
	return nil
}

// watch waits for cancellations while no take does, because all places are taken. Its request goes on waiting when a place is free, so
// that no request is broken off; until it is answered, no other is made.
func (w *worker) watch(ctx context.Context, full <-chan struct{}) error {
	for wait := (backoff{}); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-full:
		}
		for w.isFull() && ctx.Err() == nil {
			err := w.ask(ctx, 0)
			switch {
			case err == nil:
				wait = backoff{}
			case isFinal(err):
				return fmt.Errorf("%w: %w", ErrRefused, err)
			default:
				wait.pause(ctx)
			}
		}
	}
}

// ask takes calls for places that were reserved, and begins them. It waits for the first of them, or for a cancellation.
func (w *worker) ask(ctx context.Context, places int) error {
	answer := wire.TakeAnswer{}
	err := w.post(ctx, "/v1/worker/take", wire.TakeBody{Worker: w.Name, Operations: w.names, Max: &places, Wait: takeTime.String()}, &answer)
	if err == nil {
		w.cancel(answer.Cancel)
	}
	w.begin(answer.Calls, places)
	return err
}

// reserve reserves places for calls, and returns their number: at most half of all, so that another request waits at the same time.
func (w *worker) reserve() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := min(w.free(), (w.Calls+1)/2, takeMax)
	w.asked += n
	if w.free() > 0 {
		signal(w.freed)
	}
	return n
}

// free returns how many places are free. A call whose operation has returned frees its place while its result is delivered. While
// no results are taken, there are at most twice as many calls as places. The caller holds mu.
func (w *worker) free() int {
	return max(0, min(w.Calls-w.running, 2*w.Calls-len(w.calls))-w.asked)
}

// isFull reports whether no place is free, and no take waits for a call.
func (w *worker) isFull() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.asked+w.free() == 0
}

// drain waits for the calls under way, but not longer than Config.Grace.
func (w *worker) drain() {
	over := time.NewTimer(w.Grace)
	defer over.Stop()
	for {
		w.mu.Lock()
		n := len(w.calls)
		w.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-w.idle:
		case <-over.C:
			w.Logger.Warn("calls have not ended in time, and are left", "calls", n)
			return
		}
	}
}

// backoff is the wait before a request is made again.
type backoff struct{ last time.Duration }

func (b *backoff) pause(ctx context.Context) {
	b.last = min(max(2*b.last, 50*time.Millisecond), retryTime)
	select {
	case <-ctx.Done():
	case <-time.After(b.last):
	}
}
