package journal

import (
	"time"
)

// Tombstone is the record of a deleted run.
type Tombstone struct {
	At    int64 // instant of the deletion, Unix nanoseconds
	Until int64 // instant from which its id is free again, Unix nanoseconds; 0: never
}

// DeletedError is the error of using the id of a deleted run. It wraps ErrDeleted.
type DeletedError struct{ Tombstone }

// Error implements error.
func (e *DeletedError) Error() string {
	text := "the run was deleted"
	if e.At != 0 {
		text += " on " + instantText(e.At)
	}
	if e.Until == 0 {
		return text + ", and its id is never free again"
	}
	return text + ", and its id is free from " + instantText(e.Until) + " on"
}

func instantText(at int64) string {
	return time.Unix(0, at).UTC().Format("2006-01-02 15:04:05 UTC")
}

// Unwrap returns ErrDeleted.
func (e *DeletedError) Unwrap() error { return ErrDeleted }

// Free reports whether the id is free at an instant.
func (t *Tombstone) Free(now int64) bool { return t.Until != 0 && now >= t.Until }

// Begins reports whether an append begins the stream again: its first event was decided when the id was free.
func (t *Tombstone) Begins(after uint64, events []Event) bool {
	return after == 0 && len(events) > 0 && t.Free(events[0].At)
}
