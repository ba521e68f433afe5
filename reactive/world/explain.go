package world

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/reactive/world/aftermath"
	"github.com/sluiceflow/sluice/template/machine"
)

// reasonsMax bounds the reasons that explain a run: a world may have many cells.
const reasonsMax = 100

// explainer explains a world and its cells.
type explainer struct {
	world   *World
	run     explain.Run
	ended   map[string]*ending        // by node key of a call
	reports map[string]ledger.Reports // by node key of a call that has reported
	about   map[string]*explain.Event // by address: the newest event that decided its status
	trace   *aftermath.Trace          // nil: none was requested
}

// ending is the end of a call.
type ending struct {
	status  reactive.Status
	failure *journal.Failure
	event   *explain.Event
}

// Explain returns the explainer of the world, which watches later events.
func (w *World) Explain(run explain.Run) explain.Body {
	x := &explainer{world: w, run: run, ended: map[string]*ending{}, reports: map[string]ledger.Reports{}, about: map[string]*explain.Event{}}
	w.watch = x.see
	return x
}

// see records the events that decide the statuses of cells, and the consequences of the traced event.
func (x *explainer) see(e *journal.Event) {
	if x.trace != nil {
		x.trace.See(e, x.run.Event())
	}
	switch e.Type {
	case journal.CallReported:
		if i := x.world.intents.byKey[e.Node]; i != nil {
			x.reports[e.Node] = x.world.root.Reports(i.node)
		}
	case journal.CellStepped, journal.CellFailed, journal.CellPaused, journal.CellResumed, journal.CellReset, journal.CellExpired:
		x.about[e.Node] = x.run.Event()
	}
}

// Trimmed implements explain.Tracer.
func (x *explainer) Trimmed(e *journal.Event) { x.see(e) }

// CallEnded implements explain.Body.
func (x *explainer) CallEnded(key string, status reactive.Status, f *journal.Failure) {
	x.ended[key] = &ending{status, f, x.run.Event()}
}

// Waiting implements explain.Body: cells that have failed or are paused first, then the waits of the others.
func (x *explainer) Waiting() []explain.Reason {
	var held, open []explain.Reason
	for c := range x.world.Cells() {
		if len(held)+len(open) >= reasonsMax {
			break
		}
		switch {
		case c.Status == Failed || c.Paused || c.Mail > 0 && x.world.program.lack(x.world.def.Machine(c.Machine)) != nil:
			held = append(held, x.cell(&c))
		case len(c.Intents) > 0:
			open = append(open, x.cell(&c))
		}
	}
	if list := append(held, open...); len(list) > 0 {
		return list
	}
	return []explain.Reason{{Kind: "message", Text: "the world waits for messages"}}
}

// cell returns the reasons for the status of a cell.
func (x *explainer) cell(c *CellState) explain.Reason {
	r := explain.Reason{Kind: "cell", Step: c.Address, Text: fmt.Sprintf("cell %s is %s", c.Address, c.Status), Decided: x.about[c.Address]}
	r.Reasons = x.reasons(c)
	return r
}

// reasons returns the waits of a cell, and the reason for its failure.
func (x *explainer) reasons(c *CellState) (list []explain.Reason) {
	if c.Failure != nil {
		list = append(list, explain.Reason{Kind: "failure", Step: c.Address, Text: c.Failure.Error(), Decided: x.about[c.Address]})
	}
	if c.Paused {
		list = append(list, explain.Reason{Kind: "pause", Step: c.Address, Text: "cell " + c.Address + " is paused", Decided: x.about[c.Address]})
	}
	lack := x.world.program.lack(x.world.def.Machine(c.Machine))
	switch {
	case x.over(): // no cell takes anything any more
		if c.Status == Running {
			list = append(list, explain.Reason{Kind: "end", Step: c.Address, Text: runEnded})
		}
		return list
	case c.Held > 0:
		list = append(list, explain.Reason{Kind: "held", Step: c.Address, Text: explain.Kept(c.Held) + " until the cell goes on"})
	case lack != nil && c.Mail > 0:
		list = append(list, explain.Reason{Kind: "machine", Step: c.Address, Text: fmt.Sprintf("%v: %s until it has it", lack, explain.Kept(c.Mail))})
	case c.Mail > 0:
		list = append(list, explain.Reason{Kind: "message", Step: c.Address, Text: fmt.Sprintf("cell %s has mail that it has not taken yet: %d", c.Address, c.Mail)})
	}
	for _, i := range c.Intents {
		if i.Effect == machine.TimerEffect {
			list = append(list, explain.Timer("timer "+i.Issuer, i.Due.UnixNano()))
			continue
		}
		list = append(list, x.run.Call(x.world.intents.byKey[i.Key].node))
	}
	if len(list) == 0 && c.Status == Running {
		list = append(list, explain.Reason{Kind: "message", Step: c.Address, Text: "cell " + c.Address + " waits for messages"})
	}
	return list
}

