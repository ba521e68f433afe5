package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// creditCents is the most that the bank charges.
const creditCents = 1000000

// request is the body of a request to any of the services.
type request struct {
	Order string `json:"order"`
	Item  string `json:"item"`
	Cents int    `json:"cents"`
	Count int    `json:"count"`
}

// serviceHandlers is the bank, the carrier and the supplier. The bank and the supplier act once for each idempotency key, and return the
// same answer to each request with it.
type serviceHandlers struct {
	out    io.Writer
	mu     sync.Mutex
	done   map[string]any // answers by key
	booked int            // requests that the carrier has had
}

func newTown(out io.Writer) *serviceHandlers {
	return &serviceHandlers{out: out, done: map[string]any{}}
}

// handler returns the handler of the requests.
func (t *serviceHandlers) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /charges", t.answer(t.charge))
	mux.HandleFunc("POST /refunds", t.answer(t.refund))
	mux.HandleFunc("POST /parcels", t.answer(t.book))
	mux.HandleFunc("POST /refills", t.answer(t.refill))
	return mux
}

// answer returns a handler for a function that returns a status and a body. The handler waits for 50 ms, so that a person can watch.
func (t *serviceHandlers) answer(do func(r request) (int, any)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		var r request
		if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 1<<10)).Decode(&r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		select {
		case <-req.Context().Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
		status, body := t.once(req.Header.Get("Idempotency-Key"), func() (int, any) { return do(r) })
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		// Ignore the error of a client that has closed the connection: it may repeat the request with the same key.
		_ = json.NewEncoder(w).Encode(body)
	}
}

// once carries out a request, or returns the answer to an earlier successful request with the same key.
func (t *serviceHandlers) once(key string, do func() (int, any)) (int, any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if body, ok := t.done[key]; ok {
		return http.StatusOK, body
	}
	status, body := do()
	if status == http.StatusOK && key != "" {
		t.done[key] = body
	}
	return status, body
}

func (t *serviceHandlers) charge(r request) (int, any) {
	if r.Cents > creditCents {
		return http.StatusPaymentRequired, "beyond the credit"
	}
	fmt.Fprintf(t.out, "the bank charges %s %s\n", r.Order, money(r.Cents))
	return http.StatusOK, map[string]any{"txn": "t-" + r.Order}
}

func (t *serviceHandlers) refund(r request) (int, any) {
	fmt.Fprintf(t.out, "the bank pays %s back %s\n", r.Order, money(r.Cents))
	return http.StatusOK, nil
}

// book fails for every third request, which the shop may repeat.
func (t *serviceHandlers) book(r request) (int, any) {
	if r.Item == "piano" {
		return http.StatusUnprocessableEntity, "a piano is not a parcel"
	}
	if t.booked++; t.booked%3 == 1 {
		return http.StatusServiceUnavailable, "the carrier is busy"
	}
	fmt.Fprintf(t.out, "the carrier takes %s of %s\n", r.Item, r.Order)
	return http.StatusOK, map[string]any{"parcel": "p-" + r.Order}
}

func (t *serviceHandlers) refill(r request) (int, any) {
	fmt.Fprintf(t.out, "the supplier sends %d × %s\n", r.Count, r.Item)
	return http.StatusOK, map[string]any{"count": r.Count}
}

func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }

// server serves a town.
type server struct {
	http *http.Server
	all  sync.WaitGroup
}

// openServices serves a new town.
func openServices(out io.Writer) (*server, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	s := &server{http: &http.Server{Handler: newTown(&syncWriter{to: out}).handler(), ReadHeaderTimeout: time.Second}}
	s.all.Go(func() { _ = s.http.Serve(l) }) // Serve returns an error when s is closed
	return s, nil
}

// close ends the server and the requests in progress.
func (s *server) close() error {
	err := s.http.Close()
	s.all.Wait()
	return err
}

// syncWriter is a writer that is safe for concurrent use.
type syncWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (l *syncWriter) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(line)
}
