package journal

import (
	"context"
	"sync"
)

// Sweeps records content that is put during a sweep and must survive it. A store calls Begin before it first calls keep, and
// Put before it writes the content of PutContent. It calls Spares and deletes content without any write in between. The zero
// Sweeps is ready to use. It is safe for concurrent use.
//
//	SweepContent  ──┤ Begin ─ keep ─ keep ──── Spares: h1 yes, h2 no; delete the rest ── End ├──
//	PutContent  ─┤ h2 ├────┤ h1 ├────────
type Sweeps struct {
	mu     sync.Mutex
	sweeps map[*Sweep]struct{}
}

// Sweep is a SweepContent in progress.
type Sweep struct {
	all    *Sweeps
	stream string
	put    map[Hash]struct{} // since it began
}

// Put records that content is about to be written under a stream.
func (s *Sweeps) Put(stream string, hashes []Hash) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.sweeps {
		w.add(stream, hashes)
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
	return w
}

func (w *Sweep) add(stream string, hashes []Hash) {
	if stream != w.stream {
		return
	}
	for _, hash := range hashes {
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

// StreamSweep selects the streams that SweepStreams deletes. The functions may be nil.
type StreamSweep struct {
	Now int64 // Unix nanoseconds: tombstones of ids that are free at this instant are deleted
	Dry bool  // nothing is deleted: Found is called with the streams to delete

	Gone  func(run string) bool            // runs whose events are ignored, as if deleted
	Keep  func(stream string) bool         // content to keep; called before a deletion, while nothing is appended; must not use the store
	Pause func(ctx context.Context) error  // called between slices of work of some milliseconds; its error ends the sweep
	Found func(stream string, bytes int64) // called with each deleted stream, except tombstones
}

// Rest calls Pause, and returns an error if the sweep must end.
func (s *StreamSweep) Rest(ctx context.Context) error {
	if err := ctx.Err(); err != nil || s.Pause == nil {
		return err
	}
	return s.Pause(ctx)
}

// Counts reports whether references in a stream count: it is neither content nor a run for which Gone returns true.
func (s *StreamSweep) Counts(stream string) bool {
	return !IsContent(stream) && (s.Gone == nil || !s.Gone(stream))
}

// Spares reports whether Keep returns true for content to which no event refers.
func (s *StreamSweep) Spares(stream string) bool { return s.Keep != nil && s.Keep(stream) }

// Tell calls Found with a deleted stream.
func (s *StreamSweep) Tell(stream string, bytes int64) {
	if s.Found != nil {
		s.Found(stream, bytes)
	}
}
