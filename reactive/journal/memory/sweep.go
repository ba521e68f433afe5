package memory

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// references are the content streams that are appended or referred to during a sweep.
type references struct {
	turn sync.Mutex // held by SweepStreams
	on   atomic.Bool

	mu    sync.RWMutex // held for reading by appends that refer to content, for writing while content is deleted
	names sync.Map     // since the sweep began
}

// refer notes the content to which events refer, and prevents its deletion until done is called, after the events are stored. Most
// events refer to nothing, and cost nothing.
func (s *Store) refer(name string, events []journal.Event) (done func()) {
	var names []string
	if journal.IsContent(name) {
		names = append(names, name)
	}
	for i := range events {
		names = append(names, journal.Definitions(&events[i])...)
	}
	if len(names) == 0 {
		return func() {}
	}
	s.refers.mu.RLock()
	for _, name := range names {
		if s.refers.on.Load() {
			s.refers.names.Store(name, true)
		}
	}
	return s.refers.mu.RUnlock
}

// Size implements journal.Store. It counts events and content, but not the sizes of values.
func (s *Store) Size(ctx context.Context, name string) (int64, error) {
	if err := s.usable(ctx); err != nil {
		return 0, fmt.Errorf("size of %s: %w", name, err)
	}
	st, ok := s.streams.Load(name)
	if !ok {
		return 0, nil
	}
	return st.(*stream).size(), nil
}

func (s *stream) size() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	bytes := int64(s.log.last) * int64(unsafe.Sizeof(journal.Event{}))
	for _, blob := range s.content {
		bytes += int64(len(blob))
	}
	return bytes
}

// SweepStreams implements journal.Store. The names of the streams stay in memory.
func (s *Store) SweepStreams(ctx context.Context, w *journal.StreamSweep) error {
	s.refers.turn.Lock()
	defer s.refers.turn.Unlock()
	s.watch(true)
	defer s.watch(false)
	left, err := s.unreferred(ctx, w)
	for _, name := range left {
		if err == nil {
			err = w.Rest(ctx)
		}
		if err == nil {
			s.drop(name, w)
		}
	}
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return nil
}

// watch begins or ends the noting of references, while no append is in progress.
func (s *Store) watch(on bool) {
	s.refers.mu.Lock()
	defer s.refers.mu.Unlock()
	s.refers.on.Store(on)
	s.refers.names.Clear()
}

// unreferred returns the content to which no event refers, and deletes tombstones of free ids.
func (s *Store) unreferred(ctx context.Context, w *journal.StreamSweep) ([]string, error) {
	content, referred := map[string]bool{}, map[string]bool{}
	var err error
	s.streams.Range(func(key, st any) bool {
		name, log := key.(string), st.(*stream).expire(w)
		if err = s.usable(ctx); err == nil {
			err = w.Rest(ctx)
		}
		if journal.IsContent(name) && log.last > 0 {
			content[name] = true
		} else if log.deleted == nil && w.Counts(name) {
			s.yield(ctx, name, log, 1, func(e journal.Event, _ error) bool {
				for _, of := range journal.Definitions(&e) {
					referred[of] = true
				}
				return true
			})
		}
		return err == nil
	})
	maps.DeleteFunc(content, func(name string, _ bool) bool { return referred[name] })
	return slices.Sorted(maps.Keys(content)), err
}

// expire deletes the tombstone if the id is free, and returns the log.
func (s *stream) expire(w *journal.StreamSweep) log {
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone := s.log.deleted; gone != nil && gone.Free(w.Now) && !w.Dry {
		s.log = log{}
	}
	return s.log
}

// drop deletes content, unless it was referred to since the sweep began.
func (s *Store) drop(name string, w *journal.StreamSweep) {
	s.refers.mu.Lock()
	defer s.refers.mu.Unlock()
	if _, noted := s.refers.names.Load(name); noted || w.Spares(name) {
		return
	}
	st := s.stream(name)
	bytes := st.size()
	if !w.Dry {
		st.mu.Lock()
		st.log = log{}
		st.mu.Unlock()
	}
	w.Tell(name, bytes)
}
