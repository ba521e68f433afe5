package feed

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
)

// Kinds of frames.
const (
	KindSnapshot = "snapshot" // of one run: what it is like after an event, see Snapshot
	KindUpdate   = "update"   // what has changed since the frame before, see Update and Changed
	KindReset    = "reset"    // of one run: a snapshot follows, in place of what lies between; of all: list the runs anew
	KindReady    = "ready"    // of all runs: list the runs, and what changes from then on follows
	KindEnd      = "end"      // of one run: it has ended
	KindError    = "error"    // of one of several runs: it cannot be followed, see Frame.Err
)

// Frame is one message to an observer. The observer must not change Data, which it may share with others.
type Frame struct {
	Kind string // see KindSnapshot and the others
	ID   string // where an observer that has read the frame resumes
	Data []byte // JSON
	Run  string // of one of several runs: which
	Err  error  // of KindError
}

// Snapshot is the data of a frame: a run after an event.
type Snapshot struct {
	Run      string       `json:"run"`                // id
	Seq      uint64       `json:"seq"`                // of the event
	Workflow string       `json:"workflow,omitempty"` // name
	Hash     string       `json:"hash,omitempty"`     // of the workflow
	Status   string       `json:"status"`             // of the run
	Steps    []StepStatus `json:"steps"`              // those that are no longer idle, in the order in which they have become so
}

// StepStatus is the status of a step.
type StepStatus struct {
	Step    string `json:"step"`              // key
	Status  string `json:"status"`            // a reactive.Status
	Attempt int32  `json:"attempt,omitempty"` // newest; 0: none was made
	Pending bool   `json:"pending,omitempty"` // failed, with a retry to come
	Code    string `json:"code,omitempty"`    // of the failure
}

// Update is the data of a frame: what one or more events have changed.
type Update struct {
	From   uint64       `json:"from"`             // sequence of the first event
	Seq    uint64       `json:"seq"`              // of the last
	At     time.Time    `json:"at"`               // when that was decided
	Status string       `json:"status"`           // of the run, after it
	Steps  []StepStatus `json:"steps,omitempty"`  // of the view Steps: changes in order
	Events []api.Update `json:"events,omitempty"` // of the view Events
}

// Changed is the data of a frame of all runs.
type Changed struct {
	Runs []RunChange `json:"runs"` // in the order of the change log
}

// RunChange is what has become of a run.
type RunChange struct {
	Run     string   `json:"run"`               // id
	Seq     uint64   `json:"seq,omitempty"`     // of its newest event: it has changed from the Seq that was told before
	Head    *api.Run `json:"head,omitempty"`    // as a list shows it: that of the event, or a newer one
	Deleted bool     `json:"deleted,omitempty"` // the run was deleted
	Left    bool     `json:"left,omitempty"`    // the query does not select it, or does not any more
}

// fragment is what one event has changed, encoded.
type fragment struct {
	seq    uint64
	at     time.Time
	status string
	steps  []byte // elements of Update.Steps, with commas between
	event  []byte // an element of Update.Events
}

func (f *fragment) size() int { return len(f.steps) + len(f.event) }

// statusOfStep returns what an observer is told of a change.
func statusOfStep(c *coordinator.StepChange) StepStatus {
	s := StepStatus{Step: c.Step, Status: c.To.String(), Attempt: c.Attempt, Pending: c.Pending}
	if c.Failure != nil {
		s.Code = c.Failure.Code
	}
	return s
}

// fragmentOf encodes an update.
func fragmentOf(u *coordinator.Update) (f fragment, err error) {
	f = fragment{seq: u.Event.Seq, at: u.Event.Time().UTC(), status: string(u.Status)}
	if f.event, err = encode(api.UpdateOf(u)); err != nil {
		return f, err
	}
	for i := range u.Changes {
		step, err := encode(statusOfStep(&u.Changes[i]))
		if err != nil {
			return f, err
		}
		f.steps = appendElement(f.steps, step)
	}
	return f, nil
}

// joined returns the frame of several updates that follow the event with sequence after.
func joined(view View, after uint64, list []fragment) Frame {
	last := &list[len(list)-1]
	data := append(make([]byte, 0, 128+frameBytes), `{"from":`...)
	data = strconv.AppendUint(data, after+1, 10)
	data = strconv.AppendUint(append(data, `,"seq":`...), last.seq, 10)
	data = last.at.AppendFormat(append(data, `,"at":"`...), time.RFC3339Nano)
	data = strconv.AppendQuote(append(data, `","status":`...), last.status)
	data = append(data, `,"`+string(view)+`":[`...)
	start := len(data)
	for i := range list {
		part := list[i].steps
		if view == Events {
			part = list[i].event
		}
		if len(part) > 0 && len(data) > start {
			data = append(data, ',')
		}
		data = append(data, part...)
	}
	return Frame{Kind: KindUpdate, ID: strconv.FormatUint(last.seq, 10), Data: append(data, "]}"...)}
}

func appendElement(list, element []byte) []byte {
	if len(list) > 0 {
		list = append(list, ',')
	}
	return append(list, element...)
}

// encode returns JSON on one line, in which markup stays as it is.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
