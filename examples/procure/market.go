package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/sluiceflow/sluice/template"
)

// provider answers requests for quotes: with its price after a delay, or with an error if it has none.
type provider struct {
	name  string
	price int // price of one item, in cents; 0: the provider fails
	delay time.Duration
}

// providers holds the providers of the example: one is fast, one is cheap, one fails.
var providers = []provider{
	{name: "hill", price: 4100, delay: 50 * time.Millisecond},
	{name: "river", price: 3700, delay: 250 * time.Millisecond},
	{name: "harbor", delay: 100 * time.Millisecond},
}

// ServeHTTP answers one request for a quote.
func (p provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
		return
	case <-time.After(p.delay):
	}
	if p.price == 0 {
		http.Error(w, "out of order", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	// Ignore the error of a client that has closed the connection: it may repeat the request with the same key.
	_ = json.NewEncoder(w).Encode(Quote{Provider: p.name, Price: p.price})
}

// kitchen receives notes, and prints them.
type kitchen struct{ out io.Writer }

func (k kitchen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	note, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<10))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintf(k.out, "note to the kitchen: %s\n", note)
	w.WriteHeader(http.StatusNoContent)
}

// market holds the servers that a run calls, on loopback ports that the system has chosen.
type market struct {
	servers   []*http.Server
	endpoints map[string]string // by participant
	all       sync.WaitGroup
}

// openMarket starts the servers.
func openMarket(providers []provider, out io.Writer) (*market, error) {
	participants := map[string]http.Handler{"kitchen": kitchen{out}}
	for _, p := range providers {
		participants[p.name] = p
	}
	m := &market{endpoints: map[string]string{}}
	for _, name := range slices.Sorted(maps.Keys(participants)) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, m.close())
		}
		s := &http.Server{Handler: participants[name], ReadHeaderTimeout: time.Second}
		m.servers = append(m.servers, s)
		m.endpoints[name] = "http://" + l.Addr().String()
		m.all.Go(func() { _ = s.Serve(l) }) // Serve returns an error when s is closed
	}
	return m, nil
}

// close ends the servers and their requests in progress.
func (m *market) close() error {
	var errs []error
	for _, s := range m.servers {
		errs = append(errs, s.Close())
	}
	m.all.Wait()
	return errors.Join(errs...)
}

// directory returns the workflow's directory, with the endpoints of the servers.
func (m *market) directory() *template.Directory {
	d := contacts
	d.Participants = make(map[string]any, len(m.endpoints))
	for name, endpoint := range m.endpoints {
		d.Participants[name] = map[string]any{"endpoint": endpoint}
	}
	return &d
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
