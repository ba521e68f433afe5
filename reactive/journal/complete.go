package journal

import (
	"cmp"
	"fmt"
)

// CheckComplete returns an error if an event lacks a field that its type has in every journal that an engine writes. What follows from
// events relies on it: a journal from elsewhere must be checked first.
func (e *Event) CheckComplete() error {
	lacks := ""
	switch d := e.detail(); e.Type {
	case RunStarted, RunMoved, WorkflowPublished:
		lacks = absent(d.Start != nil, "start")
	case CallError, StepFailed, RunClosed:
		lacks = absent(d.Failure != nil, "failure")
	case DispatchCreated, DispatchSettled:
		lacks = absent(d.Participant != "", "participant")
	case TimerFired:
		lacks = absent(d.Timer != "", "timer")
	case MessageReceived, CallReported:
		lacks = absent(d.Name != "", "name")
	case DecisionReceived, DecisionOverridden:
		lacks = absent(e.Detail != nil, "detail")
	case RunFinished:
		lacks = absent(d.State != "", "state")
	}
	if lacks == "" {
		return nil
	}
	return fmt.Errorf("event %d, a %s, lacks its %s", e.Seq, e.Type, lacks)
}

// detail returns the detail of an event, empty if it has none.
func (e *Event) detail() *Detail { return cmp.Or(e.Detail, &Detail{}) }

// absent returns the name of a field that is not present, else "".
func absent(present bool, name string) string {
	if present {
		return ""
	}
	return name
}
