package api

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api/awaits"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/coordinator/query"
	"github.com/sluiceflow/sluice/coordinator/transfer"
	"github.com/sluiceflow/sluice/coordinator/versions"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Reply is one line of an answer, with exactly one field set. The first line on a connection is Taken, unless the request cannot be
// read; the last line is Done or Error.
type Reply struct {
	Taken       bool                     `json:"taken,omitempty"`       // the request was read and will be answered
	Run         *Run                     `json:"run,omitempty"`         // of List and Show
	Step        *Step                    `json:"step,omitempty"`        // of Show, after the run
	Cell        *Cell                    `json:"cell,omitempty"`        // of Cells and Await; of Show, after the run or instead of it
	Call        *Call                    `json:"call,omitempty"`        // of Graph
	Event       *Event                   `json:"event,omitempty"`       // of Events
	View        *View                    `json:"view,omitempty"`        // of Views
	Update      *Update                  `json:"update,omitempty"`      // of Watch
	Log         *calllog.Batch           `json:"log,omitempty"`         // of Log
	Explanation *coordinator.Explanation `json:"explanation,omitempty"` // of Explain
	Query       *query.Explanation       `json:"query,omitempty"`       // of List with Dry
	Value       json.RawMessage          `json:"value,omitempty"`       // of Output: any JSON
	Data        []byte                   `json:"data,omitempty"`        // of Export: the next part of the file
	Imported    *Imported                `json:"imported,omitempty"`    // of Import: the outcome of a run of the file
	Rule        *Rule                    `json:"rule,omitempty"`        // of Rules
	Name        string                   `json:"name,omitempty"`        // of Names: of a workflow
	Gone        *Gone                    `json:"gone,omitempty"`        // of Collect
	Act         *Act                     `json:"act,omitempty"`         // of Acts; of Bulk, AwaitAct and StopAct, at the end
	Outcome     *Outcome                 `json:"outcome,omitempty"`     // of Acts with a number, before the act: the outcome of a run
	Preview     *ActPreview              `json:"preview,omitempty"`     // of Bulk with Dry
	Rerun       *RerunStep               `json:"rerun,omitempty"`       // of Repeat with Dry
	Shadow      *Shadowed                `json:"shadow,omitempty"`      // of Shadow, for each run
	Diff        *versions.Diff           `json:"diff,omitempty"`        // of Compare
	Trimmed     string                   `json:"trimmed,omitempty"`     // of Events, Views and Watch: text about trimmed events
	Done        *Done                    `json:"done,omitempty"`        // last line: the request succeeded
	Error       *Error                   `json:"error,omitempty"`       // last line: the request was refused or failed
}

// Done ends an answer.
type Done struct {
	Run    string `json:"run,omitempty"`    // full id of the run
	Driven bool   `json:"driven,omitempty"` // of a command: the answering engine drives the run
	Did    string `json:"did,omitempty"`    // of a command: its verb
	Step   string `json:"step,omitempty"`   // of a command about a step, call or cell: its key or address
	Status string `json:"status,omitempty"` // of a command: the status of the run after it, unless an engine drives the run

	// Warning explains why a durable command may have no effect, such as: no step waits for the message. Of Cells, it is the error
	// of evaluating the condition for some cells.
	Warning string `json:"warning,omitempty"`

	Of string `json:"of,omitempty"` // of a rerun: the repeated run; Run is the new one

	Seq   uint64   `json:"seq,omitempty"`   // of a message to a world: of its event, or of an earlier one of the same id; of a snapshot
	Cells []string `json:"cells,omitempty"` // of a message to a world: addresses of the receiving cells

	Dry     bool     `json:"dry,omitempty"`     // the request was only previewed
	Would   []Event  `json:"would,omitempty"`   // of a dry command: the events that it would journal; empty: none
	Deletes []string `json:"deletes,omitempty"` // of a dry deletion: the runs that it would delete

	Next   string `json:"next,omitempty"`   // of List: the cursor after the last run; "": the list is complete
	Looked int    `json:"looked,omitempty"` // of List: number of runs read

	Kept    int `json:"kept,omitempty"`    // of a sweep: number of blobs that the last two snapshots need
	Deleted int `json:"deleted,omitempty"` // of a sweep: number of deleted blobs; of a dry one: blobs that it would delete

	TrimmedFrom uint64 `json:"trimmed_from,omitempty"` // of a sweep: first trimmed event; of a dry one: first event that it would trim
	TrimmedTo   uint64 `json:"trimmed_to,omitempty"`   // of a sweep: last of these events

	Collected *Collected `json:"collected,omitempty"` // of Collect

	Document json.RawMessage `json:"document,omitempty"` // for Request.Document: canonical document of the workflow

	Published *Version       `json:"published,omitempty"` // of a publish: the newest version now
	Replaced  *Version       `json:"replaced,omitempty"`  // of a publish: the previous version; nil: none, or Unchanged
	Unchanged bool           `json:"unchanged,omitempty"` // of a publish: it was the newest already
	Effect    *versions.Diff `json:"effect,omitempty"`    // of a publish: differences from the previous version, if it has open runs
}

