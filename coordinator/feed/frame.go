package feed

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/brief"
)

// Kinds of frames.
const (
	KindSnapshot = "snapshot" // of one run: its state after an event, see Snapshot
	KindUpdate   = "update"   // the changes since the frame before, see Update and Changed
	KindReset    = "reset"    // of one run: a snapshot follows, in place of the frames between; of all: list the runs anew
	KindReady    = "ready"    // of all runs: list the runs; the changes from then on follow
	KindEnd      = "end"      // of one run: it has ended
	KindError    = "error"    // of one of several runs: it cannot be followed, see Frame.Err
)

// Frame is one message to an observer. The observer must not change Data, which it may share with others.
type Frame struct {
	Kind string // see KindSnapshot and the others
	ID   string // place behind which an observer that has read the frame resumes
	Data []byte // JSON
	Run  string // of one of several runs: its id
	Err  error  // of KindError

	Since time.Time // when the server received the first of its changes, once they were durable; zero: it has no new changes

	last uint64 // of an update: sequence of its last event
}

// Snapshot is the data of a frame: a run after an event.
type Snapshot struct {
	Run      string       `json:"run"`                // id
	Seq      uint64       `json:"seq"`                // of the event
	Workflow string       `json:"workflow,omitempty"` // name
	Hash     string       `json:"hash,omitempty"`     // of the workflow
	Status   string       `json:"status"`             // of the run
	Steps    []StepStatus `json:"steps"`              // those that are no longer idle, in the order in which they have become so
	Maps     []MapCount   `json:"maps,omitempty"`     // those that have items
}

// NetSnapshot is the data of a frame of the view Net: the net of a run after an event.
type NetSnapshot struct {
	Run      string    `json:"run"`                // id
	Seq      uint64    `json:"seq"`                // of the event
	Workflow string    `json:"workflow,omitempty"` // name
	Hash     string    `json:"hash,omitempty"`     // of the workflow
	Status   string    `json:"status"`             // of the run
	Net      []NetStep `json:"net"`                // those that have had a token
	Revision uint64    `json:"revision,omitempty"` // sequence of the event that has last written to the context
}

// MapCount is the progress of the items of a map, or of the iterations of a run of a playbook's step.
type MapCount struct {
	Map     string `json:"map"`               // key of the map, or of the run of the step
	Of      int    `json:"of"`                // number of items
	OK      int    `json:"ok,omitempty"`      // number that have ended well
	Failed  int    `json:"failed,omitempty"`  // number that have failed
	Running int    `json:"running,omitempty"` // of a map: number that have begun and not ended
}

// NetStep is a step of a playbook: the place of the tokens before it, and the transition that takes them.
type NetStep struct {
	Step  string `json:"step"`            // name
	Ready int    `json:"ready,omitempty"` // tokens that are let in, and wait for their turn
	Gate  int    `json:"gate,omitempty"`  // tokens that its gate holds back
	Join  int    `json:"join,omitempty"`  // tokens that wait at its join for others
	Runs  int    `json:"runs,omitempty"`  // number of tokens that it has taken: each begins a run of the step
	Live  int    `json:"live,omitempty"`  // runs under way
	Arcs  []int  `json:"arcs,omitempty"`  // indexes of the arcs by which the newest run that has ended has put tokens
	Taken []int  `json:"taken,omitempty"` // indexes of the arcs by which any run has put tokens
}

// StepStatus is the status of a step.
type StepStatus struct {
	Step    string `json:"step"`              // key
	Status  string `json:"status"`            // a reactive.Status
	Attempt int32  `json:"attempt,omitempty"` // newest; 0: none was made
	Pending bool   `json:"pending,omitempty"` // failed, with a retry to come
	Code    string `json:"code,omitempty"`    // of the failure
}

// Update is the data of a frame: the changes by one or more events.
type Update struct {
	From   uint64       `json:"from"`             // sequence of the first event
	Seq    uint64       `json:"seq"`              // of the last
	At     time.Time    `json:"at"`               // when that was decided
	Status string       `json:"status"`           // of the run, after it
	Steps  []StepStatus `json:"steps,omitempty"`  // of the view Steps: changes in order
	Maps   []MapCount   `json:"maps,omitempty"`   // of the view Steps: those with progress
	Events []api.Update `json:"events,omitempty"` // of the view Events
	Net    []NetStep    `json:"net,omitempty"`    // of the view Net: changes in order

	Revision uint64 `json:"revision,omitempty"` // of the view Net: as in NetSnapshot, if the context was written to
}

// Changed is the data of a frame of all runs.
type Changed struct {
	Runs []RunChange `json:"runs"` // in the order of the change log
}

// RunChange is the changed state of a run.
type RunChange struct {
	Run     string   `json:"run"`               // id
	Seq     uint64   `json:"seq,omitempty"`     // of its newest event, which follows the Seq of the change before
	Head    *api.Run `json:"head,omitempty"`    // as in a list: the head after the event, or a newer one
	Deleted bool     `json:"deleted,omitempty"` // the run was deleted
	Left    bool     `json:"left,omitempty"`    // the query does not select it, or no longer selects it
}

// fragment is the encoding of the changes by one event.
type fragment struct {
	seq    uint64
	at     time.Time
	taken  time.Time // when it was encoded for all observers; zero: for one observer
	status string
	steps  []part // elements of Update.Steps
	maps   []part // elements of Update.Maps
	event  []byte // an element of Update.Events
	net    []byte // elements of Update.Net, with commas between

	revised bool // the context was written to
}

