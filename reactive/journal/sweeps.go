package journal

import (
	"context"
	"sync"
)

// Sweeps records the content that must survive a sweep because it is put at the same time. A store calls Begin before it
// first calls keep, and Put before it writes the content of PutContent; it asks Spares at a moment at which nothing is written,
// and deletes the content before anything is. The zero Sweeps is ready to use. It is safe for concurrent use.
//
//	SweepContent  ──┤ Begin ─ keep ─ keep ──── Spares: h1 yes, h2 no; delete the rest ── End ├──
//	PutContent  ─┤ h2 ├────┤ h1 ├────────
type Sweeps struct {
	mu     sync.Mutex
	sweeps map[*Sweep]struct{}
}

// Sweep is a SweepContent under way.
type Sweep struct {
	all    *Sweeps
	stream string
	put    map[Hash]struct{} // since it began
}

// Put notes that content is about to be written under a stream.
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
	Now int64 // tombstones of ids that are free then are deleted, Unix nanoseconds
	Dry bool  // nothing is deleted: Found is called with the streams that would be

	Gone  func(run string) bool            // runs whose events do not count, as if they were deleted
	Keep  func(stream string) bool         // content that stays anyhow; called when it is about to be deleted, while nothing is appended, and must not use the store
	Pause func(ctx context.Context) error  // called between two slices of the work, each of some milliseconds; its error ends the sweep
	Found func(stream string, bytes int64) // called with each stream that was deleted; not with tombstones
}

// Rest calls Pause, and returns an error if the sweep must end.
func (s *StreamSweep) Rest(ctx context.Context) error {
	if err := ctx.Err(); err != nil || s.Pause == nil {
		return err
	}
	return s.Pause(ctx)
}

// Counts reports whether the events of a stream count: it is no content, and no run that is gone.
func (s *StreamSweep) Counts(stream string) bool {
	return !IsContent(stream) && (s.Gone == nil || !s.Gone(stream))
}

// Spares reports whether content stays though no event refers to it.
func (s *StreamSweep) Spares(stream string) bool { return s.Keep != nil && s.Keep(stream) }

// Tell reports a stream that was deleted.
func (s *StreamSweep) Tell(stream string, bytes int64) {
	if s.Found != nil {
		s.Found(stream, bytes)
	}
}
