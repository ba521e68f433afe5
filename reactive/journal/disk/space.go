package disk

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/sluiceflow/sluice/reactive/journal/disk/records"
)

// refusals holds the reasons for which the store in a directory takes no more writes.
type refusals struct {
	dir      string
	log      *slog.Logger
	readOnly atomic.Pointer[error] // reason to take no writes; nil: none
	full     atomic.Pointer[error] // reason to take only removals: the disk is nearly full; nil: none
	failed   chan struct{}         // closed when readOnly is set
	stuck    context.Context       // ends when Pebble has failed to make a table, which it retries forever
	getStuck context.CancelFunc
	retrying sync.RWMutex // locked when nothing waits for the table any more
}

// watch refuses writes that add to the store if n more bytes would leave less free space than the reserve, and all writes if there is
// no room for removals either.
func (f *refusals) watch(space *records.Space, n int) error {
	removable, err := space.Low(uint64(n))
	if err != nil && removable {
		f.refuse(&f.full, err)
	} else if err != nil {
		f.turnReadOnly(err)
	}
	return err
}

// refuse records a reason, unless there is one. It reports whether this is the first.
func (f *refusals) refuse(why *atomic.Pointer[error], reason error) bool {
	first := why.CompareAndSwap(nil, &reason)
	if first {
		f.log.Error("the journal takes no more writes", "dir", f.dir, "reason", reason)
	}
	return first
}

// refusal returns the reason for which nothing can be added, or nil.
func (f *refusals) refusal() error {
	if reason := cmp.Or(f.readOnly.Load(), f.full.Load()); reason != nil {
		return *reason
	}
	return nil
}

// turnReadOnly makes all further writes fail with reason.
func (f *refusals) turnReadOnly(reason error) {
	if f.refuse(&f.readOnly, reason) {
		close(f.failed)
	}
}

// fail makes the store read-only because a write at a path failed: the state of the disk is unknown, and a retry could
// complete an append that was reported as failed. It returns the reason for which the store is read-only.
func (s *Store) fail(path string, cause error) error {
	s.turnReadOnly(s.explain(path, cause))
	s.shield.Raise()
	return *s.readOnly.Load()
}

// checkWritten returns an error if the last commit did not reach the files at their paths.
func (s *Store) checkWritten() error {
	gone := s.place.Gone()
	if s.shield.Raised() {
		return *s.readOnly.Load()
	} else if gone != nil {
		return s.fail(s.dir, gone)
	}
	return nil
}