func (d *Done) addEvent(e journal.Event) { d.Would = append(d.Would, EventOf(&e)) }

// Version is a definition published under the name of a workflow.
type Version struct {
	Name    string    `json:"name"`              // of the workflow
	Number  uint64    `json:"number"`            // 1: first version of the name
	Hash    string    `json:"hash"`              // of the definition
	Version string    `json:"version,omitempty"` // as the document says
	Actor   string    `json:"actor,omitempty"`   // publisher
	At      time.Time `json:"at"`                // time of publication
}

// Imported is the result of importing one run of a file.
type Imported = transfer.Imported

// Run describes a run for programs. A list omits the fields marked “not in a list”.
type Run struct {
	Run        string            `json:"run"`                  // id
	Workflow   string            `json:"workflow"`             // name
	Version    string            `json:"version,omitempty"`    // not in a list
	Hash       string            `json:"hash"`                 // of the workflow
	Status     string            `json:"status"`               // a reactive.RunStatus
	Finished   bool              `json:"finished"`             // the run has ended; a retry may reopen it
	Driven     bool              `json:"driven,omitempty"`     // the answering engine drives it; not in a list
	Started    time.Time         `json:"started"`              // time of its first event
	Updated    time.Time         `json:"updated"`              // time of its last event
	Parked     string            `json:"parked,omitempty"`     // reason for which it is parked in the answering process
	Held       bool              `json:"held,omitempty"`       // it is held since its import, until it is resumed
	Incomplete bool              `json:"incomplete,omitempty"` // import running or interrupted: parts of it or its child runs are missing
	Past       bool              `json:"past,omitempty"`       // it is described as of the last of these Events; not in a list
	Late       bool              `json:"late,omitempty"`       // unjournaled timers are due, without an engine: status and steps include them
	Due        time.Time         `json:"due,omitzero"`         // next due instant of the run
	Events     uint64            `json:"events"`               // number of events in its journal
	Labels     map[string]string `json:"labels,omitempty"`     // labels of its start
	Kind       string            `json:"kind,omitempty"`       // Workflow, Playbook or World; only in a list
	Waits      []Wait            `json:"waits,omitempty"`      // its first waits; only in a list
	Progress   *Progress         `json:"progress,omitempty"`   // of a workflow's steps; only in a list
	Code       string            `json:"code,omitempty"`       // of the failure that ended it; only in a list
	Ended      time.Time         `json:"ended,omitzero"`       // only in a list
	Actor      string            `json:"actor,omitempty"`      // actor that started it; not in a list
	From       *From             `json:"from,omitempty"`       // of a rerun: the repeated run; not in a list
	Failure    *Failure          `json:"failure,omitempty"`    // not in a list
	Output     json.RawMessage   `json:"output,omitempty"`     // not in a list
	Preview    string            `json:"preview,omitempty"`    // in place of an output above 32 KiB: the beginning of its JSON; not in a list
	Counts     *Counts           `json:"counts,omitempty"`     // of a playbook's run; not in a list
	Context    json.RawMessage   `json:"ctx,omitempty"`        // of a playbook's run; not in a list
	Awaits     []Awaited         `json:"awaits,omitempty"`     // its waits, with the commands that end them; not in a list
	Steps      []Step            `json:"steps,omitempty"`      // not in a list
	World      *World            `json:"world,omitempty"`      // of a world's run; not in a list
	Cells      []Cell            `json:"cells,omitempty"`      // of a world's run, the first of World.Cells; not in a list
}

// Set is the value of Step.Adopted for a result that a person has set.
const Set = "set"

