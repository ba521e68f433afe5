package ledger

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// reportsKept bounds the newest reports of a step that expressions can read.
const reportsKept = 100

// reportLog holds the reports of steps' calls.
type reportLog struct {
	l       *Ledger
	reports map[int32]*reports // by step whose newest attempt has reported
}

// reports holds the reports of the newest attempt of a step.
type reports struct {
	from map[string]*reporter // by participant; "" for a step without participants
	last []value.Value        // the newest reports, oldest first; a returned slice never changes
}

// reporter counts the reports of one call.
type reporter struct {
	count  int32 // number of events, repeated ones included
	again  int32 // number of repeated reports
	number int32 // highest number so far
	making int32 // the newest making that has reported
	kind   string
	at     int64 // instant of the newest report, Unix nanoseconds
}

// foldReported records a report of a call in progress. A number that the attempt has already reported is a duplicate: the call
// was made again and repeats its reports.
func (p *reportLog) foldReported(v int32, e *journal.Event) Effect {
	d := e.Detail
	if d == nil || !p.l.Open(p.l.Request(v, e.Attempt).asking(d.Participant)) {
		return Late
	}
	all := p.reports[v]
	if all == nil {
		all = &reports{from: map[string]*reporter{}}
		if p.reports == nil {
			p.reports = map[int32]*reports{}
		}
		p.reports[v] = all
	}
	from := all.from[d.Participant]
	if from == nil {
		from = &reporter{}
		all.from[d.Participant] = from
	}
	from.count++
	from.making = max(from.making, d.Making)
	if d.Count <= from.number {
		from.again++
		return Duplicate
	}
	from.number, from.kind, from.at = d.Count, d.Name, e.At
	report := map[string]any{"number": int64(d.Count), "kind": d.Name, "payload": e.Value}
	if d.Participant != "" {
		report["participant"] = d.Participant
	}
	all.last = append(all.last[max(0, len(all.last)-reportsKept+1):], report)
	return Applied
}

// reported returns a step's reports for expressions.
func (p *reportLog) reported(v int32) (value.Value, error) {
	all := p.reports[v]
	if all == nil {
		return []any{}, nil
	}
	return value.Of(slices.Clip(all.last))
}

// restore sets the reports of a step with an adopted result.
func (p *reportLog) restore(v int32, list any) {
	last, _ := list.([]any)
	if len(last) == 0 {
		return
	}
	if p.reports == nil {
		p.reports = map[int32]*reports{}
	}
	p.reports[v] = &reports{from: map[string]*reporter{}, last: last}
}

// Reports sums up the reports of a node's newest attempt, by all participants.
type Reports struct {
	Count    int    // without repeated ones
	Repeated int    // with a number not greater than an earlier one: they were journaled, but have no effect
	Missing  int    // missing numbers below the greatest
	Kind     string // of the newest
	At       int64  // instant of the newest, Unix nanoseconds
}

// Reports returns the reports of a node's newest attempt.
func (p *reportLog) Reports(v int32) (r Reports) {
	if all := p.reports[v]; all != nil {
		for _, from := range all.from {
			count := int(from.count - from.again)
			r.Count, r.Repeated, r.Missing = r.Count+count, r.Repeated+int(from.again), r.Missing+int(from.number)-count
			if from.at > r.At || from.at == r.At && from.kind > r.Kind {
				r.Kind, r.At = from.kind, from.at
			}
		}
	}
	return r
}

// Text returns the reports in words, "" if there are none.
func (r Reports) Text() string {
	if r.Count == 0 {
		return ""
	}
	text := fmt.Sprintf("it has reported %d times, the last time %q at %s", r.Count, r.Kind, time.Unix(0, r.At).UTC().Format(time.RFC3339))
	if r.Repeated > 0 {
		text += fmt.Sprintf("; repeated: %d", r.Repeated)
	}
	if r.Missing > 0 {
		text += fmt.Sprintf("; missing: %d", r.Missing)
	}
	return text
}

// Reported returns the number of journaled reports of an open call, with duplicates.
func (p *reportLog) Reported(req Request) int {
	if from := p.reporter(req); from != nil {
		return int(from.count)
	}
	return 0
}

// Making returns the number of the next making of an open call: one more than the newest making that has reported.
func (p *reportLog) Making(req Request) int32 {
	if from := p.reporter(req); from != nil {
		return from.making + 1
	}
	return 1
}

func (p *reportLog) reporter(req Request) *reporter {
	if all := p.reports[req.Node]; all != nil && p.l.nodes[req.Node].Attempt == req.Attempt {
		return all.from[req.Participant]
	}
	return nil
}
