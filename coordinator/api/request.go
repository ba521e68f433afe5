package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/calllog"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// Bounds of the encoding of a request, including its payload, and of its attachment, in bytes.
const (
	RequestMax    = 1 << 20
	AttachmentMax = 64 << 20
)

// protocolVersion is the version of requests and replies.
const protocolVersion = 1

// Verb is the kind of a request.
type Verb string

// The verbs. Verb.Command reports which of them are commands: these change a run or the folder, and need an actor.
const (
	List     Verb = "runs"     // runs, newest first. Query, Labels, Limit, Cursor, Dry: only explain the query
	Show     Verb = "show"     // a run and its steps or cells. Run, Step ("": the run; else one cell of a world), At
	Cells    Verb = "cells"    // the cells of a world. Run, Step ("": all; else one cell), Machine, Status, If, Limit
	Output   Verb = "output"   // the whole output of a step. Run, Step ("": the run), Participant
	Await    Verb = "await"    // wait until a condition about a cell of a world is true. Run, Step, If
	Events   Verb = "events"   // the events of a run's journal. Run, From, Step ("": all)
	Views    Verb = "views"    // the history of the net of a playbook, or of the cells of a world. Run, From, Step ("": all; else one cell)
	Log      Verb = "log"      // the output of a run's calls, until it ends. Run, Step ("": all)
	Watch    Verb = "watch"    // changes, past and future, until the run ends. Run, From
	Graph    Verb = "graph"    // the calls of a run, and of the runs above and below it. Run, At
	Explain  Verb = "explain"  // the reasons for the status of a run or a step. Run, Step ("": the run), At
	Send     Verb = "send"     // send a message to a run. Run, Message, Payload, ID
	Decide   Verb = "decide"   // decide a step's task: done or not. Run, Step, Decision, Reason, Payload
	Pause    Verb = "pause"    // prevent new starts. Run, Step ("": the run; else hold one cell of a world), Reason
	Resume   Verb = "resume"   // end a pause. Run, Step
	Cancel   Verb = "cancel"   // end a run. Run, Reason
	Abort    Verb = "abort"    // stop a step. Run, Step, Reason
	Retry    Verb = "retry"    // attempt a step again. Run, Step, Work, NewKey
	Delete   Verb = "delete"   // delete an ended run and its child runs. Run: its full id
	Keep     Verb = "snapshot" // take a snapshot of a world. Run
	Sweep    Verb = "gc"       // delete content and events of a world that its last two snapshots do not need. Run, Dry, Events
	Patch    Verb = "patch"    // write to a playbook's context. Run, Payload: an object of values by path, Reason
	Begin    Verb = "start"    // start a run. Name ("": the attached workflow), ID ("": a new one), Dir, Labels, Attachment
	Publish  Verb = "publish"  // make a workflow the newest of its name. Attachment
	Export   Verb = "export"   // export runs with all data that they need, as a file. Runs; without Runs: Query ("": all)
	Import   Verb = "import"   // import the runs of an exported file. File
	Backup   Verb = "backup"   // copy the journal. File: the folder of the copy
	Retain   Verb = "keep"     // set or remove a retention rule. Query, Keep ("": remove the rule with the query), Every
	Rules    Verb = "rules"    // the retention rules
	Names    Verb = "names"    // the names of published workflows, in order. Name: a prefix; Limit
	Collect  Verb = "collect"  // delete expired runs and unused data. Dry, Beside, Keep ("": by the rules; else for all runs)
	Bulk     Verb = "bulk"     // act on many runs. Act, Query, Expect, Reason, Dry; of a rerun Rerun, Dir; of it and a move Name, Attachment
	Acts     Verb = "acts"     // acts on many runs, newest first; with Number, the outcomes of one. Number
	AwaitAct Verb = "act"      // wait until an act has ended. Number
	StopAct  Verb = "stop"     // stop an act. Number
	Repeat   Verb = "rerun"    // repeat a part of a run. Run, Rerun, ID, Dir, Labels, Attachment: workflow and input, Dry: only preview
	Shadow   Verb = "shadow"   // follow runs under another workflow. Run, or Query; Name ("": the attached workflow), Attachment
	Move     Verb = "move"     // move a run to another workflow. Run; Name ("": the attached workflow), Attachment; Dry: only check the move
	Compare  Verb = "diff"     // compare a workflow with another, and find the consequences for its open runs. Old, Name, Attachment
)

// The decisions.
const (
	Fulfilled    = "fulfilled"
	NotFulfilled = "not_fulfilled"
)

