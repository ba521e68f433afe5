// Package aftermath traces the consequences of one event of a world's journal.
package aftermath

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
)

// Bounds of a trace.
const (
	tracedMax  = 1_000 // events; further ones are only counted
	tracedDeep = 8     // levels; deeper events are shown beside their causes
)

// Trace holds the consequences of one event: the activations of the cells that took it, and their consequences.
//
//	message.received ─┬─▶ cell.stepped ─┬─▶ cell.stepped of a cell that a raised event went to
//	                  │                 └─▶ call.requested, call.responded ──▶ cell.stepped with the receipt
//	                  └─▶ cell.failed
//
// An event follows its cause, so one pass over the journal finds all.
type Trace struct {
	of    uint64 // the requested sequence
	first *traced
	bySeq map[uint64]*traced
	more  int // number of events beyond tracedMax
}

// New returns the trace of the event with a sequence.
func New(seq uint64) *Trace { return &Trace{of: seq, bySeq: map[uint64]*traced{}} }

// Seen reports whether the event was seen.
func (t *Trace) Seen() bool { return t.first != nil }

// Has reports whether an event is part of the trace.
func (t *Trace) Has(seq uint64) bool { return t.bySeq[seq] != nil }

// Add adds a possible consequence of an event of the trace. It does nothing for any other event.
func (t *Trace) Add(seq uint64, r explain.Reason) {
	if from := t.bySeq[seq]; from != nil {
		from.add(r)
	}
}

// traced is an event of a trace.
type traced struct {
	reason   explain.Reason
	under    *traced // the event under which it is shown
	level    int
	children []*traced
}

// See adds an event that an event of the trace has caused.
func (t *Trace) See(e *journal.Event, decided *explain.Event) {
	if e.Seq == t.of {
		t.first = &traced{reason: explain.Reason{Text: tracedText(e), Decided: decided}}
		t.bySeq[e.Seq] = t.first
		return
	}
	from := t.bySeq[cause(e)]
	switch {
	case from == nil:
	case len(t.bySeq) == tracedMax:
		t.more++
	default:
		t.bySeq[e.Seq] = from.add(explain.Reason{Kind: "event", Step: e.Node, Text: tracedText(e), Decided: decided})
	}
}

// add adds a consequence of an event.
func (t *traced) add(r explain.Reason) *traced {
	under := t
	if t.level == tracedDeep {
		under = t.under
	}
	child := &traced{reason: r, under: under, level: under.level + 1}
	under.children = append(under.children, child)
	return child
}

// cause returns the sequence of the cause of an event of a world, or 0 for an event from outside.
func cause(e *journal.Event) uint64 {
	switch e.Type {
	case journal.CellStepped:
		return steps.Read(e).Cause
	case journal.CellFailed:
		seq, _ := e.Value.(int64)
		return uint64(seq)
	}
	return emittedAt(e.Node)
}

// emittedAt returns the sequence of the activation that opened an intent, from the key of its node, or 0 for any other key.
func emittedAt(key string) uint64 {
	at := strings.LastIndexByte(key, '@')
	if at < 0 {
		return 0
	}
	number, _, _ := strings.Cut(key[at+1:], ".")
	seq, _ := strconv.ParseUint(number, 10, 64)
	return seq
}

// tracedText describes an event in a sentence.
func tracedText(e *journal.Event) string {
	text := e.Type.String()
	switch {
	case e.Type == journal.MessageReceived && len(e.Detail.Cells) == 0:
		return fmt.Sprintf("message %s had no subscriber", e.Detail.Name)
	case e.Type == journal.MessageReceived:
		return fmt.Sprintf("message %s went to %s", e.Detail.Name, strings.Join(e.Detail.Cells, ", "))
	case e.Type == journal.CellStepped:
		return "cell " + e.Node + " took it: " + steps.Read(e).Text()
	case e.Type == journal.CellFailed:
		return "cell " + e.Node + " failed: " + e.Detail.Failure.Error()
	case e.Type == journal.CallRequested:
		text = fmt.Sprintf("call %s was requested, attempt %d", e.Node, e.Attempt)
	case e.Type == journal.CallResponded:
		text = "call " + e.Node + " has answered"
	case e.Type == journal.CallReported:
		text = fmt.Sprintf("call %s has reported %s", e.Node, e.Detail.Name)
	case e.Type == journal.TimerFired:
		text = "timer " + e.Node + " has fired"
	case e.Node != "":
		text += " of " + e.Node
	}
	if e.Detail != nil && e.Detail.Failure != nil {
		text += ": " + e.Detail.Failure.Error()
	}
	return text
}

// Explanation explains the event under a name. The event must have been seen.
func (t *Trace) Explanation(name string) *explain.Explanation {
	first := t.first.reason
	out := &explain.Explanation{About: name, Kind: "event", Status: first.Decided.Type, Decided: first.Decided}
	first.Kind, first.Decided, first.Reasons = "event", nil, t.first.show()
	out.Reasons = []explain.Reason{first}
	if t.more > 0 {
		out.Reasons = append(out.Reasons, explain.Reason{Kind: "more", Text: fmt.Sprintf("%d more events came of it", t.more)})
	}
	return out
}

// show returns the consequences of an event, in the order of the journal.
func (t *traced) show() (list []explain.Reason) {
	for _, child := range t.children {
		r := child.reason
		r.Reasons = append(r.Reasons, child.show()...)
		list = append(list, r)
	}
	return list
}
