package journal

import (
	"fmt"
	"slices"
	"strconv"
)

// kinds holds the name and the writers of each type. People and other programs see the names: they are as stable as the
// numbers.
var kinds = [...]struct {
	name    string
	writers []Writer // nil: only earlier versions wrote it; it is still read
}{
	RunStarted:          {"run.started", []Writer{Stepper}},
	CallRequested:       {"call.requested", []Writer{Stepper}},
	CallResponded:       {"call.responded", []Writer{Stepper, Timer}},
	CallError:           {"call.error", []Writer{Stepper, Timer}},
	CallAborted:         {"call.aborted", nil},
	CallCompleted:       {"call.completed", nil},
	CallSkipped:         {"call.skipped", []Writer{Timer}},
	StepFailed:          {"step.failed", []Writer{Stepper, Timer}},
	DispatchCreated:     {"dispatch.created", []Writer{Stepper, Timer}},
	DispatchSettled:     {"dispatch.settled", []Writer{Stepper}},
	TimerFired:          {"timer.fired", []Writer{Timer}},
	DecisionRequested:   {"decision.requested", []Writer{Stepper}},
	DecisionReceived:    {"decision.received", []Writer{Command, Stepper, Timer}},
	DecisionOverridden:  {"decision.overridden", []Writer{Stepper}},
	MessageReceived:     {"message.received", []Writer{Command}},
	NodeAborted:         {"node.aborted", []Writer{Command}},
	NodeRetried:         {"node.retried", []Writer{Command}},
	BranchDecided:       {"branch.decided", []Writer{Stepper}},
	MapExpanded:         {"map.expanded", []Writer{Stepper}},
	ContextPatched:      {"ctx.patched", []Writer{Command}},
	RunPaused:           {"run.paused", []Writer{Command, Stepper}},
	RunResumed:          {"run.resumed", []Writer{Command, Stepper}},
	RunCancelled:        {"run.cancelled", []Writer{Command}},
	RunClosed:           {"run.closed", []Writer{Stepper, Timer}},
	RunReopened:         {"run.reopened", []Writer{Stepper}},
	RunDeadlineExceeded: {"run.deadline_exceeded", []Writer{Timer}},
	RunFinished:         {"run.finished", []Writer{Stepper}},
	ContentStored:       {"content.stored", []Writer{Registry}},
	StepScheduled:       {"step.scheduled", []Writer{Stepper}},
	CallReported:        {"call.reported", []Writer{Stepper}},
	CellStepped:         {"cell.stepped", []Writer{Stepper}},
	CellFailed:          {"cell.failed", []Writer{Stepper}},
	CellPaused:          {"cell.paused", []Writer{Command}},
	CellResumed:         {"cell.resumed", []Writer{Command}},
	CellReset:           {"cell.reset", []Writer{Stepper}},
	CellExpired:         {"cell.expired", []Writer{Timer}},
	WorldSnapshotted:    {"world.snapshotted", []Writer{Stepper}},
	WorkflowPublished:   {"workflow.published", []Writer{Registry}},
	RetentionSet:        {"retention.set", []Writer{Registry}},
	BulkRecorded:        {"bulk.recorded", []Writer{Registry}},
	ResultKept:          {"result.kept", []Writer{Command}},
	InputSet:            {"input.set", []Writer{Command}},
	ResultAdopted:       {"result.adopted", []Writer{Stepper}},
	RunMoved:            {"run.moved", []Writer{Stepper}},
}

// Writer is a source of events. Only the coordinator appends them to a run's journal, in one place.
type Writer string

// The writers.
const (
	Command  Writer = "command"  // a person or program sent it to the coordinator, which journals or refuses it
	Stepper  Writer = "stepper"  // package decide derived it from the journal, or from the result of a call
	Timer    Writer = "timer"    // a timer fired: of a call, in package ledger, of a playbook, in package net, or of a world, in package world
	Registry Writer = "registry" // it stores a definition, a published name, the rules of retention, or the steps of an act on many runs
)

// Writers returns the writers of events of type t; none if the type is only read.
func (t Type) Writers() []Writer {
	if !t.valid() {
		return nil
	}
	return slices.Clone(kinds[t].writers)
}

// typesByName holds the types by name.
var typesByName = func() map[string]Type {
	byName := make(map[string]Type, len(kinds))
	for t, k := range kinds {
		if k.name != "" {
			byName[k.name] = Type(t)
		}
	}
	return byName
}()

// String returns the name of t, such as "call.requested"; "type(99)" for an unknown type.
func (t Type) String() string {
	if !t.valid() {
		return "type(" + strconv.Itoa(int(t)) + ")"
	}
	return kinds[t].name
}

// valid reports whether t is one of the types above.
func (t Type) valid() bool { return int(t) < len(kinds) && kinds[t].name != "" }

// ParseType returns the type with a name.
func ParseType(name string) (Type, error) {
	t, ok := typesByName[name]
	if !ok {
		return 0, fmt.Errorf("journal: no type of event is named %q", name)
	}
	return t, nil
}
