package world

import (
	"fmt"
	"io"

	"github.com/sluiceflow/sluice/template/value"
)

// Digest writes all state that determines the world's future. Instants are relative to now.
func (w *World) Digest(out io.Writer, now int64) {
	fmt.Fprintf(out, "world %v;", w.stopped)
	for c := range w.all() {
		w.digest(c, out, now)
	}
	for c := range w.ring.All {
		fmt.Fprintf(out, "turn %s;", c.address)
	}
	for _, f := range w.faults {
		fmt.Fprintf(out, "fault %s %s;", f.cell.address, f.failure.Code)
	}
	for _, id := range w.recent.IDs() {
		fmt.Fprintf(out, "id %q;", id)
	}
}

func (h *holdings) digest(c *cell, out io.Writer, now int64) {
	fmt.Fprintf(out, "cell %s %s %v %v;", c.address, text(h.stateOf(c)), c.completed && c.machine.Process, c.paused)
	if c.machine.TTL > 0 {
		fmt.Fprintf(out, "active %d;", c.active-now)
	}
	if c.failure != nil {
		fmt.Fprintf(out, "failed %s %v;", c.failure.Code, c.aside != nil)
	}
	if c.aside != nil {
		c.aside.digest(out)
	}
	for _, it := range c.mail.items[c.mail.first:] {
		it.digest(out)
	}
	for x := c.open.first; x != nil; x = x.after {
		fmt.Fprintf(out, "open %s %s %s %s;", x.name(), x.from(), x.asked, text(x.params))
		if x.effect == nil {
			fmt.Fprintf(out, "due %d;", x.due-now)
		}
	}
}

func (it *item) digest(out io.Writer) {
	fmt.Fprintf(out, "item %d %s %s %d;", it.event.Kind, it.event.Name, text(it.event.Value), it.depth)
}

// text returns a value as text; equal values have equal texts.
func text(v value.Value) string {
	data, err := value.JSON(v)
	if err != nil { // cannot happen: the codec accepts only values
		return err.Error()
	}
	return string(data)
}
