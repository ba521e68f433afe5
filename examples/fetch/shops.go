package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// shops is an HTTP server on loopback with a few pages of orders for every shop. It answers every third request with status 429.
type shops struct {
	server *http.Server
	url    string
	pages  map[string]int

	mu       sync.Mutex
	requests int
	served   sync.WaitGroup
}

const perPage = 5

// openShops starts the server.
func openShops(pages map[string]int) (*shops, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &shops{url: "http://" + listener.Addr().String(), pages: pages}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{shop}/orders", s.orders)
	s.server = &http.Server{Handler: mux}
	s.served.Go(func() { _ = s.server.Serve(listener) })
	return s, nil
}

func (s *shops) close() error {
	err := s.server.Close()
	s.served.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// orders answers with one page.
func (s *shops) orders(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests++
	busy := s.requests%3 == 0
	s.mu.Unlock()
	shop := r.PathValue("shop")
	page, err := strconv.Atoi(r.URL.Query().Get("page"))
	switch {
	case busy:
		http.Error(w, "slow down", http.StatusTooManyRequests)
		return
	case s.pages[shop] == 0 || err != nil || page < 1 || page > s.pages[shop]:
		http.Error(w, "no such page", http.StatusNotFound)
		return
	}
	orders := make([]string, perPage)
	for i := range orders {
		orders[i] = fmt.Sprintf("%s-%d", shop, (page-1)*perPage+i+1)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"orders": orders, "more": page < s.pages[shop]})
}
