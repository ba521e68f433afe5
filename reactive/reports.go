package reactive

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// What a call may report.
const (
	ReportsMax     = 10_000   // reports of one call, repeated ones included
	ReportBytesMax = 64 << 10 // of one report's payload, encoded
	reportsKept    = 100      // that expressions see of a step
)

// reports is what the newest attempt of a step has reported so far.
type reports struct {
	from map[string]*reporter // by participant; "" for a step that asks none
	last []value.Value        // the newest of them, oldest first; what was handed out is never written to
}

// reporter counts the reports of one call.
type reporter struct {
	count  int32 // events, repeated ones included
	number int32 // highest so far
	making int32 // the newest that has reported
	kind   string
	at     int64 // when the newest came in, Unix nanoseconds
}

// foldReported takes a report of a call under way. A number that the attempt has reported already is a repetition: the call
// was made again, and says again what it has said before.
func (r *Root) foldReported(v int32, e *journal.Event) Outcome {
	d := e.Detail
	if d == nil || !r.Open(r.Request(v, e.Attempt).asking(d.Participant)) {
		return Late
	}
	all := r.reports[v]
	if all == nil {
		all = &reports{from: map[string]*reporter{}}
		if r.reports == nil {
			r.reports = map[int32]*reports{}
		}
		r.reports[v] = all
	}
	from := all.from[d.Participant]
	if from == nil {
		from = &reporter{}
		all.from[d.Participant] = from
	}
	from.count++
	from.making = max(from.making, d.Making)
	if d.Count <= from.number {
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

// reported is what expressions see of a step's reports.
func (r *Root) reported(v int32) (value.Value, error) {
	all := r.reports[v]
	if all == nil {
		return []any{}, nil
	}
	return value.Of(slices.Clip(all.last))
}

// Reports is how often the newest attempt of a node has reported, repetitions left out, and the kind and instant of the
// newest report (Unix nanoseconds).
func (r *Root) Reports(v int32) (count int, kind string, at int64) {
	if all := r.reports[v]; all != nil {
		for _, from := range all.from {
			count += int(from.number)
			if from.at > at || from.at == at && from.kind > kind {
				kind, at = from.kind, from.at
			}
		}
	}
	return count, kind, at
}

// Reported is how many reports the journal has of an open call, repetitions included.
func (r *Root) Reported(req Request) int {
	if from := r.reporter(req); from != nil {
		return int(from.count)
	}
	return 0
}

// Making is the number of the next making of an open call: one more than the newest that has reported.
func (r *Root) Making(req Request) int32 {
	if from := r.reporter(req); from != nil {
		return from.making + 1
	}
	return 1
}

func (r *Root) reporter(req Request) *reporter {
	if all := r.reports[req.Node]; all != nil && r.nodes[req.Node].attempt == req.Attempt {
		return all.from[req.Participant]
	}
	return nil
}
