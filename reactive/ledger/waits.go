package ledger

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
)

// Progress counts the steps of a run, without steps in maps that are not expanded yet.
type Progress struct {
	Done   int // completed or skipped
	Total  int // steps known so far
	Failed int // failed for good, or aborted
}

// Move counts the change of a step's status, except failures: see Show.
func (p *Progress) Move(from, to Status) {
	p.count(from, -1)
	p.count(to, 1)
}

func (p *Progress) count(s Status, by int) {
	switch s {
	case Absent:
		return
	case Completed, Skipped:
		p.Done += by
	}
	p.Total += by
}

// Show counts failures, when the output of a step to its successors changes: a step with a pending retry has not failed.
func (p *Progress) Show(kind plan.Kind, was, out uint8) {
	if blocks := (was ^ out) & plan.ShowsBlocked; kind == plan.Step && blocks&out != 0 {
		p.Failed++
	} else if kind == plan.Step && blocks != 0 {
		p.Failed--
	}
}

// Decider is a step that waits for the decision of a person.
type Decider struct {
	Node int32  // the step
	By   string // the kind of person; "": unknown
	Due  int64  // instant at which the decision is due; 0: never
}

// Deciders returns the steps that wait for the decisions of people, in the order of their nodes.
func (k *tasks) Deciders() []Decider {
	var list []Decider
	for _, v := range slices.Sorted(maps.Keys(k.undecided)) {
		if !k.Decidable(v) {
			continue
		}
		d := Decider{Node: v, Due: k.tasks[v].due}
		switch f := k.fulfillment(v); {
		case f.Policy == template.RequesterConfirmation:
			d.By = "requester"
		case f.Source != nil && call.SourceOf(f) == call.ByPerson:
			d.By = string(f.Source.Kind)
		}
		list = append(list, d)
	}
	return list
}

// UndecidedCount returns an upper bound of the number of steps that Deciders returns.
func (k *tasks) UndecidedCount() int { return len(k.undecided) }

// Names returns the number of message names that steps have waited for or messages have had.
func (m *mail) Names() int { return len(m.boxes) }

// Ends returns the instants of the next timers of nodes; 0: none.
func (l *Ledger) Ends(nodes []int32) []int64 {
	ends := make([]int64, len(nodes))
	for _, t := range l.timers.heap {
		i := slices.Index(nodes, t.node)
		if i >= 0 && (ends[i] == 0 || t.due < ends[i]) && l.timers.alive(t) {
			ends[i] = t.due
		}
	}
	return ends
}
