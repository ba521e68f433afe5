package kept

import "fmt"

// When a snapshot is due.
const (
	SnapshotEvents = 10_000   // events since the newest
	SnapshotBytes  = 16 << 20 // of their values
)

// eventsShare is the share of the events that a journal may have at which a snapshot is due: the world goes on beside it, and must
// not be closed before the snapshot counts.
const eventsShare = 4

// leavingShare is the share of that at which a world has a snapshot before it leaves memory, and leavingMin the events at least: a
// snapshot is followed by its own event.
const (
	leavingShare = 40
	leavingMin   = 2
)

// Pace says when a world's snapshots are due, and when no message is taken before the next.
type Pace struct {
	events uint64
	most   uint64 // events that the journal may have; 0: any number
}

// NewPace returns the pace of a world whose journal may have so many events since the newest snapshot; 0: any number.
func NewPace(eventsMax int) Pace {
	if eventsMax <= 0 {
		return Pace{events: SnapshotEvents}
	}
	return Pace{events: uint64(min(SnapshotEvents, max(1, eventsMax/eventsShare))), most: uint64(eventsMax)}
}

// Room returns why no message is taken after so many events: those that are left are for the consequences of the messages that were
// taken, until the next snapshot counts.
func (p Pace) Room(events uint64) error {
	if p.most == 0 || events < p.most-p.most/eventsShare {
		return nil
	}
	return fmt.Errorf("the journal has %d events since the newest snapshot and may have %d: "+
		"messages are taken again when the next snapshot is written", events, p.most)
}

// Due reports whether a snapshot is due after so many events, whose values take so many bytes. A world that leaves memory has one
// earlier: the rest would be read again when it comes back.
func (p Pace) Due(events uint64, bytes int, leaves bool) bool {
	if leaves {
		return events >= max(leavingMin, p.events/leavingShare) || bytes >= SnapshotBytes/leavingShare
	}
	return events >= p.events || bytes >= SnapshotBytes
}
