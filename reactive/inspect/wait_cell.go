package inspect

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/world"
)

// world adds the waits of a world's cells, in the order of their addresses. If no cell waits, it adds the messages that the
// world takes.
func (w *waiting) world(list []Wait, of *world.World) []Wait {
	before := len(list)
	for c := range of.Cells() {
		if list = append(list, w.cell(&c, true)...); len(list) >= WaitsMax {
			break
		}
	}
	if len(list) == before {
		list = append(list, w.messages("", of.Definition().Heard())...)
	}
	return list
}

// CellWaits returns the waits of a cell of a world, after the waits that hold the whole world.
func CellWaits(root *reactive.Root, address string) []Wait {
	of := world.Of(root)
	if of == nil || root.Finished() != nil {
		return nil
	}
	c, ok := of.Cell(address)
	if !ok {
		return nil
	}
	w := newWaiting(root)
	return append(w.pauses(), w.cell(&c, true)...)
}

// cell returns the waits of a cell: its hold, its timers and, if calls is true, the calls of its effects, or messages.
func (w *waiting) cell(c *world.CellState, calls bool) (list []Wait) {
	run := w.root.Start().Run
	if c.Failure != nil {
		list = append(list, Wait{Kind: ForRepair, Step: c.Address, Command: []string{"retry", run, c.Address}})
	}
	if c.Paused {
		list = append(list, Wait{Kind: ForResume, Step: c.Address, Command: []string{"resume", run, c.Address}})
	}
	for i := range c.Intents {
		x := &c.Intents[i]
		if x.ID == "" {
			list = append(list, Wait{Kind: ForTimer, Step: c.Address, Due: x.Due.UnixNano(), Then: "timer " + x.Issuer})
			continue
		}
		if v, ok := w.root.Node(x.Key); ok && calls {
			if one, ok := w.of(v); ok {
				list = append(list, one)
			}
		}
	}
	if len(list)+len(c.Intents) == 0 && c.Status == world.Running && c.Mail == 0 {
		if m := world.Of(w.root).Definition().Machine(c.Machine); m != nil {
			list = w.messages(c.Address, m.Event.Messages)
		}
	}
	return list
}

// messages returns the waits for messages, at most namedMax.
func (w *waiting) messages(step string, names []string) (list []Wait) {
	for _, name := range names[:min(len(names), namedMax)] {
		list = append(list, Wait{
			Kind: ForMessage, Step: step, Name: name, Command: []string{"send", w.root.Start().Run, name, BlankPayload},
		})
	}
	return list
}