// Request is one request. The comments of the verbs list the fields that they use.
type Request struct {
	Version  int             `json:"v"`                  // 1; set by Encode
	Verb     Verb            `json:"verb"`               // the kind of request
	Run      string          `json:"run,omitempty"`      // id, or a prefix of one
	Step     string          `json:"step,omitempty"`     // key, such as `check[3]`; of a world also the address of a cell
	Actor    string          `json:"actor,omitempty"`    // of a command, at most 256 bytes
	Reason   string          `json:"reason,omitempty"`   // for people, and journaled
	Decision string          `json:"decision,omitempty"` // Fulfilled or NotFulfilled
	Work     bool            `json:"work,omitempty"`     // of a retry: repeat the work even if only the decision is open
	NewKey   bool            `json:"new_key,omitempty"`  // of a retry: use a new idempotency key
	Message  string          `json:"message,omitempty"`  // name of the message
	Payload  json.RawMessage `json:"payload,omitempty"`  // of the message or the decision, or the changes; empty: null
	From     uint64          `json:"from,omitempty"`     // first requested sequence; 0 and 1: all

	At *Moment `json:"at,omitempty"` // of show, explain and graph: describe the run at this moment; nil: now

	UntilParked bool   `json:"until_parked,omitempty"` // of a watch: end it with ErrParked when the run is parked in the answering process
	Participant string `json:"participant,omitempty"`  // a participant that the step has asked

	ID      string `json:"id,omitempty"`      // of a message: a second one of the same id has no effect; of a start: id of the run
	Same    bool   `json:"-"`                 // of a message to a world: it is refused if it differs from the first of its id, as other runs always refuse it
	Machine string `json:"machine,omitempty"` // only cells of this machine
	Status  string `json:"status,omitempty"`  // only cells of this status, see world.Status; or Paused
	If      string `json:"if,omitempty"`      // only cells for which this condition is true, see cells.Condition
	Index   string `json:"index,omitempty"`   // NAME=VALUE: only cells with the value, a text or JSON, in the index
	Limit   int    `json:"limit,omitempty"`   // maximum number of cells, runs or names; 0: all
	Dry     bool   `json:"dry,omitempty"`     // of a command: only preview it, with the same errors; of a list: only explain the query
	Events  int    `json:"events,omitempty"`  // of a sweep: the least number of newest events to keep; negative: all; 0: see cells.Handle.Trim

	Query  string            `json:"query,omitempty"`  // selects runs, see package query; "": all
	Labels map[string]string `json:"labels,omitempty"` // of the runs; of a start: for the new run
	Cursor string            `json:"cursor,omitempty"` // start of the list: Done.Next of the list before

	Runs []string `json:"runs,omitempty"` // ids, or prefixes of them
	File string   `json:"file,omitempty"` // absolute path of a file or folder, which the answering process opens

	Act    string `json:"act,omitempty"`    // the verb of an act on many runs, see bulk.Verbs
	Expect int    `json:"expect,omitempty"` // expected number of runs that the query selects
	Number uint64 `json:"number,omitempty"` // id of an act

	Rerun *Rerun `json:"rerun,omitempty"` // of a rerun: the steps that run again

	Name       string `json:"name,omitempty"`     // of a published workflow; of names: a prefix; of a comparison also NAME@NUMBER
	Old        string `json:"old,omitempty"`      // of a comparison: the name of the other workflow; "": it is attached
	Keep       string `json:"keep,omitempty"`     // time to keep ended runs: an age such as 30d, or Forever
	Every      bool   `json:"every,omitempty"`    // remove all rules
	Beside     bool   `json:"beside,omitempty"`   // other work runs meanwhile: pause between slices
	Dir        string `json:"dir,omitempty"`      // absolute path of the working folder for programs of the run
	Document   bool   `json:"document,omitempty"` // of a start by name, or of show: return the document of the workflow
	Attached   int    `json:"attached,omitempty"` // bytes of the attachment after the line; set by Encode
	Attachment []byte `json:"-"`                  // these bytes
}

// Command reports whether the verb is a command: it changes a run or the folder, and needs an actor.
func (v Verb) Command() bool {
	switch v {
	case Send, Decide, Pause, Resume, Cancel, Abort, Retry, Patch, Delete, Keep, Sweep, Begin, Publish, Import, Retain, Bulk, StopAct, Repeat, Move:
		return true
	}
	return false
}

// Changes reports whether a request may have changed data even if its answer was cut off.
func (v Verb) Changes() bool { return v.Command() || v == Collect }

// hasAttachment reports whether a request with the verb may have an attachment, and does not name one existing run as its subject.
// Repeat, Move and Bulk may have attachments, too.
func (v Verb) hasAttachment() bool { return v == Begin || v == Publish || v.compares() }

// compares reports whether the verb only compares workflows, or runs with a workflow.
func (v Verb) compares() bool { return v == Shadow || v == Compare }

// handleFolder reports whether the verb is about all runs, or the runs of a query.
func (v Verb) handleFolder() bool {
	return v == Retain || v == Rules || v == Collect || v == Names || v.isAboutActs()
}

// isAboutActs reports whether the verb is about acts on many runs.
func (v Verb) isAboutActs() bool { return v == Bulk || v == Acts || v == AwaitAct || v == StopAct }

// isAboutRun reports whether requests with the verb are about one existing run.
func (v Verb) isAboutRun() bool {
	return v != List && v != Export && v != Import && v != Backup && !v.handleFolder() && !v.hasAttachment()
}

