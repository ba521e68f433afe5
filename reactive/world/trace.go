package world

import (
	"fmt"

	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/reactive/world/caused"
)

// Trace implements explain.Tracer.
func (x *explainer) Trace(seq uint64) { x.trace = caused.New(seq) }

// traced explains an event: what came of it, and what may yet.
func (x *explainer) traced(name string) *explain.Explanation {
	t := x.trace
	if t == nil || t.First == nil {
		return nil
	}
	for c := range x.world.all() {
		x.waiting(c)
	}
	first := t.First.Reason
	out := &explain.Explanation{About: name, Kind: "event", Status: first.Decided.Type, Decided: first.Decided}
	first.Kind, first.Decided, first.Reasons = "event", nil, t.First.Show()
	out.Reasons = []explain.Reason{first}
	if t.More > 0 {
		out.Reasons = append(out.Reasons, explain.Reason{Kind: "more", Text: fmt.Sprintf("%d more events came of it", t.More)})
	}
	return out
}

// waiting adds what a cell has not taken yet of the trace, and what it waits for because of it.
func (x *explainer) waiting(c *cell) {
	note := func(seq uint64, r explain.Reason) {
		if from := x.trace.At(seq); from != nil {
			from.Add(r)
		}
	}
	for i := range c.mail.items[c.mail.first:] {
		why := "it waits for its turn"
		switch {
		case c.failure != nil:
			why = "it has failed"
		case c.paused:
			why = "it is paused"
		}
		note(c.mail.items[c.mail.first+i].seq, explain.Reason{
			Kind: "held", Step: c.address, Text: "cell " + c.address + " has not taken it yet: " + why, Decided: x.about[c.address],
		})
	}
	for in := c.open.first; in != nil; in = in.after {
		if in.effect == nil {
			note(in.emitted, explain.Timer("timer "+in.timer, in.due))
		} else if x.trace.At(in.emitted) != nil {
			note(in.emitted, x.run.Call(in.node))
		}
	}
}
