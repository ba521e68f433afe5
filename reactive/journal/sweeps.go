package journal

import "sync"

// Sweeps tells a store which content must survive a sweep because it is put at the same time. A store calls Begin when
// SweepContent is called, and Put when PutContent is; it asks Spares at a moment at which nothing is put, and deletes the
// content before anything is. The zero Sweeps is ready to use. It is safe for concurrent use.
//
//	SweepContent  ──┤ Begin ──────────── Spares: h1 yes, h2 yes, h3 yes; delete the rest ── End ├──
//	PutContent  ──┤ h1 ├────┤ h2 ├────────┤ h3 ├────
type Sweeps struct {
	mu     sync.Mutex
	puts   map[*putting]struct{}
	sweeps map[*Sweep]struct{}
}

// putting is a PutContent under way.
type putting struct {
	stream string
	hashes []Hash
}

// Sweep is a SweepContent under way.
type Sweep struct {
	all    *Sweeps
	stream string
	put    map[Hash]struct{} // since it began
}

// Put notes that content is being put under a stream. The caller calls done before PutContent returns, not earlier than the
// content is there.
func (s *Sweeps) Put(stream string, hashes []Hash) (done func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &putting{stream, hashes}
	if s.puts == nil {
		s.puts = map[*putting]struct{}{}
	}
	s.puts[p] = struct{}{}
	for w := range s.sweeps {
		w.add(p)
	}
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.puts, p)
	}
}

// Begin begins a sweep, which End ends.
func (s *Sweeps) Begin(stream string) *Sweep {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &Sweep{all: s, stream: stream, put: map[Hash]struct{}{}}
	if s.sweeps == nil {
		s.sweeps = map[*Sweep]struct{}{}
	}
	s.sweeps[w] = struct{}{}
	for p := range s.puts {
		w.add(p)
	}
	return w
}

func (w *Sweep) add(p *putting) {
	if p.stream != w.stream {
		return
	}
	for _, hash := range p.hashes {
		w.put[hash] = struct{}{}
	}
}

// Spares reports whether content was put since the sweep began.
func (w *Sweep) Spares(hash Hash) bool {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	_, ok := w.put[hash]
	return ok
}

// End ends the sweep.
func (w *Sweep) End() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	delete(w.all.sweeps, w)
}
