package journal

import (
	"fmt"
	"strconv"
)

// typeNames holds the names people and other programs see. They are as stable as the numbers.
var typeNames = [...]string{
	RunStarted:          "run.started",
	CallRequested:       "call.requested",
	CallResponded:       "call.responded",
	CallError:           "call.error",
	CallAborted:         "call.aborted",
	CallCompleted:       "call.completed",
	CallSkipped:         "call.skipped",
	StepFailed:          "step.failed",
	DispatchCreated:     "dispatch.created",
	DispatchSettled:     "dispatch.settled",
	TimerFired:          "timer.fired",
	DecisionRequested:   "decision.requested",
	DecisionReceived:    "decision.received",
	DecisionOverridden:  "decision.overridden",
	MessageReceived:     "message.received",
	NodeAborted:         "node.aborted",
	NodeRetried:         "node.retried",
	BranchDecided:       "branch.decided",
	MapExpanded:         "map.expanded",
	ContextPatched:      "ctx.patched",
	RunPaused:           "run.paused",
	RunResumed:          "run.resumed",
	RunCancelled:        "run.cancelled",
	RunClosed:           "run.closed",
	RunReopened:         "run.reopened",
	RunDeadlineExceeded: "run.deadline_exceeded",
	RunFinished:         "run.finished",
	ContentStored:       "content.stored",
	StepScheduled:       "step.scheduled",
	CallReported:        "call.reported",
}

// typesByName is typeNames the other way round.
var typesByName = func() map[string]Type {
	byName := make(map[string]Type, len(typeNames))
	for t, name := range typeNames {
		if name != "" {
			byName[name] = Type(t)
		}
	}
	return byName
}()

// String is the name of t, such as "call.requested"; for a number that is no type, "type(99)".
func (t Type) String() string {
	if !t.valid() {
		return "type(" + strconv.Itoa(int(t)) + ")"
	}
	return typeNames[t]
}

// valid reports whether t is one of the types above.
func (t Type) valid() bool { return int(t) < len(typeNames) && typeNames[t] != "" }

// ParseType is the type with that name.
func ParseType(name string) (Type, error) {
	t, ok := typesByName[name]
	if !ok {
		return 0, fmt.Errorf("journal: no type of event is named %q", name)
	}
	return t, nil
}
