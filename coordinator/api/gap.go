package api

import "github.com/sluiceflow/sluice/reactive/journal"

// gap tells which events an answer leaves out because they are trimmed.
type gap struct {
	next  uint64 // the sequence of the next event, if none is left out
	from  uint64 // what was asked for begins there
	first uint64 // the sequence of the first event behind the gap; 0: none was left out
	emit  func(*Reply) error
}

// newGap returns the gap of an answer that reads the events from one on, and tells of those from another on.
func newGap(read, from uint64, emit func(*Reply) error) *gap {
	return &gap{next: max(1, read), from: max(1, from), emit: emit}
}

// before emits what is left out before an event.
func (g *gap) before(seq uint64) error {
	missing := seq > g.next
	if g.next = seq + 1; !missing {
		return nil
	}
	g.first = seq
	if g.from >= seq {
		return nil
	}
	return g.emit(&Reply{Trimmed: (&journal.TrimmedError{First: seq}).Gap() + " have been trimmed"})
}
