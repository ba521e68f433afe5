package kept

// When a snapshot is due.
const (
	SnapshotEvents = 10_000   // events since the newest
	SnapshotBytes  = 16 << 20 // of their values
)

// eventsShare is the share of the events that a journal may have at which a snapshot is due: the world goes on beside it, and must
// not be closed before the snapshot counts.
const eventsShare = 4

// Pace says when a world's snapshots are due.
type Pace struct{ events uint64 }

// NewPace returns the pace of a world whose journal may have so many events since the newest snapshot; 0: any number.
func NewPace(eventsMax int) Pace {
	if eventsMax <= 0 {
		return Pace{SnapshotEvents}
	}
	return Pace{uint64(min(SnapshotEvents, max(1, eventsMax/eventsShare)))}
}

// Due reports whether a snapshot is due after so many events, whose values take so many bytes.
func (p Pace) Due(events uint64, bytes int) bool { return events >= p.events || bytes >= SnapshotBytes }
