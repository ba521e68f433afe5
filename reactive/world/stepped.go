package world

import (
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/value"
)

// stepped applies an activation: first the state, then the intents that are given up, the raised events, and the new intents.
func (w *World) stepped(e *journal.Event) {
	c := w.cellAt(e.Node)
	v, ok := e.Value.(map[string]any)
	if !ok {
		of, _ := value.Of(e.Value)
		v, _ = of.(map[string]any)
	}
	if c.machine == nil || c.mail.Len() == 0 {
		return
	}
	w.ring.turn(c)
	w.tally.Stepped++
	it := c.mail.pop()
	c.active, c.last = e.At, e.Seq
	if v[stepIgnored] == true {
		w.tally.Ignored++
		w.touch(c)
		return
	}
	if state, changed := v[stepState]; changed {
		c.state = state
	}
	c.completed = v[stepCompleted] == true
	for _, key := range texts(v[stepDropped]) {
		w.drop(w.intents.byKey[key])
	}
	raised, _ := v[stepRaised].([]any)
	for _, r := range raised {
		w.raised(e, r.(map[string]any), it.depth+1)
	}
	emitted, _ := v[stepEmitted].([]any)
	for i, x := range emitted {
		w.emitted(e, c, x.(map[string]any), i)
	}
	if c.completed || c.state == nil {
		w.dropAll(c)
	}
	w.ring.turn(c) // what it has raised for itself waits behind those for whom it has raised something, too
	w.touch(c)
}

// raised delivers an event that an activation has raised.
func (w *World) raised(e *journal.Event, r map[string]any, depth int) {
	name, _ := r["event"].(string)
	for _, address := range texts(r["cells"]) {
		w.deliver(address, name, r["value"], item{seq: e.Seq, depth: depth})
	}
}

// emitted opens an intent of an activation.
func (w *World) emitted(e *journal.Event, c *cell, m map[string]any, index int) {
	x := &intent{cell: c, emitted: e.Seq, params: m["params"]}
	if name, ok := m["timer"].(string); ok {
		x.timer = name
		x.due, _ = m["due"].(int64)
		x.key = intentKey(e, machine.TimerEffect, index)
		w.intents.add(x)
		return
	}
	name, _ := m["effect"].(string)
	x.effect = w.def.Effect(name)
	x.id, _ = m["intent"].(string)
	x.issuer, _ = m["issuer"].(string)
	x.asked, _ = m["key"].(string)
	x.key = intentKey(e, name, index)
	x.node = w.calls.Open(int32(x.effect.Site), x.key)
	w.intents.add(x)
}

// drop ends an intent that its cell has given up.
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

// dropAll gives up all intents of a cell.
func (w *World) dropAll(c *cell) {
	for c.open.n > 0 {
		w.drop(c.open.first)
	}
}
