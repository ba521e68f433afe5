package journal

import (
	"fmt"
	"time"
)

// Event is one record of a run's journal. It is a value: stores copy it, and readers must not change the values that it
// refers to. It takes 72 bytes, because a run of 100,000 steps in memory holds 200,000 of them.
type Event struct {
	Seq     uint64  `json:"seq"`               // position in the stream: from 1, +1 per event; set by the store
	At      int64   `json:"at"`                // instant of the decision, Unix nanoseconds
	Node    string  `json:"node,omitempty"`    // key of the step, map or decision it is about; "" when about the run
	Value   any     `json:"value,omitempty"`   // input, output or payload: a value of package value, or a plain Go value that encodes to one
	Detail  *Detail `json:"detail,omitempty"`  // fields of some types; nil for most events
	Hint    int32   `json:"-"`                 // where the root keeps Node, plus one; 0: unknown. Not stored: it only saves a lookup
	Attempt int32   `json:"attempt,omitempty"` // with Node it names the request `<node>#<attempt>`; 0: not about a request
	Type    Type    `json:"type"`              // the kind of event
}

// Time returns At as a time in UTC.
func (e *Event) Time() time.Time { return time.Unix(0, e.At).UTC() }

// Type is the kind of an event: a closed set. The numbers are part of the stored format and are never reused.
type Type uint8

// The types, each with its meaning and the fields that it uses besides Seq and At. Type.Writers returns its writers.
const (
	RunStarted          Type = 1  // first event of a run. Detail.Start; Detail.ID when an act on many runs has started it; Value: input
	CallRequested       Type = 2  // an attempt begins. Node, Attempt; Value: rendered input; Detail.Participants of a fan-out
	CallResponded       Type = 3  // it returned an output. Node, Attempt; Value: output; Detail.Participant in a fan-out
	CallError           Type = 4  // it failed. Node, Attempt; Detail.Failure; Detail.RetryAt, Detail.Due
	CallAborted         Type = 5  // it was aborted from outside. Node, Attempt
	CallCompleted       Type = 6  // a subscription ended. Node, Attempt
	CallSkipped         Type = 7  // a timeout or a decision skips the step. Node, Attempt; Detail.Failure: the reason; Detail.Due
	StepFailed          Type = 8  // a step failed before anything was requested (its input cannot be resolved). Node; Detail.Failure
	DispatchCreated     Type = 9  // one participant was asked. Node, Attempt; Detail.Participant
	DispatchSettled     Type = 10 // one participant has answered or is no longer waited for. Node, Attempt; Detail.Participant, Detail.State; Value; Detail.Failure
	TimerFired          Type = 11 // a timer fired that starts an attempt, ends a window or a decision, or continues a playbook. Node, Attempt; Detail.Timer, Detail.Due
	DecisionRequested   Type = 12 // a decision source was asked. Node, Attempt; Value
	DecisionReceived    Type = 13 // it answered. Node, Attempt; Value; Detail.State, Detail.Actor, Detail.Failure
	DecisionOverridden  Type = 14 // a person overrode it. Node, Attempt; Value; Detail.State, Detail.Actor, Detail.Reason
	MessageReceived     Type = 15 // a message from outside. Detail.Name, Detail.Actor; in a world Detail.ID, Detail.Cells; Value: payload
	NodeAborted         Type = 16 // a person or program aborted one node. Node; Detail.Actor, Detail.Reason
	NodeRetried         Type = 17 // a person requested another attempt, or another decision. Node; Detail.Actor, Detail.Work, Detail.Key
	BranchDecided       Type = 18 // a Go function decided a conditional. Node; Value: bool; Detail.Failure if it failed
	MapExpanded         Type = 19 // a Go function returned a map's items. Node; Value: list; Detail.Failure if it failed
	ContextPatched      Type = 20 // a playbook's context changed. Value: patch; Detail.Actor
	RunPaused           Type = 21 // nothing new starts. Detail.Actor, Detail.Reason; Detail.Cause if the parent run is paused
	RunResumed          Type = 22 // ends one cause of pause. Detail.Actor; Detail.Cause as above
	RunCancelled        Type = 23 // a person or program cancelled the run: closes it. Detail.Actor, Detail.Reason
	RunClosed           Type = 24 // the engine closes the run: Node (if named) fails, the rest aborts. Detail.Failure
	RunReopened         Type = 25 // a manual retry of a finished run. Detail.Actor
	RunDeadlineExceeded Type = 26 // the run's deadline closes it. Detail.Due
	RunFinished         Type = 27 // nothing is left to do. Detail.State: the run's status; Detail.Failure; Value: output
	ContentStored       Type = 28 // the only event of a stream `def/…` or `blob/…`. Value: the content
	StepScheduled       Type = 29 // a token of a playbook was taken by a run of its step. Node: `<step>@<number>`
	CallReported        Type = 30 // a call reported its progress. Node, Attempt; Detail.Participant, Detail.Making, Detail.Count: number, Detail.Name: kind; Value: payload
	CellStepped         Type = 31 // a cell of a world has taken a message, a receipt or a timer. Node: its address; Value: the outcome, see docs/events.md
	CellFailed          Type = 32 // a cell has failed and takes nothing until it is reset. Node; Detail.Failure; Detail.Actor, Detail.Reason when a person aborted it; Value: the cause
	CellPaused          Type = 33 // a cell queues its items until it is resumed. Node; Detail.Actor, Detail.Reason
	CellResumed         Type = 34 // a cell is resumed. Node; Detail.Actor, Detail.Reason
	CellReset           Type = 35 // a person resets a failed cell, which then continues. Node; Detail.Actor, Detail.Reason
	CellExpired         Type = 36 // a cell without activity is deleted. Node; Detail.Due
	WorldSnapshotted    Type = 37 // the state of a world is kept as content. Value: as of which event, and the hashes, see docs/events.md
	WorkflowPublished   Type = 38 // of a stream `#wf/…`: the name stands for this definition from now on. Detail.Start: Name, Version, Workflow, Children, Actor
	RetentionSet        Type = 39 // how long finished runs are kept from now on, in the stream of that. Detail.Actor; Value: list of rules
	BulkRecorded        Type = 40 // of a stream `#bulk…`: an act on many runs, its chosen runs, or its outcomes. Detail.State: which of these; Detail.Start: the workflow of a rerun or a move; Detail.Actor, Detail.Reason; Value, see package bulk
	ResultKept          Type = 41 // of a rerun: a result of the run that it repeats, for the step when it may start. Node, Attempt, Detail.Kept; Value: output; Detail.Failure; Detail.About: reports
	InputSet            Type = 42 // of a rerun: an input of a step that replaces the input from its workflow. Node; Value
	ResultAdopted       Type = 43 // a step adopts its kept result. Node, Attempt
	RunMoved            Type = 44 // the run follows another workflow from now on, which its past fits too. Detail.Start: as if it had been started with that; Detail.Actor, Detail.Reason, Detail.ID
)

