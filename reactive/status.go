package reactive

import "github.com/sluiceflow/sluice/reactive/call"

// Status is where a step, map or decision stands. It is derived from plan and journal and never set by hand.
type Status uint8

// The statuses, in the order of a step's life. Absent is an item of a map that has not been expanded that far.
const (
	Absent    Status = iota
	Idle             // nothing before it has moved
	Waiting          // something before it has moved, or it waits for a slot
	Ready            // may start; holds its slots
	Running          // requested and not answered
	Completed        // answered
	Failed           // gave an error; with a retry pending it is not final
	Aborted          // stopped, or something it needs has failed
	Skipped          // the branch was not taken, or its timing says so
)

var statusNames = [...]string{"absent", "idle", "waiting", "ready", "running", "completed", "failed", "aborted", "skipped"}

func (s Status) String() string { return statusNames[s] }

// Terminal reports whether only a new attempt can change s. A Failed step whose retry is pending is not finished all
// the same: see Root.Final.
func (s Status) Terminal() bool { return s >= Completed }

// RunStatus is where a whole run stands.
type RunStatus string

// The run statuses. The last six are terminal.
const (
	RunRunning          RunStatus = "running"
	RunWaiting          RunStatus = "waiting" // only timers, messages or people can move it
	RunPaused           RunStatus = "paused"  // somebody stopped it
	RunCompleted        RunStatus = "completed"
	RunFailed           RunStatus = "failed"
	RunPartial          RunStatus = "partial" // of a playbook: some branches completed, some failed
	RunAborted          RunStatus = "aborted"
	RunDeadlineExceeded RunStatus = "deadline_exceeded"
	RunStepTimeout      RunStatus = "step_timeout"
)

// Terminal reports whether the run has ended.
func (s RunStatus) Terminal() bool {
	return s != RunRunning && s != RunWaiting && s != RunPaused
}

// Codes of failures that the engine itself gives.
const (
	CodeTimeout          = call.CodeTimeout
	CodeAborted          = "aborted"
	CodeCancelled        = "cancelled"
	CodeInterrupted      = "interrupted"
	CodeInputResolution  = "input_resolution"
	CodeOutputResolution = "output_resolution"
	CodeTest             = "test_error"
	CodeOver             = "over_error"
	CodeDeadline         = "deadline_exceeded"
	CodeLimit            = "limit_exceeded"
	CodeInputTooLarge    = "input_too_large"
	CodeOutputTooLarge   = "output_too_large"
	CodeDependency       = "dependency_failed"
)