// Step is a step, map or named conditional of a run.
type Step struct {
	Step        string     `json:"step"`                  // key, such as `check[3]`
	Kind        string     `json:"kind"`                  // step, map, conditional
	Depth       int        `json:"depth,omitempty"`       // number of maps around it
	Status      string     `json:"status"`                // a reactive.Status
	Pending     bool       `json:"pending,omitempty"`     // failed, and will be retried
	Attempts    int32      `json:"attempts,omitempty"`    // made so far
	Began       time.Time  `json:"began,omitzero"`        // of the newest attempt
	Ended       time.Time  `json:"ended,omitzero"`        // of the newest attempt
	Adopted     string     `json:"adopted,omitempty"`     // id of the run whose result it adopted without a call, or Set
	Failure     *Failure   `json:"failure,omitempty"`     // of the newest attempt, or the reason for an abort or a skip
	Message     string     `json:"message,omitempty"`     // awaited message
	Fulfillment string     `json:"fulfillment,omitempty"` // state of its task
	Decidable   bool       `json:"decidable,omitempty"`   // it waits for the decision of a person
	Preview                // of its output, once it has completed
	Branch      string     `json:"branch,omitempty"`     // of a conditional: then or else
	Reports     int        `json:"reports,omitempty"`    // of its newest attempt
	Report      string     `json:"report,omitempty"`     // kind of the newest report
	Dispatches  []Dispatch `json:"dispatches,omitempty"` // requests to participants, in all attempts
	Runs        int        `json:"runs,omitempty"`       // of a playbook's step: number of step-runs
	Live        int        `json:"live,omitempty"`       // of a playbook's step: runs in progress
	Tokens      int        `json:"tokens,omitempty"`     // of a playbook's step: waiting at its gate or join
	Items       int        `json:"items,omitempty"`      // of a playbook's loop in progress
	ItemsDone   int        `json:"items_done,omitempty"` // of these, ended items
}

// Dispatch is one request to one participant.
type Dispatch struct {
	Participant string    `json:"participant"`    // id
	Attempt     int32     `json:"attempt"`        // of the step, from 1
	State       string    `json:"state"`          // a call.State
	Asked       time.Time `json:"asked,omitzero"` // time of the request
	Ended       time.Time `json:"ended,omitzero"` // time of the answer or the end without one; zero: pending
	Preview               // of its answer
	Failure     *Failure  `json:"failure,omitempty"` // the reason for a missing answer
}

// Preview is a value, or the beginning of its JSON if it has more than previewMax bytes. The verb Output returns the whole value.
type Preview struct {
	Output  json.RawMessage `json:"output,omitempty"`  // the value, if its JSON has at most previewMax bytes
	Preview string          `json:"preview,omitempty"` // else the beginning of its JSON, or the error of encoding it
}

// Large describes a value by its beginning. The verb Events returns the whole value.
type Large struct {
	Kind    string `json:"kind,omitempty"`  // null, boolean, integer, number, string, list or object; empty for events of earlier programs
	Bytes   int    `json:"bytes,omitempty"` // approximate encoded size; 0 for events of earlier programs
	Preview string `json:"preview"`         // the beginning of its JSON
}

func beginningOf(l value.Large) string {
	text, _, _ := value.Preview(l, value.LargeBeginning) // a Large has a beginning
	return string(text)
}

// previewMax bounds, in bytes, the JSON of a value in a status.
const previewMax = 1 << 10

func previewOf(v any) (p Preview) {
	text, whole, err := value.Preview(v, previewMax)
	switch {
	case err != nil:
		p.Preview = err.Error()
	case whole && v != nil:
		p.Output = text
	case !whole:
		p.Preview = string(text)
	}
	return p
}

