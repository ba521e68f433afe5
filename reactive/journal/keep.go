package journal

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"iter"
)

// Bounds of one PutContent.
const (
	ContentMaxBytes = 16 << 20 // one blob
	PutMaxBytes     = 32 << 20 // all blobs
	PutMaxBlobs     = 1 << 16
)

// ContentStore is a Store that also stores content of runs, and removes events that a snapshot replaces. It is optional:
// callers use a type assertion. TestContent of package journaltest tests it.
//
// Content is bytes under their SHA-256, separate for each stream. The stream must exist, that is, have an event: else every
// method returns ErrNotFound. The streams `def/…` and `blob/…` have no such content. All methods, and those of Store, may be
// called at the same time, also for one stream. They return ErrReadOnly and ErrClosed when Append does.
type ContentStore interface {
	Store

	// PutContent stores blobs under a stream; stored blobs may be put again. After PutContent has returned nil, Content returns them.
	// They become durable with the next Append to the stream: when a later Append, or Close, returns nil, they are as durable as its
	// events. A blob has 1 to ContentMaxBytes bytes, and there are at most PutMaxBlobs of PutMaxBytes in all; else PutContent stores
	// no blobs and returns ErrInvalid for an empty blob and ErrTooLarge otherwise. After any other error, some blobs may be stored.
	// PutContent keeps no reference to blobs.
	PutContent(ctx context.Context, stream string, blobs [][]byte) error

	// Content returns the bytes with a hash, which the caller may change. It returns ErrNotFound if there are none, and
	// ErrDamaged if the stored bytes have another hash.
	Content(ctx context.Context, stream string, hash Hash) ([]byte, error)

	// SweepContent deletes the content of a stream for which keep returns false. It spares the blobs of every PutContent that is
	// called after the first call of keep, whatever keep returns. So keep must cover all earlier calls of PutContent, returned or
	// not: a caller records hashes before it puts them, decides in the first call of keep which ones to keep, and need not block
	// other puts. SweepContent calls keep on the caller's goroutine, in order of the hashes; keep may use the store. Deleted content
	// may reappear after a crash. If SweepContent fails, it may have deleted a part.
	SweepContent(ctx context.Context, stream string, keep func(Hash) bool) error

	// Trim removes the events from 2 to before-1: reading one of them returns a *TrimmedError, which wraps ErrTrimmed, as does
	// a Tail that has fallen behind. Event 1 and the events from before on stay. before is at most the Snapshot of the stream's
	// head, else the error is ErrInvalid. Trimming again has no effect. A Read in progress returns either the events or
	// ErrTrimmed. Trimmed events may reappear after a crash.
	Trim(ctx context.Context, stream string, before uint64) error

	// AppendBehind is Append to a stream that has only event 1, as if the events from 2 to gap had been appended and trimmed: the
	// new events begin at gap+1. It is for journals from another store. The head must have a Snapshot behind the gap, else the
	// error is ErrInvalid. ErrConflict means that the stream does not have exactly event 1.
	AppendBehind(ctx context.Context, stream string, gap uint64, events []Event, head Head) (last uint64, err error)

	// Head returns the head of one run, like Heads. It returns ErrNotFound if the stream has no head.
	Head(ctx context.Context, stream string) (Head, error)
}

// TrimmedError is the error of reading a trimmed event. It wraps ErrTrimmed.
type TrimmedError struct {
	First uint64 // sequence of the first event behind the gap
}

// Error implements error.
func (e *TrimmedError) Error() string {
	return e.Gap() + " have been trimmed"
}

// Gap returns the range of trimmed events, such as "events 2 to 70".
func (e *TrimmedError) Gap() string { return fmt.Sprintf("events 2 to %d", e.First-1) }

// Unwrap returns ErrTrimmed.
func (e *TrimmedError) Unwrap() error { return ErrTrimmed }

// Source reads streams like a Store.
type Source interface {
	// Read is that of Store.
	Read(ctx context.Context, stream string, from uint64) iter.Seq2[Event, error]
}

// Remaining is Read without the trimmed events: it continues behind the gap.
func Remaining(ctx context.Context, s Source, stream string, from uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			var gap *TrimmedError
			for e, err := range s.Read(ctx, stream, from) {
				if errors.As(err, &gap) {
					break
				}
				if !yield(e, err) || err != nil {
					return
				}
			}
			if gap == nil {
				return
			}
			from = gap.First
		}
	}
}

// CheckContent returns the hashes of blobs, or an error for a PutContent that no store accepts. Stores call it first.
func CheckContent(stream string, blobs [][]byte) ([]Hash, error) {
	if IsContent(stream) {
		return nil, fmt.Errorf("%w to %q: it keeps no content but its event", ErrInvalid, stream)
	}
	if len(blobs) > PutMaxBlobs {
		return nil, fmt.Errorf("%w: %d blobs at once, and %d are the most", ErrTooLarge, len(blobs), PutMaxBlobs)
	}
	total := 0
	for i, blob := range blobs {
		if len(blob) == 0 {
			return nil, fmt.Errorf("%w to %q: blob %d is empty", ErrInvalid, stream, i)
		}
		if len(blob) > ContentMaxBytes {
			return nil, fmt.Errorf("%w: blob %d has %d bytes, and %d are the most", ErrTooLarge, i, len(blob), ContentMaxBytes)
		}
		if total += len(blob); total > PutMaxBytes {
			return nil, fmt.Errorf("%w: more than %d bytes of blobs at once", ErrTooLarge, PutMaxBytes)
		}
	}
	hashes := make([]Hash, len(blobs))
	for i, blob := range blobs {
		hashes[i] = sha256.Sum256(blob)
	}
	return hashes, nil
}

// CheckTrim returns an error for a Trim beyond the newest snapshot in the head of the stream.
func CheckTrim(head *Head, before uint64) error {
	if before > head.Snapshot {
		return fmt.Errorf("%w: events before %d are still needed, since the newest snapshot is event %d", ErrInvalid, before, head.Snapshot)
	}
	return nil
}

// CheckAppendBehind returns an error for an AppendBehind that no store accepts, besides those of CheckAppend; stores call it first.
func CheckAppendBehind(gap uint64, events []Event, head *Head) error {
	switch {
	case gap < 2:
		return fmt.Errorf("%w: there is no gap between event 1 and event %d", ErrInvalid, gap+1)
	case len(events) == 0:
		return fmt.Errorf("%w: no events behind the gap", ErrInvalid)
	}
	return CheckTrim(head, gap+1)
}