const runEnded = "the run has ended"

// over reports whether the run has ended: its cells keep their states, and take no events.
func (x *explainer) over() bool { return x.world.root.Finished() != nil }

// Ending implements explain.Body.
func (x *explainer) Ending(f *journal.Failure) []explain.Reason {
	return []explain.Reason{{Kind: "failure", Text: f.Error()}}
}

// Explain implements explain.Body. It explains a cell, also a deleted one, a call that has ended, or the traced event.
func (x *explainer) Explain(name string) *explain.Explanation {
	if c, ok := x.world.Cell(name); ok {
		out := &explain.Explanation{About: name, Kind: "cell", Status: string(c.Status), Decided: x.about[name]}
		if !x.over() && (c.Mail > 0 || c.Status == Running) { // a pause of the run holds it
			out.Reasons = x.run.Pause()
		}
		out.Reasons = append(out.Reasons, x.reasons(&c)...)
		return out
	}
	if decided := x.about[name]; decided != nil {
		return &explain.Explanation{About: name, Kind: "cell", Status: "deleted", Decided: decided}
	}
	e := x.ended[name]
	if e == nil {
		return x.traced(name)
	}
	out := &explain.Explanation{About: name, Kind: "call", Status: e.status.String(), Decided: e.event}
	if e.failure != nil {
		out.Reasons = []explain.Reason{{Kind: "failure", Step: name, Text: e.failure.Error(), Decided: e.event}}
	}
	if reports := x.reports[name].Text(); reports != "" {
		out.Reasons = append(out.Reasons, explain.Reason{Kind: "reports", Step: name, Text: reports, Decided: e.event})
	}
	return out
}

// Trace implements explain.Tracer.
func (x *explainer) Trace(seq uint64) { x.trace = aftermath.New(seq) }

// traced explains the traced event: its consequences so far, and possible later ones.
func (x *explainer) traced(name string) *explain.Explanation {
	if x.trace == nil || !x.trace.Seen() {
		return nil
	}
	for c := range x.world.all() {
		x.waiting(c)
	}
	return x.trace.Explanation(name)
}

// waiting adds the items of the trace that a cell has not taken yet, and its waits because of the trace.
func (x *explainer) waiting(c *cell) {
	for i := range c.mail.items[c.mail.first:] {
		why := "it waits for its turn"
		switch {
		case x.over():
			why = runEnded
		case c.failure != nil:
			why = "it has failed"
		case c.paused:
			why = "it is paused"
		case len(x.run.Pause()) > 0:
			why = "the run is paused"
		}
		x.trace.Add(c.mail.items[c.mail.first+i].seq, explain.Reason{
			Kind: "held", Step: c.address, Text: "cell " + c.address + " has not taken it yet: " + why, Decided: x.about[c.address],
		})
	}
	for in := c.open.first; in != nil; in = in.after {
		if in.effect == nil {
			x.trace.Add(in.emitted, explain.Timer("timer "+in.timer, in.due))
		} else if x.trace.Has(in.emitted) {
			x.trace.Add(in.emitted, x.run.Call(in.node))
		}
	}
}