// part is one or more elements of a list, with commas between, for observers with the map open.
type part struct {
	in   string // key of the map; "": for all observers
	data []byte
}

// size returns the number of bytes that a fragment keeps.
func (f *fragment) size() int {
	n := len(f.event) + len(f.net)
	for _, list := range [2][]part{f.steps, f.maps} {
		for i := range list {
			n += len(list[i].data)
		}
	}
	return n
}

// statusOfStep returns a change of a step in its form for observers.
func statusOfStep(c *coordinator.StepChange) StepStatus {
	s := StepStatus{Step: c.Step, Status: c.To.String(), Attempt: c.Attempt, Pending: c.Pending}
	if c.Failure != nil {
		s.Code = c.Failure.Code
	}
	return s
}

// mapsOf returns the progress of maps and loops, each with the map around it.
func mapsOf(u *coordinator.Update) (list []MapCount, in []string) {
	for i := range u.Maps {
		m := &u.Maps[i]
		list, in = append(list, MapCount{Map: m.Map, Of: m.Items, OK: m.OK, Failed: m.Failed, Running: m.Running}), append(in, m.In)
	}
	for i := range u.Loops {
		l := &u.Loops[i]
		list, in = append(list, MapCount{Map: l.Step, Of: l.Items, OK: l.Done, Failed: l.Failed}), append(in, "")
	}
	return list, in
}

// netStepOf returns a change of a net's step in its form for observers.
func netStepOf(m *coordinator.Marking) NetStep {
	return NetStep{Step: m.Step, Ready: m.Ready, Gate: m.Pending, Join: m.Held, Runs: m.Runs, Live: m.Live, Arcs: m.Arcs, Taken: m.Taken}
}

// fragmentOf encodes an update of a run.
func fragmentOf(run string, u *coordinator.Update) (f fragment, err error) {
	f = fragment{seq: u.Event.Seq, at: u.Event.Time().UTC(), status: string(u.Status), revised: u.Revised}
	described := api.UpdateOf(u)
	brief.Update(run, &described)
	if f.event, err = encode(described); err != nil {
		return f, err
	}
	for _, list := range [2][]coordinator.StepChange{u.Changes, u.Again} {
		for i := range list {
			if f.steps, err = addPart(f.steps, list[i].Map, statusOfStep(&list[i])); err != nil {
				return f, err
			}
		}
	}
	maps, in := mapsOf(u)
	for i := range maps {
		if f.maps, err = addPart(f.maps, in[i], maps[i]); err != nil {
			return f, err
		}
	}
	for i := range u.Net {
		step, err := encode(netStepOf(&u.Net[i]))
		if err != nil {
			return f, err
		}
		f.net = appendElement(f.net, step)
	}
	return f, nil
}

// addPart adds an element to a list of parts.
func addPart(list []part, in string, element any) ([]part, error) {
	data, err := encode(element)
	if err != nil {
		return nil, err
	}
	if last := len(list) - 1; last >= 0 && list[last].in == in {
		list[last].data = appendElement(list[last].data, data)
		return list, nil
	}
	return append(list, part{in, data}), nil
}

// joined returns the frame of several updates that follow the event with sequence after.
func joined(w *wants, after uint64, list []fragment) Frame {
	last, size := &list[len(list)-1], 128+len(list)
	for i := range list {
		size += w.size(&list[i])
	}
	data := append(make([]byte, 0, size), `{"from":`...)
	data = strconv.AppendUint(data, after+1, 10)
	data = strconv.AppendUint(append(data, `,"seq":`...), last.seq, 10)
	data = last.at.AppendFormat(append(data, `,"at":"`...), time.RFC3339Nano)
	data = strconv.AppendQuote(append(data, `","status":`...), last.status)
	data = append(data, `,"`+string(w.view)+`":[`...)
	for i := range list {
		data = w.list(data, &list[i])
	}
	data = append(data, ']')
	switch w.view {
	case Steps:
		data = w.countsOf(data, list)
	case Net:
		data = revisionOf(data, list)
	}
	return Frame{Kind: KindUpdate, ID: strconv.FormatUint(last.seq, 10), Data: append(data, '}'), Since: list[0].taken, last: last.seq}
}

// countsOf appends the progress of maps to a frame.
func (w *wants) countsOf(data []byte, list []fragment) []byte {
	without := len(data)
	data = append(data, `,"maps":[`...)
	start := len(data)
	for i := range list {
		data = w.elements(data, list[i].maps)
	}
	if len(data) == start {
		return data[:without]
	}
	return append(data, ']')
}

// revisionOf appends the sequence of the last event in the list that has written to the context, if any.
func revisionOf(data []byte, list []fragment) []byte {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].revised {
			return strconv.AppendUint(append(data, `,"revision":`...), list[i].seq, 10)
		}
	}
	return data
}

// appendElement appends an element, or several, to a list, with a comma between; nothing, if there is none.
func appendElement(list, element []byte) []byte {
	if last := len(list) - 1; last >= 0 && list[last] != '[' && len(element) > 0 {
		list = append(list, ',')
	}
	return append(list, element...)
}

// encode returns JSON on one line, in which markup is not escaped.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