// Detail holds the fields that only some types have. An event owns its Detail.
type Detail struct {
	Start        *Start   `json:"start,omitempty"`        // of run.started and run.moved, and of workflow.published the part that describes the workflow
	Failure      *Failure `json:"failure,omitempty"`      // a failure
	Participant  string   `json:"participant,omitempty"`  // id of an asked participant
	Participants []string `json:"participants,omitempty"` // ids of the participants to ask, in order
	Timer        string   `json:"timer,omitempty"`        // "retry", "window", "decision"; of a playbook also "timeout", "more"; of a world "cell"
	State        string   `json:"state,omitempty"`        // status of a dispatch, a decision or the run
	Name         string   `json:"name,omitempty"`         // of a message
	Actor        string   `json:"actor,omitempty"`        // the person or program that did it
	Reason       string   `json:"reason,omitempty"`       // in the words of the actor
	Key          string   `json:"key,omitempty"`          // of a retry: replaces the step in its idempotency key from now on
	Received     int64    `json:"received,omitempty"`     // instant of arrival, Unix nanoseconds, if not At
	Due          int64    `json:"due,omitempty"`          // scheduled instant, Unix nanoseconds
	RetryAt      int64    `json:"retry_at,omitempty"`     // earliest instant of the next attempt, Unix nanoseconds
	Count        int32    `json:"count,omitempty"`        // number of a report within its Making, or of a request to a decision source; from 1
	About        any      `json:"about,omitempty"`        // metadata of a call's output, such as the status of an HTTP answer: a value of package value
	Making       int32    `json:"making,omitempty"`       // which making of the call reports: 1, and one more each time it is made again with the same request id
	Work         bool     `json:"work,omitempty"`         // a retry repeats the work also where only the decision is open
	Cause        string   `json:"cause,omitempty"`        // id of the run whose pause or resume reaches this one, its child
	ID           string   `json:"id,omitempty"`           // of a message, as its sender named it: a second one of that id is not taken; of a command, the act on many runs to which it belongs
	Cells        []string `json:"cells,omitempty"`        // addresses of the cells of a world that a message went to, in order
	Kept         *Kept    `json:"kept,omitempty"`         // of result.kept: origin of the result
}

