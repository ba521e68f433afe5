package reactive

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/ledger"
)

// Aliases of types of package ledger, so that users of a Root need not import it.
type (
	// Status is the state of a step, map or decision. It is derived from plan and journal and never set by hand.
	Status = ledger.Status

	// Effect is the effect of an event.
	Effect = ledger.Effect

	// Request names a call to be made or cancelled.
	Request = ledger.Request

	// Match is a call that waits for a message, with the payload of that message.
	Match = ledger.Match

	// Change is a change of a node's status.
	Change = ledger.Change

	// TaskChange is a change of the state of a step's task.
	TaskChange = ledger.TaskChange

	// CallChange is the state of a call whose status has changed.
	CallChange = ledger.CallChange
)

// The statuses, see package ledger.
const (
	Absent    = ledger.Absent
	Idle      = ledger.Idle
	Waiting   = ledger.Waiting
	Ready     = ledger.Ready
	Running   = ledger.Running
	Completed = ledger.Completed
	Failed    = ledger.Failed
	Aborted   = ledger.Aborted
	Skipped   = ledger.Skipped
)

// The outcomes, see package ledger.
const (
	Applied   = ledger.Applied
	Duplicate = ledger.Duplicate
	Late      = ledger.Late
	Unbound   = ledger.Unbound
)

// Limits of reports.
const (
	ReportsMax     = 10_000   // reports of one call, repeated ones included
	ReportBytesMax = 64 << 10 // of one report's payload, encoded
)

// RequestName returns the public name of a request, for journals, interfaces and operations.
func RequestName(key string, attempt int32) string { return ledger.RequestName(key, attempt) }

// CallName returns the public name of a call: the name of its request, followed by the participant or by the number of the
// call to the step's decision source.
func CallName(key string, attempt int32, participant string, decision int32) string {
	return ledger.CallName(key, attempt, participant, decision)
}

// RunStatus is the status of a whole run.
type RunStatus string

// The run statuses. The last six are terminal.
const (
	RunRunning          RunStatus = "running"
	RunWaiting          RunStatus = "waiting" // only timers, messages or people can move it
	RunPaused           RunStatus = "paused"  // a person or program paused it
	RunCompleted        RunStatus = "completed"
	RunFailed           RunStatus = "failed"
	RunPartial          RunStatus = "partial" // of a playbook: some branches completed and some failed
	RunAborted          RunStatus = "aborted"
	RunDeadlineExceeded RunStatus = "deadline_exceeded"
	RunStepTimeout      RunStatus = "step_timeout"
)

// Terminal reports whether the run has ended.
func (s RunStatus) Terminal() bool {
	return s != RunRunning && s != RunWaiting && s != RunPaused
}

// Codes of failures of the engine itself.
const (
	CodeTimeout          = call.CodeTimeout
	CodeAborted          = call.CodeAborted
	CodeCancelled        = "cancelled"
	CodeInterrupted      = "interrupted"
	CodeInputResolution  = call.CodeInputResolution
	CodeOutputResolution = "output_resolution"
	CodeTest             = "test_error"
	CodeOver             = "over_error"
	CodeDeadline         = call.CodeDeadline
	CodeLimit            = "limit_exceeded"
	CodeInputTooLarge    = "input_too_large"
	CodeOutputTooLarge   = "output_too_large"
	CodeDependency       = "dependency_failed"
)
