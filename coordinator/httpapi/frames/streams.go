package frames

import (
	"fmt"
	"sync"
)

// Streams counts open feeds. It is safe for concurrent use.
type Streams struct {
	max, each int

	mu  sync.Mutex
	all int
	of  map[string]int // by client
}

// Limit returns a count of at most so many in all, and of each client.
func Limit(max, each int) *Streams { return &Streams{max: max, each: each, of: map[string]int{}} }

// Enter counts a stream of a client, or returns the reason for refusing it. Leave must be called at its end.
func (s *Streams) Enter(client string) (leave func(), refused string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[client] >= s.each:
		return nil, fmt.Sprintf("a client has at most %d streams at the same time", s.each)
	case s.all >= s.max:
		return nil, fmt.Sprintf("the server has at most %d streams at the same time", s.max)
	}
	s.all++
	s.of[client]++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.of[client]--; s.of[client] == 0 {
			delete(s.of, client)
		}
	}, ""
}

// Count returns the number of open streams.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}
