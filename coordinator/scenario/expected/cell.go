package expected

import (
	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/world"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Cell is the expected cell. A nil field matches any value.
type Cell struct {
	text     string // as in the document
	absent   bool   // the cell must not exist
	status   *string
	state    *value.Value
	inflight *int
	held     *int
	reason   *string
}

var cellStatuses = script.Words(world.Running, world.Waiting, world.Completed, world.Failed)

// ReadCell reads an expected cell.
func ReadCell(r *script.Reader, n *document.Node) *Cell {
	if text, _ := n.Text(); text == "absent" {
		return &Cell{text: text, absent: true}
	}
	c := &Cell{text: Show(n.Value())}
	r.Object(n, script.Fields{
		"status":   func(v *document.Node) { c.status = new(r.OneOf(v, cellStatuses)) },
		"state":    func(v *document.Node) { c.state = new(v.Value()) },
		"inflight": func(v *document.Node) { c.inflight = new(r.Count(v)) },
		"held":     func(v *document.Node) { c.held = new(r.Count(v)) },
		"reason":   func(v *document.Node) { c.reason = new(r.Text(v)) },
	})
	return c
}

// String returns the expected cell as written in the document.
func (want *Cell) String() string { return want.text }

// Compare compares the cell at address with the expected one, and returns the cell as text. known is false if the world cannot have
// a cell at address; got is then the reason.
func (want *Cell) Compare(w *world.World, address string) (got string, known, ok bool) {
	if _, _, err := w.Definition().ParseAddress(address); err != nil {
		return err.Error(), false, false
	}
	c, there := w.Cell(address)
	switch {
	case want.absent:
		return showCell(&c), true, !there
	case !there:
		return "absent", true, false
	}
	return showCell(&c), true, want.holds(&c)
}

// holds reports whether a cell is as expected.
func (want *Cell) holds(c *world.CellState) bool {
	reason := ""
	if c.Failure != nil {
		reason = c.Failure.Code
	}
	return (want.status == nil || *want.status == string(c.Status)) &&
		(want.state == nil || value.Equal(*want.state, c.State)) &&
		(want.inflight == nil || *want.inflight == len(c.Intents)) &&
		(want.held == nil || *want.held == c.Held) &&
		(want.reason == nil || *want.reason == reason)
}

// showCell returns a cell as text for a difference.
func showCell(c *world.CellState) string {
	m := map[string]any{"status": string(c.Status), "state": c.State, "inflight": int64(len(c.Intents)), "held": int64(c.Held)}
	if c.Failure != nil {
		m["reason"] = c.Failure.Code
	}
	text := Show(m)
	if c.Failure != nil {
		text += " (" + c.Failure.Error() + ")"
	}
	return text
}
