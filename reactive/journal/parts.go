package journal

import (
	"context"
	"errors"
)

// ErrPartly means that only a part of a batch is stored, because the rest could not be appended.
var ErrPartly = errors.New("journal: only a part of the batch is stored")

// AppendParts is Append for a batch that may be too large for the store. It then halves the batch until the store accepts each part;
// all parts except the last have the head meanwhile. It returns the last sequence. If some but not all parts could be stored, the
// error wraps ErrPartly. It does not divide the first append of a rerun: with only a part of its kept results, the rerun would make
// unwanted calls.
func AppendParts(ctx context.Context, s Store, stream string, after uint64, events []Event, head, meanwhile Head) (uint64, error) {
	last, err := s.Append(ctx, stream, after, events, head)
	if len(events) < 2 || after == 0 && begins(&events[0]) || !errors.Is(err, ErrTooLarge) {
		return last, err
	}
	half := len(events) / 2
	last, err = AppendParts(ctx, s, stream, after, events[:half], meanwhile, meanwhile)
	if err != nil {
		return last, err
	}
	last, err = AppendParts(ctx, s, stream, last, events[half:], head, meanwhile)
	if err != nil {
		return last, errors.Join(ErrPartly, err)
	}
	return last, nil
}

// begins reports whether an event begins a rerun.
func begins(e *Event) bool {
	return e.Type == RunStarted && e.Detail != nil && e.Detail.Start != nil && e.Detail.Start.From != nil
}
