package disk

import "sync/atomic"

// watchSpace stops writes that add to the store if fewer bytes are free than are kept in reserve, or would be after n more, and everything
// if there is no room for removals either.
func watchSpace(s *Store, n int) error {
	removable, err := s.space.Low(uint64(n))
	switch {
	case err == nil:
	case removable:
		stop(s, &s.full, err)
	default:
		s.turnReadOnly(err)
	}
	return err
}

// stop records why the store takes no more writes, or none that add to it. The first reason stays. It reports whether this is the first.
func stop(s *Store, why *atomic.Pointer[error], reason error) bool {
	first := why.CompareAndSwap(nil, &reason)
	if first {
		s.log.Error("the journal takes no more writes", "dir", s.dir, "reason", reason)
	}
	return first
}

// refusal returns why nothing can be added; nil: it can.
func refusal(s *Store) error {
	for _, reason := range []*error{s.readOnly.Load(), s.full.Load()} {
		if reason != nil {
			return *reason
		}
	}
	return nil
}

// turnReadOnly makes all further writes fail with reason.
func (s *Store) turnReadOnly(reason error) {
	if stop(s, &s.readOnly, reason) {
		close(s.failed)
	}
}

// fail makes the store read-only because a write at a path failed: the state of the disk is unknown, and a retry could
// complete an append that was reported as failed. It returns why the store is read-only.
func (s *Store) fail(path string, cause error) error {
	s.turnReadOnly(s.explain(path, cause))
	s.shield.Raise()
	return *s.readOnly.Load()
}

// stood returns an error if the last commit did not reach the files at their paths.
func (s *Store) stood() error {
	gone := s.place.Gone()
	if s.shield.Raised() {
		return *s.readOnly.Load()
	} else if gone != nil {
		return s.fail(s.dir, gone)
	}
	return nil
}
