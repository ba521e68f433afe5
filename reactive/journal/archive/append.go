package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Appender copies the journal of a run from another store, also a journal with a gap behind event 1.
type Appender struct {
	store journal.Store
	run   string
	at    uint64 // sequence of the last event
}

// NewAppender returns an Appender for a run. The store has its events up to sequence at; 0: none.
func NewAppender(store journal.Store, run string, at uint64) *Appender {
	return &Appender{store, run, at}
}

// Append appends the next events, with their original sequences, and replaces the head. If the events are too many for the store at
// once, the head is meanwhile until all are appended.
func (a *Appender) Append(ctx context.Context, events []journal.Event, head, meanwhile journal.Head) (err error) {
	if len(events) > 1 && a.at == 0 && events[1].Seq > 2 {
		if a.at, err = a.store.Append(ctx, a.run, 0, events[:1], meanwhile); err != nil {
			return err
		}
		events = events[1:]
	}
	if len(events) > 0 && a.at == 1 && events[0].Seq > 2 {
		keeper, ok := a.store.(journal.ContentStore)
		if !ok {
			return errors.New("the store keeps no content, and so no journal with a gap")
		}
		// One event alone, since all may be more than a store takes at once.
		if a.at, err = keeper.AppendBehind(ctx, a.run, events[0].Seq-1, events[:1], meanwhile); err != nil {
			return err
		}
		events = events[1:]
	}
	if len(events) > 0 && events[0].Seq != a.at+1 {
		return fmt.Errorf("%w to %q: event %d after event %d", journal.ErrInvalid, a.run, events[0].Seq, a.at)
	}
	a.at, err = journal.AppendParts(ctx, a.store, a.run, a.at, events, head, meanwhile)
	return err
}

// GiveUp ends a possibly incomplete run at an instant by replacing only its head: no engine continues it, and it can be deleted.
func GiveUp(ctx context.Context, store journal.Store, head journal.Head, status string, at int64) error {
	head.Open, head.Status, head.Ended, head.Due, head.Waits = false, status, at, 0, nil
	_, err := store.Append(ctx, head.Run, head.Last, nil, head)
	return err
}
