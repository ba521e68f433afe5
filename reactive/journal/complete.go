package journal

import "fmt"

// CheckComplete returns an error if an event lacks a field that its type has in every journal that an engine writes. What follows from
// events relies on it: a journal from elsewhere must be checked first.
func (e *Event) CheckComplete() error {
	lacks := ""
	switch d := e.detail(); e.Type {
	case RunStarted, RunMoved, WorkflowPublished:
		lacks = unless(d.Start != nil, "start")
	case CallError, StepFailed, RunClosed:
		lacks = unless(d.Failure != nil, "failure")
	case DispatchCreated, DispatchSettled:
		lacks = unless(d.Participant != "", "participant")
	case TimerFired:
		lacks = unless(d.Timer != "", "timer")
	case MessageReceived, CallReported:
		lacks = unless(d.Name != "", "name")
	case DecisionReceived, DecisionOverridden:
		lacks = unless(e.Detail != nil, "detail")
	case RunFinished:
		lacks = unless(d.State != "", "state")
	}
	if lacks == "" {
		return nil
	}
	return fmt.Errorf("event %d, a %s, lacks its %s", e.Seq, e.Type, lacks)
}

// detail returns the detail of an event, empty if it has none.
func (e *Event) detail() Detail {
	if e.Detail == nil {
		return Detail{}
	}
	return *e.Detail
}

func unless(present bool, name string) string {
	if present {
		return ""
	}
	return name
}
