// Package gap reports the events that are missing in an answer because they were trimmed.
package gap

import "github.com/sluiceflow/sluice/reactive/journal"

// A Gap finds the events that are missing at the beginning of an answer.
type Gap struct {
	next  uint64 // the sequence of the next event, if none is left out
	from  uint64 // first of the requested events
	first uint64 // the sequence of the first event behind the gap; 0: none was left out
	tell  func(text string) error
}

// New returns the gap of an answer that reads the events from sequence read on. It passes a text about the missing ones, from sequence
// from on, to tell.
func New(read, from uint64, tell func(text string) error) *Gap {
	return &Gap{next: max(1, read), from: max(1, from), tell: tell}
}

// First returns the sequence of the first event behind the gap, or 0 if none was left out.
func (g *Gap) First() uint64 { return g.first }

// Before reports the events that are missing before an event.
func (g *Gap) Before(seq uint64) error {
	missing := seq > g.next
	if g.next = seq + 1; !missing {
		return nil
	}
	g.first = seq
	if g.from >= seq {
		return nil
	}
	return g.tell((&journal.TrimmedError{First: seq}).Gap() + " have been trimmed")
}
