package inspect

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/explain"
	"github.com/sluiceflow/sluice/template/plan"
)

// cause describes a cause.
func (x *Explainer) cause(v int32, c *Cause, depth int) explain.Reason {
	r := explain.Reason{Kind: string(c.Kind)}
	deeper := func(text string) {
		r.Text, r.Step, r.Decided = text, x.root.Key(c.Node), x.nodes[x.root.Key(c.Node)]
		if depth < explainDepth {
			r.Reasons = x.reasons(c.Node, depth)
		}
	}
	switch c.Kind {
	case ByPredecessor:
		deeper("it waits for " + x.name(c.Node) + ", which is " + x.root.Status(c.Node).String())
	case ByFailure:
		deeper("it needs " + x.name(c.Node) + ", which is " + x.root.Status(c.Node).String())
	case ByItems:
		deeper(x.name(c.Node) + " is " + x.root.Status(c.Node).String())
	case ByBranch:
		deeper(x.branch(v, c.Node))
	case BySlot:
		names := make([]string, len(c.Holders))
		for i, u := range c.Holders {
			names[i] = x.root.Key(u)
		}
		r.Text = fmt.Sprintf("it waits for a slot: %d at once, held by %s", c.Limit, strings.Join(names, ", "))
	case ByTimer:
		return explain.Timer(c.Timer, c.Due)
	case ByPerson:
		r.Text = "a person has to decide whether its task is done"
	case ByEnd:
		r.Text = "the run ended before it was decided whether its task is done"
		r.Decided = x.at(x.root.ClosedBy().Seq)
	case BySource:
		r.Text = "its decision source was asked, and has not answered"
	case ByParticipant:
		r.Text = "it waits for the answers of " + strings.Join(c.Participants, ", ")
	case ByTest:
		r.Text = "its test " + c.Test + " " + decisionText(x.root, c.Node)
		r.Values, r.Missing = readings(c.Read)
	}
	return r
}

// decisionText describes the decision of a conditional.
func decisionText(root *reactive.Root, v int32) string {
	switch root.Chose(v) {
	case plan.Then:
		return "gave true"
	case plan.Else:
		return "gave false"
	}
	return "could not be decided"
}

// branch describes the decision of the conditional around a node.
func (x *Explainer) branch(v, gate int32) string {
	switch chosen := x.root.Chose(gate); {
	case chosen == plan.Undecided:
		return x.name(gate) + " around it has not decided"
	case chosen == x.root.Inside(v):
		return x.name(gate) + " has chosen its branch"
	}
	return x.name(gate) + " has chosen the other branch"
}

// readings returns the values that a test has read, shortened, and the errors of values that could not be read.
func readings(list []ReadValue) (values map[string]any, missing map[string]string) {
	values, missing = make(map[string]any, len(list)), map[string]string{}
	for _, r := range list {
		if r.Err != nil {
			missing[r.Text] = r.Err.Error()
			continue
		}
		values[r.Text] = r.Value
	}
	return explain.Shorten(values), missing
}