// Event is one event of a run's journal. Empty fields are omitted.
type Event struct {
	Seq          uint64          `json:"seq"`                    // number in the journal, from 1
	At           time.Time       `json:"at"`                     // time of the event
	Received     time.Time       `json:"received,omitzero"`      // time of arrival, if it differs from At
	Type         string          `json:"type"`                   // a journal.Type, such as call.requested
	Step         string          `json:"step,omitempty"`         // key of the step, map, conditional or step-run; "": the run
	Attempt      int32           `json:"attempt,omitempty"`      // from 1; 0: not about an attempt
	Participant  string          `json:"participant,omitempty"`  // asked or answering participant
	Participants []string        `json:"participants,omitempty"` // asked participants of a fan-out
	Value        json.RawMessage `json:"value,omitempty"`        // input, output or payload, depending on the type
	Large        *Large          `json:"large,omitempty"`        // in place of a large value: above 32 KiB in a watch, above 1 KiB over HTTP
	Whole        string          `json:"whole,omitempty"`        // over HTTP, if a value is cut: address of the whole event
	Failure      *Failure        `json:"failure,omitempty"`      // reason for a failure
	State        string          `json:"state,omitempty"`        // of a dispatch, a decision or the run
	Name         string          `json:"name,omitempty"`         // of a message, or the kind of a report
	Actor        string          `json:"actor,omitempty"`        // person or program that caused it
	Reason       string          `json:"reason,omitempty"`       // as the actor wrote it
	Timer        string          `json:"timer,omitempty"`        // kind of the fired timer
	Key          string          `json:"key,omitempty"`          // of a retry: replaces the step in its idempotency key
	Due          time.Time       `json:"due,omitzero"`           // scheduled instant
	RetryAt      time.Time       `json:"retry_at,omitzero"`      // earliest start of the next attempt
	Count        int32           `json:"count,omitempty"`        // number of a report, or of a request to a decision source
	About        json.RawMessage `json:"about,omitempty"`        // metadata of an answer
	Making       int32           `json:"making,omitempty"`       // of a report: number of the making of the call, from 1
	Work         bool            `json:"work,omitempty"`         // of a retry: the work is repeated
	Cause        string          `json:"cause,omitempty"`        // the parent run that was paused or resumed
	ID           string          `json:"id,omitempty"`           // of a message, as its sender named it
	Cells        []string        `json:"cells,omitempty"`        // addresses of the receivers of a message
	Outcome      string          `json:"outcome,omitempty"`      // late, duplicate or unbound: the event has no effect, or none yet
	Start        *Start          `json:"start,omitempty"`        // of run.started
	Kept         *Kept           `json:"kept,omitempty"`         // of result.kept
}

// Start describes the start of a run, without its input.
type Start struct {
	Run      string            `json:"run"`                // id
	Name     string            `json:"name"`               // of the workflow
	Version  string            `json:"version,omitempty"`  // of the workflow, as its document says
	Workflow string            `json:"workflow"`           // hash
	Parent   string            `json:"parent,omitempty"`   // the call that started this child run: `<run>/<node>#<attempt>`
	Identity *Identity         `json:"identity,omitempty"` // under which its calls are made
	Labels   map[string]string `json:"labels,omitempty"`   // names to texts
	Actor    string            `json:"actor,omitempty"`    // person or program that started it
	Dir      string            `json:"dir,omitempty"`      // folder in which its programs start
	From     *From             `json:"from,omitempty"`     // of a rerun
}

// From names the run that a rerun repeats.
type From struct {
	Run  string `json:"run"`            // id
	Seq  uint64 `json:"seq"`            // of its last used event
	Kept int32  `json:"kept,omitempty"` // number of copied events after the first: kept and set results; of a playbook its past
}

// Kept describes the source of a kept result.
type Kept struct {
	Run         string `json:"run,omitempty"`         // id; empty: a person has set it
	Seq         uint64 `json:"seq,omitempty"`         // of the last event about the step in that run
	Status      string `json:"status"`                // of the step
	Fulfillment string `json:"fulfillment,omitempty"` // state of its task
	Input       string `json:"input,omitempty"`       // SHA-256 of the input, in hexadecimal
	If          bool   `json:"if,omitempty"`          // adopted only if the input of the step is the same
}

// Identity is the identity under which a run makes its calls.
type Identity struct {
	ID        string          `json:"id"`                  // its id
	Scopes    []string        `json:"scopes,omitempty"`    // its rights, as set by the program that started the run
	Resources json.RawMessage `json:"resources,omitempty"` // objects of these rights: any JSON

	ResourcesPreview string `json:"resources_preview,omitempty"` // of a call, in place of resources above 1 KiB: the beginning
}

// Failure describes a failure.
type Failure struct {
	Code      string          `json:"code"`                // for programs: see docs/errors.md
	Step      string          `json:"step,omitempty"`      // step of origin, if another one
	Message   string          `json:"message,omitempty"`   // for people
	Details   json.RawMessage `json:"details,omitempty"`   // any JSON
	Retryable bool            `json:"retryable,omitempty"` // another attempt may succeed
}

