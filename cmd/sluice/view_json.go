package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// jsonView prints one object a line: each update, and at last the result.
type jsonView struct {
	w   *bufio.Writer
	enc *json.Encoder
}

func newJSONView(w io.Writer) *jsonView {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return &jsonView{b, enc}
}

// jsonUpdate is a coordinator.Update as programs read it. Fields that say nothing are left out.
type jsonUpdate struct {
	Event   jsonEvent    `json:"event"`
	Changes []jsonChange `json:"changes"`
	Status  string       `json:"status"` // of the run, after the event
}

type jsonEvent struct {
	Seq         uint64          `json:"seq"`
	At          time.Time       `json:"at"`
	Type        string          `json:"type"`
	Step        string          `json:"step,omitempty"`
	Attempt     int32           `json:"attempt,omitempty"`
	Participant string          `json:"participant,omitempty"`
	Value       json.RawMessage `json:"value,omitempty"` // input, output or payload, by the type
	Failure     *jsonFailure    `json:"failure,omitempty"`
	State       string          `json:"state,omitempty"`
	Name        string          `json:"name,omitempty"`
	Actor       string          `json:"actor,omitempty"`
	Reason      string          `json:"reason,omitempty"`
	Timer       string          `json:"timer,omitempty"`
	Due         *time.Time      `json:"due,omitempty"`
	RetryAt     *time.Time      `json:"retry_at,omitempty"`
	Start       *jsonStart      `json:"start,omitempty"`
}

type jsonStart struct {
	Run      string            `json:"run"`
	Name     string            `json:"name"`
	Version  string            `json:"version,omitempty"`
	Workflow string            `json:"workflow"` // hash
	Labels   map[string]string `json:"labels,omitempty"`
}

type jsonChange struct {
	Step    string       `json:"step"`
	From    string       `json:"from"`
	To      string       `json:"to"`
	Attempt int32        `json:"attempt,omitempty"`
	Pending bool         `json:"pending,omitempty"` // failed, with a retry to come
	Failure *jsonFailure `json:"failure,omitempty"`
}

type jsonFailure struct {
	Code      string          `json:"code"`
	Message   string          `json:"message,omitempty"`
	Details   json.RawMessage `json:"details,omitempty"`
	Retryable bool            `json:"retryable,omitempty"`
}

type jsonEnd struct {
	Result    *jsonResult    `json:"result,omitempty"`
	Suspended *jsonSuspended `json:"suspended,omitempty"`
}

type jsonResult struct {
	Run     string          `json:"run"`
	Status  string          `json:"status"`
	Output  json.RawMessage `json:"output"`
	Failure *jsonFailure    `json:"failure,omitempty"`
}

type jsonSuspended struct {
	Resume string `json:"resume"` // the command that does it
}

func (v *jsonView) update(u *coordinator.Update, news bool) {
	if !news {
		return
	}
	out := jsonUpdate{Event: eventJSON(&u.Event), Changes: make([]jsonChange, len(u.Changes)), Status: string(u.Status)}
	for i := range u.Changes {
		c := &u.Changes[i]
		out.Changes[i] = jsonChange{c.Step, c.From.String(), c.To.String(), c.Attempt, c.Pending, failureJSON(c.Failure)}
	}
	v.print(out)
}

func (*jsonView) stopping(string)  {}
func (*jsonView) note(text string) { fmt.Fprint(os.Stderr, text) }

func (v *jsonView) end(e ending) {
	switch r := e.result; {
	case r != nil:
		v.print(jsonEnd{Result: &jsonResult{r.Run, string(r.Status), valueJSON(r.Output), failureJSON(r.Failure)}})
	case e.resume != "":
		v.print(jsonEnd{Suspended: &jsonSuspended{e.resume}})
	}
}

// print writes a line at once: who reads it may be waiting for it.
func (v *jsonView) print(object any) {
	if err := v.enc.Encode(object); err != nil {
		fmt.Fprintln(os.Stderr, "sluice:", err)
	}
	v.w.Flush()
}

func eventJSON(e *journal.Event) jsonEvent {
	out := jsonEvent{Seq: e.Seq, At: e.Time(), Type: e.Type.String(), Step: e.Node, Attempt: e.Attempt}
	if e.Value != nil {
		out.Value = valueJSON(e.Value)
	}
	d := e.Detail
	if d == nil {
		return out
	}
	out.Participant, out.State, out.Name, out.Actor, out.Reason, out.Timer =
		d.Participant, d.State, d.Name, d.Actor, d.Reason, d.Timer
	out.Failure, out.Due, out.RetryAt = failureJSON(d.Failure), instant(d.Due), instant(d.RetryAt)
	if s := d.Start; s != nil {
		out.Start = &jsonStart{s.Run, s.Name, s.Version, s.Workflow, s.Labels}
	}
	return out
}

func failureJSON(f *journal.Failure) *jsonFailure {
	if f == nil {
		return nil
	}
	out := &jsonFailure{Code: f.Code, Message: f.Message, Retryable: f.Retryable}
	if f.Details != nil {
		out.Details = valueJSON(f.Details)
	}
	return out
}

// valueJSON gives a value as JSON. What comes from a journal always has such a form.
func valueJSON(v any) json.RawMessage {
	data, err := value.JSON(v)
	if err != nil {
		data, _ = json.Marshal(err.Error())
	}
	return data
}

func instant(nanoseconds int64) *time.Time {
	if nanoseconds == 0 {
		return nil
	}
	t := time.Unix(0, nanoseconds).UTC()
	return &t
}
