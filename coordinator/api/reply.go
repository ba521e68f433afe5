package api

import (
	"encoding/json"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Reply is one line of an answer: exactly one field is set. The first line on a connection is Taken, unless the request cannot
// be read; the last is Done or Error.
type Reply struct {
	Taken       bool                     `json:"taken,omitempty"` // the request was read and will be answered
	Run         *Run                     `json:"run,omitempty"`
	Step        *Step                    `json:"step,omitempty"`
	Call        *Call                    `json:"call,omitempty"`
	Event       *Event                   `json:"event,omitempty"`
	View        *View                    `json:"view,omitempty"`
	Update      *Update                  `json:"update,omitempty"`
	Explanation *coordinator.Explanation `json:"explanation,omitempty"`
	Value       json.RawMessage          `json:"value,omitempty"`
	Done        *Done                    `json:"done,omitempty"`
	Error       *Error                   `json:"error,omitempty"`
}

// Done ends an answer.
type Done struct {
	Run    string `json:"run,omitempty"`    // its full id
	Driven bool   `json:"driven,omitempty"` // the answering engine goes on with it; of a command

	// Warning explains why the command, which is durable, may have no effect: no step waits for a message of that name.
	Warning string `json:"warning,omitempty"`
}

// Run describes a run to programs. A list omits the fields marked so.
type Run struct {
	Run      string            `json:"run"`
	Workflow string            `json:"workflow"`          // name
	Version  string            `json:"version,omitempty"` // not in a list
	Hash     string            `json:"hash"`              // of the workflow
	Status   string            `json:"status"`
	Finished bool              `json:"finished"`
	Driven   bool              `json:"driven,omitempty"` // the answering engine goes on with it; not in a list
	Started  time.Time         `json:"started"`
	Updated  time.Time         `json:"updated"`
	Parked   string            `json:"parked,omitempty"` // why it cannot go on in the answering process
	Late     bool              `json:"late,omitempty"`   // timers have fallen due that are not journaled, because no engine works on it: status and steps include them
	Due      time.Time         `json:"due,omitzero"`     // when the run is due next
	Events   uint64            `json:"events"`
	Labels   map[string]string `json:"labels,omitempty"`
	Actor    string            `json:"actor,omitempty"`   // that started it; not in a list
	Failure  *Failure          `json:"failure,omitempty"` // not in a list
	Output   json.RawMessage   `json:"output,omitempty"`  // not in a list
	Counts   *Counts           `json:"counts,omitempty"`  // of a playbook's run; not in a list
	Context  json.RawMessage   `json:"ctx,omitempty"`     // of a playbook's run; not in a list
	Steps    []Step            `json:"steps,omitempty"`   // not in a list
}

// Step is a step, map or named conditional of a run.
type Step struct {
	Step        string     `json:"step"`
	Kind        string     `json:"kind"`            // step, map, conditional
	Depth       int        `json:"depth,omitempty"` // maps around it
	Status      string     `json:"status"`
	Pending     bool       `json:"pending,omitempty"` // failed, with a retry to come
	Attempts    int32      `json:"attempts,omitempty"`
	Began       time.Time  `json:"began,omitzero"` // of the newest attempt
	Ended       time.Time  `json:"ended,omitzero"` // of the newest attempt
	Failure     *Failure   `json:"failure,omitempty"`
	Message     string     `json:"message,omitempty"`     // that it waits for
	Fulfillment string     `json:"fulfillment,omitempty"` // state of its task
	Decidable   bool       `json:"decidable,omitempty"`   // waits for a person's decision
	Preview                // of its output, once it has completed
	Branch      string     `json:"branch,omitempty"`  // of a conditional: then or else
	Reports     int        `json:"reports,omitempty"` // of its newest attempt
	Report      string     `json:"report,omitempty"`  // kind of the newest report
	Dispatches  []Dispatch `json:"dispatches,omitempty"`
	Runs        int        `json:"runs,omitempty"`   // of a playbook's step: how often it was scheduled
	Live        int        `json:"live,omitempty"`   // of a playbook's step: runs in progress
	Tokens      int        `json:"tokens,omitempty"` // of a playbook's step: waiting at its gate or join
	Items       int        `json:"items,omitempty"`  // of a playbook's loop in progress
	ItemsDone   int        `json:"items_done,omitempty"`
}

// Dispatch is one request to one participant.
type Dispatch struct {
	Participant string    `json:"participant"`
	Attempt     int32     `json:"attempt"`
	State       string    `json:"state"`
	Asked       time.Time `json:"asked,omitzero"`
	Ended       time.Time `json:"ended,omitzero"`
	Preview               // of its answer
	Failure     *Failure  `json:"failure,omitempty"`
}

// Preview is a value, or the beginning of its JSON if that has more than previewMax bytes. The verb Output returns all of it.
type Preview struct {
	Output  json.RawMessage `json:"output,omitempty"`
	Preview string          `json:"preview,omitempty"`
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
	Seq          uint64          `json:"seq"`
	At           time.Time       `json:"at"`
	Received     time.Time       `json:"received,omitzero"`
	Type         string          `json:"type"`
	Step         string          `json:"step,omitempty"`
	Attempt      int32           `json:"attempt,omitempty"`
	Participant  string          `json:"participant,omitempty"`
	Participants []string        `json:"participants,omitempty"`
	Value        json.RawMessage `json:"value,omitempty"` // input, output or payload, by the type
	Failure      *Failure        `json:"failure,omitempty"`
	State        string          `json:"state,omitempty"`
	Name         string          `json:"name,omitempty"`
	Actor        string          `json:"actor,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	Timer        string          `json:"timer,omitempty"`
	Key          string          `json:"key,omitempty"`
	Due          time.Time       `json:"due,omitzero"`
	RetryAt      time.Time       `json:"retry_at,omitzero"`
	Count        int32           `json:"count,omitempty"`
	About        json.RawMessage `json:"about,omitempty"`   // metadata of an answer, beside the output
	Making       int32           `json:"making,omitempty"`  // of a report: how often the call was made so far, from 1
	Work         bool            `json:"work,omitempty"`    // of a retry: the work is repeated
	Cause        string          `json:"cause,omitempty"`   // the run above that was paused or resumed
	Outcome      string          `json:"outcome,omitempty"` // late, duplicate or unbound: the event has no effect, or none yet
	Start        *Start          `json:"start,omitempty"`
}

// Start describes how a run was started, besides its input.
type Start struct {
	Run      string            `json:"run"`
	Name     string            `json:"name"`
	Version  string            `json:"version,omitempty"`
	Workflow string            `json:"workflow"` // hash
	Parent   string            `json:"parent,omitempty"`
	Identity *Identity         `json:"identity,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Actor    string            `json:"actor,omitempty"`
}

// Identity is the identity under which a run makes its calls.
type Identity struct {
	ID        string          `json:"id"`
	Scopes    []string        `json:"scopes,omitempty"`
	Resources json.RawMessage `json:"resources,omitempty"`

	ResourcesPreview string `json:"resources_preview,omitempty"` // of a call, in place of resources of more than 1 KiB: the beginning
}

// Failure describes a failure.
type Failure struct {
	Code      string          `json:"code"`
	Step      string          `json:"step,omitempty"` // where it originated, if elsewhere
	Message   string          `json:"message,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
	Retryable bool            `json:"retryable,omitempty"`
}

func (f *Failure) String() string {
	if f.Message == "" {
		return f.Code
	}
	return f.Code + ": " + f.Message
}

// Update is one event and its effects.
type Update struct {
	Event   Event    `json:"event"`
	Changes []Change `json:"changes"`
	Tasks   []Task   `json:"tasks,omitempty"`
	Loops   []Loop   `json:"loops,omitempty"`
	Status  string   `json:"status"` // of the run, after the event
}

// Change is a change of a step's status.
type Change struct {
	Step    string   `json:"step"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Attempt int32    `json:"attempt,omitempty"`
	Pending bool     `json:"pending,omitempty"` // failed, with a retry to come
	Failure *Failure `json:"failure,omitempty"`
}

// Task is a change of the state of a step's task.
type Task struct {
	Step    string   `json:"step"`
	Attempt int32    `json:"attempt,omitempty"`
	From    string   `json:"from"`
	To      string   `json:"to"`
	Failure *Failure `json:"failure,omitempty"`
}

// Loop is the progress of a loop of a playbook's step.
type Loop struct {
	Step   string `json:"step"` // key of the step-run
	Items  int    `json:"items"`
	Done   int    `json:"done"`
	Failed int    `json:"failed,omitempty"`
}

// RunOf describes a run by its head.
func RunOf(h *journal.Head) *Run {
	return &Run{
		Run: h.Run, Workflow: h.Name, Hash: h.Workflow, Status: h.Status, Finished: !h.Open, Started: instant(h.Started),
		Updated: instant(h.Updated), Due: instant(h.Due), Events: h.Last, Labels: h.Labels,
	}
}

// runOfState describes a run without its steps.
func runOfState(s *coordinator.State) *Run {
	r := &Run{
		Run: s.Run, Workflow: s.Start.Name, Version: s.Start.Version, Hash: s.Start.Workflow, Status: string(s.Status),
		Finished: s.Finished, Started: instant(s.Started), Updated: instant(s.Updated), Due: instant(s.Due), Events: s.Seq,
		Labels: s.Start.Labels, Actor: s.Start.Actor, Failure: FailureOf(s.Failure), Parked: coordinator.ParkedReason(s.Parked),
		Late: s.Late,
	}
	if s.Output != nil {
		r.Output = encoded(s.Output)
	}
	if s.Routed != nil {
		routedOf(r, s.Routed)
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
	if e.Value != nil {
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
	out.Making, out.Work, out.Cause = d.Making, d.Work, d.Cause
	if s := d.Start; s != nil {
		out.Start = &Start{s.Run, s.Name, s.Version, s.Workflow, s.Parent, identityOf(s.Identity), s.Labels, s.Actor}
	}
	return out
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

// FailureOf describes a failure; nil for none.
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

// encoded returns a value as JSON. Every journaled value can be encoded.
func encoded(v any) json.RawMessage {
	data, err := value.JSON(v)
	if err != nil {
		data, _ = json.Marshal(err.Error())
	}
	return data
}

func instant(nanoseconds int64) time.Time {
	if nanoseconds == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanoseconds).UTC()
}