func (f *Failure) String() string {
	if f.Message == "" {
		return f.Code
	}
	return f.Code + ": " + f.Message
}

// Update is one event and its effects.
type Update struct {
	Event   Event     `json:"event"`            // as in the journal, with its effect
	Changes []Change  `json:"changes"`          // of the statuses of steps, in order
	Tasks   []Task    `json:"tasks,omitempty"`  // changes of decisions about steps
	Loops   []Loop    `json:"loops,omitempty"`  // progress of loops of a playbook
	Cells   []Moved   `json:"cells,omitempty"`  // changes of the statuses of cells of a world
	Awaits  []Awaited `json:"awaits,omitempty"` // current waits of the steps and cells whose waits have changed
	Status  string    `json:"status"`           // of the run, after the event
}

// Change is a change of a step's status.
type Change struct {
	Step    string   `json:"step"`              // key
	From    string   `json:"from"`              // a reactive.Status
	To      string   `json:"to"`                // a reactive.Status
	Attempt int32    `json:"attempt,omitempty"` // newest attempt; 0: none
	Pending bool     `json:"pending,omitempty"` // failed, and will be retried
	Failure *Failure `json:"failure,omitempty"` // reason for a failure, an abort or a skip
}

// Task is a change of the state of a step's task.
type Task struct {
	Step    string   `json:"step"`              // key
	Attempt int32    `json:"attempt,omitempty"` // of the step, from 1
	From    string   `json:"from"`              // a call.Fulfillment
	To      string   `json:"to"`                // a call.Fulfillment
	Failure *Failure `json:"failure,omitempty"` // reason for which the step failed or is skipped
}

// Loop is the progress of a loop of a playbook's step.
type Loop struct {
	Step   string `json:"step"`             // key of the step-run
	Items  int    `json:"items"`            // number of items
	Done   int    `json:"done"`             // completed iterations
	Failed int    `json:"failed,omitempty"` // failed iterations
}

// RunOf describes a run by its head in the journal.
func RunOf(h *journal.Head) *Run {
	return &Run{
		Run: h.Run, Workflow: h.Name, Hash: h.Workflow, Status: h.Status, Finished: !h.Open, Started: instant(h.Started),
		Updated: instant(h.Updated), Due: instant(h.Due), Events: h.Last, Labels: h.Labels,
		Kind: h.Kind, Waits: waitsOf(h), Progress: progressOf(h), Code: h.Code, Ended: instant(h.Ended),
	}
}

// runOfState describes a run without its steps.
func runOfState(s *coordinator.State) *Run {
	r := &Run{
		Run: s.Run, Workflow: s.Start.Name, Version: s.Start.Version, Hash: s.Start.Workflow, Status: string(s.Status),
		Finished: s.Finished, Started: instant(s.Started), Updated: instant(s.Updated), Due: instant(s.Due), Events: s.Seq,
		Labels: s.Start.Labels, Actor: s.Start.Actor, From: fromOf(s.Start.From), Failure: FailureOf(s.Failure), Parked: coordinator.ParkedReason(s.Parked),
		Late: s.Late, Awaits: awaits.Of(s.Waits),
	}
	switch l, large := s.Output.(value.Large); {
	case large:
		r.Preview = beginningOf(l)
	case s.Output != nil:
		r.Output = encoded(s.Output)
	}
	if s.Routed != nil {
		routedOf(r, s.Routed)
	}
	if s.World != nil {
		r.World = worldOf(s.World)
	}
	return r
}

// stepOf describes a step.
func stepOf(s *coordinator.StepState) *Step {
	out := &Step{
		Step: s.Step, Kind: [...]string{plan.Step: "step", plan.Gate: "conditional", plan.Map: "map", plan.Join: "join"}[s.Kind],
		Depth: s.Depth, Status: s.Status.String(), Pending: s.Pending, Attempts: s.Attempts, Began: instant(s.Began),
		Ended: instant(s.Ended), Failure: FailureOf(s.Failure), Message: s.Message, Decidable: s.Decidable,
		Runs: s.Runs, Live: s.Live, Tokens: s.Tokens, Items: s.Items, ItemsDone: s.ItemsDone,
		Preview: previewOf(s.Output), Reports: s.Reports, Report: s.Report,
		Branch: map[plan.Branch]string{plan.Then: "then", plan.Else: "else"}[s.Branch],
	}
	if a := s.Adopted; a != nil {
		out.Adopted = cmp.Or(a.Run, Set)
	}
	if s.Fulfillment != call.NoTask {
		out.Fulfillment = string(s.Fulfillment)
	}
	for i := range s.Dispatches {
		d := &s.Dispatches[i]
		one := Dispatch{
			Participant: d.Participant, Attempt: d.Attempt, State: string(d.State), Asked: instant(d.Asked), Ended: instant(d.At),
			Preview: previewOf(d.Output), Failure: FailureOf(d.Failure),
		}
		out.Dispatches = append(out.Dispatches, one)
	}
	return out
}

