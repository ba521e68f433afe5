package coordinator

import (
	"github.com/sluiceflow/sluice/coordinator/reader"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/reactive/routed"
)

// Types of the data that Run and Engine return: see packages inspect and reader.
type (
	Result         = inspect.Result
	State          = inspect.State
	StepState      = inspect.StepState
	Routed         = inspect.Routed
	Update         = inspect.Update
	StepChange     = inspect.StepChange
	TaskChange     = inspect.TaskChange
	LoopChange     = routed.LoopChange
	Marking        = routed.Marking
	MapCount       = inspect.MapCount
	Explanation    = explain.Explanation
	Reason         = explain.Reason
	DecidingEvent  = explain.Event
	UnawaitedError = inspect.UnawaitedError
	CallGraph      = reader.CallGraph
	Moment         = reader.Moment
)

// StatusDamaged is the status, in a list of runs, of a run whose head cannot be read.
const StatusDamaged = reader.StatusDamaged

// ParkedReason formats an error that wraps ErrParked for people: the reason, without package names, or "" for nil. For damage
// it names the command that examines it.
func ParkedReason(err error) string { return reader.ParkedReason(err) }
