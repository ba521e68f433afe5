package journal

import (
	"context"
	"fmt"
	"iter"

	"github.com/sluiceflow/sluice/template/value"
)

// Fields of the reference to a large value. The numbers are part of the stored format and are never reused.
const (
	largeKind      = 0
	largeBytes     = 1
	largeBeginning = 2
)

func appendLarge(w *encoder, l *value.Large) {
	w.key(eventLarge)
	outer := w.begin()
	w.text(largeKind, l.Kind)
	w.uint(largeBytes, uint64(l.Bytes))
	w.text(largeBeginning, l.Beginning)
	w.end(outer)
}

func (d *decoder) large() (l value.Large) {
	for key, n := -1, d.fields(); n > 0 && d.err == nil; n-- {
		key = d.key(key)
		switch key {
		case largeKind:
			l.Kind = d.text()
		case largeBytes:
			if l.Bytes = int(d.uint()); l.Bytes < 0 || l.Bytes > value.MaxSizeBytes {
				d.fail("a value of %d bytes", l.Bytes)
			}
		case largeBeginning:
			l.Beginning = d.text()
		default:
			d.unknown(key)
		}
	}
	return l
}

// leave sets the value of an event to its value.Large. large is nil if an earlier program wrote the event without a preview.
func leave(e *Event, hash []byte, large *value.Large) error {
	l := value.Large{}
	if large != nil {
		l = *large
	}
	if copy(l.Hash[:], hash) != len(l.Hash) || len(hash) != len(l.Hash) {
		return fmt.Errorf("%w: a hash of %d bytes", ErrDamaged, len(hash))
	}
	e.Value = l
	return nil
}

// IsLarge reports whether the value of an event is a value.Large, which Load replaces.
func IsLarge(e *Event) bool {
	_, ok := e.Value.(value.Large)
	return ok
}

// Load fetches the value of an event if it is a value.Large. Any other event is unchanged.
func (c *Codec) Load(e *Event) error {
	l, ok := e.Value.(value.Large)
	if !ok {
		return nil
	}
	if err := c.decodeValue(e, nil, l.Hash[:]); err != nil {
		return fmt.Errorf("value of event %d: %w", e.Seq, err)
	}
	return nil
}

// LeanStore is a Store that stores large values apart from their events and can read events without them. In any other store,
// reading a value costs nothing.
type LeanStore interface {
	Store

	// ReadLean is like Read, but the Value of an event with a large value is a value.Large, unless needs returns true for the
	// event. It calls needs after yielding the event before.
	ReadLean(ctx context.Context, stream string, from uint64, needs func(*Event) bool) iter.Seq2[Event, error]

	// TailLean is like Tail, but leaves large values like ReadLean.
	TailLean(ctx context.Context, stream string, from uint64, needs func(*Event) bool) iter.Seq2[Event, error]
}

// Beginnings returns false: it is a needs function for readers without large values.
func Beginnings(*Event) bool { return false }

// ReadLean calls ReadLean of a LeanStore, or Read of any other store.
func ReadLean(ctx context.Context, s Store, stream string, from uint64, needs func(*Event) bool) iter.Seq2[Event, error] {
	if lean, ok := s.(LeanStore); ok {
		return lean.ReadLean(ctx, stream, from, needs)
	}
	return s.Read(ctx, stream, from)
}

// TailLean calls TailLean of a LeanStore, or Tail of any other store.
func TailLean(ctx context.Context, s Store, stream string, from uint64, needs func(*Event) bool) iter.Seq2[Event, error] {
	if lean, ok := s.(LeanStore); ok {
		return lean.TailLean(ctx, stream, from, needs)
	}
	return s.Tail(ctx, stream, from)
}