// EventOf describes an event.
func EventOf(e *journal.Event) Event {
	out := Event{Seq: e.Seq, At: e.Time(), Type: e.Type.String(), Step: e.Node, Attempt: e.Attempt}
	switch l, large := e.Value.(value.Large); {
	case large:
		out.Large = &Large{Kind: l.Kind, Bytes: l.Bytes, Preview: beginningOf(l)}
	case e.Value != nil:
		out.Value = encoded(e.Value)
	}
	d := e.Detail
	if d == nil {
		return out
	}
	out.Participant, out.Participants, out.State, out.Name, out.Actor, out.Reason, out.Timer, out.Key, out.Count =
		d.Participant, d.Participants, d.State, d.Name, d.Actor, d.Reason, d.Timer, d.Key, d.Count
	out.Failure, out.Received, out.Due, out.RetryAt = FailureOf(d.Failure), instant(d.Received), instant(d.Due), instant(d.RetryAt)
	if d.About != nil {
		out.About = encoded(d.About)
	}
	out.Making, out.Work, out.Cause, out.ID, out.Cells = d.Making, d.Work, d.Cause, d.ID, d.Cells
	if s := d.Start; s != nil {
		out.Start = &Start{s.Run, s.Name, s.Version, s.Workflow, s.Parent, identityOf(s.Identity), s.Labels, s.Actor, s.Dir, fromOf(s.From)}
	}
	if k := d.Kept; k != nil {
		out.Kept = &Kept{k.Run, k.Seq, k.Status, k.Fulfillment, hex.EncodeToString(k.Input), k.If}
	}
	return out
}

func fromOf(f *journal.From) *From {
	if f == nil {
		return nil
	}
	return &From{f.Run, f.Seq, f.Kept}
}

// UpdateOf describes an update.
func UpdateOf(u *coordinator.Update) Update {
	out := Update{Event: withEffect(u), Changes: make([]Change, len(u.Changes)), Status: string(u.Status)}
	for i := range u.Changes {
		c := &u.Changes[i]
		out.Changes[i] = Change{c.Step, c.From.String(), c.To.String(), c.Attempt, c.Pending, FailureOf(c.Failure)}
	}
	for i := range u.Tasks {
		t := &u.Tasks[i]
		out.Tasks = append(out.Tasks, Task{t.Step, t.Attempt, string(t.From), string(t.To), FailureOf(t.Failure)})
	}
	out.Cells, out.Awaits = movedOf(u.Cells), awaits.Of(u.Waits)
	for _, l := range u.Loops {
		out.Loops = append(out.Loops, Loop{Step: l.Step, Items: l.Items, Done: l.Done, Failed: l.Failed})
	}
	return out
}

// withEffect describes an event with its effect.
func withEffect(u *coordinator.Update) Event {
	e := EventOf(&u.Event)
	if !u.Outcome.Counted() {
		e.Outcome = u.Outcome.String()
	}
	return e
}

func identityOf(id *journal.Identity) *Identity {
	if id == nil {
		return nil
	}
	out := &Identity{ID: id.ID, Scopes: id.Scopes}
	if id.Resources != nil {
		out.Resources = encoded(id.Resources)
	}
	return out
}

// FailureOf describes a failure. It returns nil for nil.
func FailureOf(f *journal.Failure) *Failure {
	if f == nil {
		return nil
	}
	out := &Failure{Code: f.Code, Step: f.Step, Message: f.Message, Retryable: f.Retryable}
	if f.Details != nil {
		out.Details = encoded(f.Details)
	}
	return out
}

// encoded returns a value as JSON. Every journaled value has an encoding.
func encoded(v any) json.RawMessage {
	data, err := value.JSON(v)
	if err != nil {
		data, _ = json.Marshal(err.Error())
	}
	return data
}

// Awaited is one wait of a run.
type Awaited = awaits.Awaited

func instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}
