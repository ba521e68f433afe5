package ledger

// Status is the state of a step, map or decision. It is derived from plan and journal and never set by hand.
type Status uint8

// The statuses, in the order of a step's life. Absent is an item of a map that has not been expanded that far.
const (
	Absent    Status = iota
	Idle             // nothing before it has moved
	Waiting          // something before it has moved, or it waits for a slot
	Ready            // may start; holds its slots
	Running          // requested and not answered
	Completed        // answered
	Failed           // returned an error; with a retry pending it is not final
	Aborted          // stopped, or something it needs has failed
	Skipped          // the branch was not taken, or its timing says so
)

var statusNames = [...]string{"absent", "idle", "waiting", "ready", "running", "completed", "failed", "aborted", "skipped"}

func (s Status) String() string { return statusNames[s] }

// Terminal reports whether only a new attempt can change s. A Failed step whose retry is pending is not finished all
// the same: see Root.Final.
func (s Status) Terminal() bool { return s >= Completed }
