package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/world/steps"
	"github.com/sluiceflow/sluice/template/machine"
)

// stepped applies an activation: first the state, then the dropped intents, the raised events, and the new intents.
func (w *World) stepped(e *journal.Event) {
	c := w.cellAt(e.Node)
	if c.machine == nil || c.mail.Len() == 0 {
		return
	}
	step := steps.Read(e)
	c.place.Leave()
	w.tally.Stepped++
	it := c.mail.pop()
	c.active, c.last = e.At, e.Seq
	if step.Ignored {
		w.tally.Ignored++
		w.touch(c)
		return
	}
	if step.Changed {
		w.setState(c, step.State, e.Seq)
	}
	c.completed = step.Completed
	for _, key := range step.Dropped {
		w.drop(w.intents.byKey[key])
	}
	for _, r := range step.Raised {
		for _, address := range r.Cells {
			w.deliver(address, r.Event, r.Value, item{seq: e.Seq, depth: it.depth + 1})
		}
	}
	for i := range step.Emitted {
		w.emitted(c, &step.Emitted[i])
	}
	if c.completed || !c.hasState() {
		w.dropAll(c)
	}
	c.place.Leave() // events that it has raised for itself wait behind the other cells that receive its events
	w.touch(c)
}

// emitted opens an intent of an activation.
func (w *World) emitted(c *cell, of *steps.Emitted) {
	x := &intent{cell: c, key: of.Key, emitted: w.event.Seq, params: of.Params}
	if of.Effect == machine.TimerEffect {
		x.timer, x.due = of.Issuer, of.Due
		w.intents.add(x)
		return
	}
	x.effect, x.id, x.issuer, x.asked = w.def.Effect(of.Effect), of.ID, of.Issuer, of.Asked
	x.node = w.calls.Open(int32(x.effect.Site), x.key)
	w.intents.add(x)
}

// drop ends an intent that its cell has dropped.
func (w *World) drop(x *intent) {
	if x == nil {
		return
	}
	w.tally.Dropped++
	w.intents.remove(x)
	if x.effect != nil {
		w.calls.Close(x.node)
	}
}

// dropAll drops all intents of a cell.
func (w *World) dropAll(c *cell) {
	for c.open.n > 0 {
		w.drop(c.open.first)
	}
}