// Kept describes a result that a rerun keeps.
type Kept struct {
	Run         string `json:"run,omitempty"`         // id of its original run
	Seq         uint64 `json:"seq,omitempty"`         // of the last event about the step in that run; 0: a person has set it
	Status      string `json:"status,omitempty"`      // of the step: completed, failed or skipped
	Fulfillment string `json:"fulfillment,omitempty"` // state of its task; "": it has none
	Input       []byte `json:"input,omitempty"`       // SHA-256 of the input that it was computed from, encoded; empty: unknown
	If          bool   `json:"if,omitempty"`          // it is only adopted if the step's input is the same
}

// Failure describes a failure. Code is for programs and part of the contract; Message is for people.
type Failure struct {
	Code      string `json:"code"`                // see docs/errors.md; a code of an operation has at most 256 bytes
	Message   string `json:"message,omitempty"`   // may be ""
	Details   any    `json:"details,omitempty"`   // a value of package value
	Retryable bool   `json:"retryable,omitempty"` // another attempt may succeed
	Step      string `json:"step,omitempty"`      // key of the step in which it began; "": the step that reports it
}

func (f *Failure) Error() string {
	if f.Message == "" {
		return f.Code
	}
	return f.Code + ": " + f.Message
}

// KindOf returns the kind of a value, for the messages of failures. Journals contain those messages, so its words must not
// change, unlike the words of value.Describe.
func KindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case int64, float64:
		return "a number"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// Start holds the parameters of a run: enough to recover it anywhere.
type Start struct {
	Run             string            `json:"run,omitempty"`               // the run's id
	Workflow        string            `json:"workflow,omitempty"`          // hash of the canonical document, the name of its `def/` stream
	Name            string            `json:"name,omitempty"`              // of the workflow
	Version         string            `json:"version,omitempty"`           // of the workflow, for people
	FailurePolicy   string            `json:"failure_policy,omitempty"`    // effective: a template.FailurePolicy
	MaxConcurrency  int32             `json:"max_concurrency,omitempty"`   // effective; 0: no limit
	Engine          int32             `json:"engine,omitempty"`            // version of the rules that derive statuses
	Expressions     int32             `json:"expressions,omitempty"`       // version of the expression language
	Functions       []string          `json:"functions,omitempty"`         // names of the Go functions that it needs, sorted
	MapItemsMax     int32             `json:"map_items_max,omitempty"`     // effective; 0: no limit
	InstancesMax    int32             `json:"instances_max,omitempty"`     // effective; 0: no limit
	ContextBytesMax int32             `json:"context_bytes_max,omitempty"` // of a playbook, effective; 0: no limit
	EventWorkMax    int32             `json:"event_work_max,omitempty"`    // of a playbook: work of its tasks and expressions after which an event ends; 0: no limit
	Children        map[string]string `json:"children,omitempty"`          // hash of each child workflow, by `<hash of the workflow>/<operation>`, at any depth
	Parent          string            `json:"parent,omitempty"`            // the call that started this child run: `<run>/<node>#<attempt>`
	Labels          map[string]string `json:"labels,omitempty"`            // names to texts, for people and lists
	Actor           string            `json:"actor,omitempty"`             // the person or program that started it
	OnBlocked       string            `json:"on_blocked,omitempty"`        // effective: the policy for a playbook with only denied tokens left
	Seed            []byte            `json:"seed,omitempty"`              // of a world: 32 random bytes, from which its activations draw
	Identity        *Identity         `json:"identity,omitempty"`          // identity for which the calls are made; nil: none
	From            *From             `json:"from,omitempty"`              // of a rerun: the run that it repeats
	Dir             string            `json:"dir,omitempty"`               // folder in which programs start and to which files are relative; "": that of the process
}

// From names the run that a rerun repeats.
type From struct {
	Run  string `json:"run,omitempty"`  // its id
	Seq  uint64 `json:"seq,omitempty"`  // of its last used event
	Kept int32  `json:"kept,omitempty"` // events that follow the first and are taken over: kept and set results, or of a playbook the events of that run
}

// Identity is the person or program for which a run makes its calls. Operations read it from their context; Sluice itself does
// not check it.
type Identity struct {
	ID        string   `json:"id,omitempty"`        // its id
	Scopes    []string `json:"scopes,omitempty"`    // its rights, as set by the program that started the run
	Resources any      `json:"resources,omitempty"` // the objects of these rights: a value of package value
}

// ByTimer reports whether a timer of the engine caused the event. An error of an operation is data, even if its code is a
// timeout's.
func (e *Event) ByTimer() bool { return e.Detail != nil && e.Detail.Due > 0 }

// FailureOr returns the failure of the event or, if it has none, a failure with the given code and the event's reason.
func (e *Event) FailureOr(code string) *Failure {
	switch {
	case e.Detail == nil:
		return &Failure{Code: code}
	case e.Detail.Failure != nil:
		return e.Detail.Failure
	}
	return &Failure{Code: code, Message: e.Detail.Reason}
}
