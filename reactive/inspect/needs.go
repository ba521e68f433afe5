package inspect

import (
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Needs decides which large values must be loaded to follow a run: the values that determine its statuses. The plan determines
// them, so they are loaded before their event is applied.
//
//	workflow   outputs that tests and lists of maps read; the answers of participants; outputs that decisions are about
//	playbook   inputs, messages, and the answers that an expression may read
//	world      inputs, messages and answers: a world may read any of them
type Needs struct {
	all   bool                // all values from outside
	input bool                // of the run
	rows  map[*plan.Node]bool // the output of each
	left  map[*plan.Node]bool // except the output of each
}

// NeedsOf returns the needs of a run's root.
func NeedsOf(root *reactive.Root) *Needs {
	n := &Needs{rows: map[*plan.Node]bool{}, left: map[*plan.Node]bool{}}
	p := root.Plan()
	if n.all = root.Body() != nil; n.all {
		n.leave(p)
		return n
	}
	for i := range p.Nodes {
		switch row := &p.Nodes[i]; row.Kind {
		case plan.Gate:
			n.read(p, row.Item.Test)
		case plan.Map:
			n.read(p, row.Item.Over)
		}
	}
	return n
}

// leave finds the calls whose answers no expression can read.
func (n *Needs) leave(p *plan.Plan) {
	for row := range p.Nodes {
		if p.Nodes[row].Kind == plan.Step {
			n.left[&p.Nodes[row]] = p.Workflow.Routing.CallSite(row).Unread
		}
	}
}

// read adds the outputs that a template reads. The output of a map or a conditional consists of outputs in its body.
func (n *Needs) read(p *plan.Plan, t *expr.Template) {
	if t == nil {
		return
	}
	n.input = true // items, like the variables of maps, may be parts of it
	for _, r := range t.Reads() {
		row, ok := p.Row(r.Step)
		if !ok || r.Field != expr.Output {
			continue
		}
		n.rows[&p.Nodes[row]] = true
		for inside := row + 1; inside < p.Nodes[row].End; inside++ {
			n.rows[&p.Nodes[inside]] = true
		}
	}
}

// Value reports whether the value of the next event is needed.
func (n *Needs) Value(root *reactive.Root, e *journal.Event) bool {
	if _, large := e.Value.(value.Large); !large {
		return false
	}
	switch e.Type {
	case journal.RunStarted:
		return n.all || n.input
	case journal.RunFinished, journal.CallRequested:
		return false
	case journal.MessageReceived, journal.InputSet:
		return n.all
	case journal.ResultKept: // its node may not exist yet
		id, _, _ := plan.ParseKey(e.Node)
		row, ok := root.Plan().Row(id)
		return n.all || ok && (root.Plan().Rows[row].Decides || n.rows[&root.Plan().Nodes[row]])
	case journal.CallResponded:
		v, ok := root.Node(e.Node)
		if !ok || e.Detail != nil && e.Detail.Participant != "" {
			return true
		}
		row := root.Row(v)
		return row.Asks || row.Decides || n.rows[root.Place(v)] || n.all && !n.left[root.Place(v)]
	}
	return true
}