// Follows reports whether the answer to the verb may last for any time, and ends when its reader disconnects.
func (v Verb) Follows() bool {
	switch v {
	case Watch, Log, Await, Export, Import, Backup, Collect, Bulk, AwaitAct, StopAct, Shadow, Compare:
		return true
	}
	return false
}

// isRead reports whether the verb is no command.
func (v Verb) isRead() bool {
	switch v {
	case List, Show, Output, Events, Views, Watch, Log, Graph, Explain, Cells, Await, Export, Backup, Rules, Collect, Names, Acts, AwaitAct, Shadow, Compare:
		return true
	}
	return false
}

// check returns an error if a request is invalid or incomplete.
func (r *Request) check() error {
	fault := r.momentFault()
	switch {
	case fault != "":
	case !r.Verb.Command() && !r.Verb.isRead():
		fault = fmt.Sprintf("there is no verb %q", r.Verb)
	case r.Attached > AttachmentMax || len(r.Attachment) > AttachmentMax:
		fault = fmt.Sprintf("the workflow and the input that are attached have %d bytes, at most %d are allowed", max(r.Attached, len(r.Attachment)), AttachmentMax)
	case r.Attached < 0 || r.Attached > 0 && !r.Verb.hasAttachment() && r.Verb != Repeat && r.Verb != Move && r.Verb != Bulk:
		fault = fmt.Sprintf("nothing can be attached to %q", r.Verb)
	case r.Dir != "" && !filepath.IsAbs(r.Dir):
		fault = fmt.Sprintf("the folder %q is not an absolute path", r.Dir)
	case (r.Verb == Import || r.Verb == Backup) && !filepath.IsAbs(r.File):
		fault = fmt.Sprintf("%q is not an absolute path", r.File)
	case r.Verb == Shadow && (r.Run == "") == (r.Query == ""):
		fault = "a shadow needs either a run or a query"
	case len(r.Runs) > 0 && r.Query != "":
		fault = "runs and a query exclude each other"
	case r.Dry && (r.Verb == Begin || r.Verb == Publish || r.Verb == Import):
		fault = fmt.Sprintf("%q has no preview", r.Verb)
	case r.Verb.isAboutRun() && r.Run == "":
		fault = "no run is named"
	case r.Verb.Command() && r.Actor == "":
		fault = "a command names its actor"
	case len(r.Actor) > coordinator.ActorMax:
		fault = fmt.Sprintf("an actor has at most %d bytes", coordinator.ActorMax)
	case r.needsStep() && r.Step == "":
		fault = "no step is named"
	case r.Verb == Send && r.Message == "":
		fault = "no message is named"
	case r.Verb == Await && r.If == "":
		fault = "no condition is given"
	case r.Verb == Repeat && r.Rerun == nil:
		fault = "the rerun selects no steps"
	case r.Limit < 0:
		fault = fmt.Sprintf("a limit cannot be %d", r.Limit)
	case r.Status != "" && !slices.Contains(CellStatuses, r.Status):
		fault = fmt.Sprintf("the status of a cell is one of %s, not %q", strings.Join(CellStatuses, ", "), r.Status)
	case r.Verb == Decide && r.Decision != Fulfilled && r.Decision != NotFulfilled:
		fault = fmt.Sprintf("a decision is %q or %q, not %q", Fulfilled, NotFulfilled, r.Decision)
	default:
		return nil
	}
	return fmt.Errorf("%w: %s", ErrBadRequest, fault)
}

// wants reports whether the request selects an event: any event, or those about the given step, including the items of the step
// and, in a playbook, its step-runs and calls.
func (r *Request) wants(e *journal.Event) bool {
	return calllog.About(e.Node, r.Step)
}

func (r *Request) needsStep() bool {
	return r.Verb == Decide || r.Verb == Abort || r.Verb == Retry || r.Verb == Await
}

// Encode returns the request as a line.
func (r *Request) Encode() ([]byte, error) {
	versioned := *r
	versioned.Version, versioned.Attached = protocolVersion, len(r.Attachment)
	if err := versioned.check(); r.Verb.hasAttachment() && err != nil {
		return nil, err
	}
	line, err := json.Marshal(&versioned)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	if len(line) > RequestMax {
		return nil, TooLarge()
	}
	return append(line, '\n'), nil
}

// TooLarge returns the error about a request with more than RequestMax bytes.
func TooLarge() error {
	return fmt.Errorf("%w: it has more than %d bytes", ErrBadRequest, RequestMax)
}

// DecodeRequest decodes a line. It refuses unknown fields, because executing only a part of a request could do harm.
func DecodeRequest(line []byte) (*Request, error) {
	var r Request
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	if err == nil {
		if _, more := d.Token(); more != io.EOF {
			err = fmt.Errorf("it has text after the request")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadRequest, err)
	}
	if r.Version != protocolVersion {
		return nil, fmt.Errorf("%w: version %d; this process supports version %d", ErrBadRequest, r.Version, protocolVersion)
	}
	if r.Attached != 0 { // before the attachment is read
		if err := r.check(); err != nil {
			return nil, err
		}
	}
	return &r, nil
}
