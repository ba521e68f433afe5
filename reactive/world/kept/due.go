package kept

import "fmt"

// The bounds at which a snapshot is due.
const (
	SnapshotEvents = 10_000   // events since the newest snapshot
	SnapshotBytes  = 16 << 20 // bytes of their values
)

// eventsShare is the divisor of the bound of events at which a snapshot is due: the world continues while it is written, and must
// not reach the bound before.
const eventsShare = 4

// leavingShare is the divisor of these bounds for a world that leaves memory, and leavingMin the minimum of events, because a
// snapshot adds its own event.
const (
	leavingShare = 40
	leavingMin   = 2
)

// Pace determines when a world's snapshots are due, and when messages must wait for the next snapshot.
type Pace struct {
	events uint64
	most   uint64 // events that the journal may have; 0: any number
}

// NewPace returns the pace of a world whose journal may have eventsMax events since the newest snapshot; 0: any number.
func NewPace(eventsMax int) Pace {
	if eventsMax <= 0 {
		return Pace{events: SnapshotEvents}
	}
	return Pace{events: uint64(min(SnapshotEvents, max(1, eventsMax/eventsShare))), most: uint64(eventsMax)}
}

// Room returns an error if no message may be taken after a number of events: the remaining events are for the consequences of
// earlier messages, until the next snapshot.
func (p Pace) Room(events uint64) error {
	if p.most == 0 || events < p.most-p.most/eventsShare {
		return nil
	}
	return fmt.Errorf("the journal has %d events since the newest snapshot and may have %d: "+
		"messages are taken again when the next snapshot is written", events, p.most)
}

// Due reports whether a snapshot is due after a number of events with a number of bytes of values. For a world that leaves
// memory, it is due earlier, because later events would have to be read again.
func (p Pace) Due(events uint64, bytes int, leaves bool) bool {
	if leaves {
		return events >= max(leavingMin, p.events/leavingShare) || bytes >= SnapshotBytes/leavingShare
	}
	return events >= p.events || bytes >= SnapshotBytes
}
