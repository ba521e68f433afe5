package ledger

// Status is the state of a step, map or decision. It is derived from plan and journal and never set by hand.
type Status uint8

// The statuses, in the order of a step's life. Absent is the status of an item that does not exist.
const (
	Absent    Status = iota
	Idle             // no predecessor has moved
	Waiting          // a predecessor has moved, or it waits for a slot
	Ready            // may start; holds its slots
	Running          // requested, not yet answered
	Completed        // answered
	Failed           // returned an error; with a retry pending it is not final
	Aborted          // stopped, or a node that it needs has failed
	Skipped          // the branch was not taken, or its timing skips it
)

var statusNames = [...]string{"absent", "idle", "waiting", "ready", "running", "completed", "failed", "aborted", "skipped"}

func (s Status) String() string { return statusNames[s] }

// Terminal reports whether only a new attempt can change s. A failed step with a pending retry is not final: see Ledger.Final.
func (s Status) Terminal() bool { return s >= Completed }
