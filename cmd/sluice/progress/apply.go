package progress

import (
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// itemsMax bounds the failed items that a map lists; the others are counted.
const itemsMax = 16

// Apply applies the next update of the run. Each update must be applied exactly once.
func (t *Tree) Apply(u *coordinator.Update) {
	t.status = u.Status
	t.awaits.Apply(u)
	switch u.Event.Type {
	case journal.RunStarted:
		t.started = u.Event.At
	case journal.RunFinished:
		t.ended = u.Event.At
	}
	if t.cells != nil {
		t.applyCells(u)
		return
	}
	for i := range u.Changes {
		if t.routed {
			t.changeRun(&u.Changes[i], u.Event.At)
			continue
		}
		t.change(&u.Changes[i], u.Event.At)
	}
	for _, l := range u.Loops {
		t.advance(l)
	}
}

func (t *Tree) change(c *coordinator.StepChange, at int64) {
	id, _, isItem := strings.Cut(c.Step, "[")
	i, ok := t.byID[id]
	if !ok {
		return
	}
	from, was := WordOf(c.From, t.retrying[c.Step])
	to, is := WordOf(c.To, c.Pending)
	if c.Pending {
		t.retrying[c.Step] = true
	} else {
		delete(t.retrying, c.Step)
	}
	n := &t.nodes[i]
	if n.kind == step {
		t.shift(i, from, was, to, is)
	}
	fails := to == Failed && n.kind.fails(c.Failure)
	if was && from == Failed && n.kind == step {
		t.failures.remove(c.Step)
	}
	if fails {
		t.failures.add(c)
	}
	if isItem {
		t.changeItem(i, c, to, fails, at)
		return
	}
	n.own, n.attempt, n.failure = to, max(n.attempt, c.Attempt), reason(c.Failure)
	if n.begun == 0 && to == Running {
		n.begun = at
	}
	n.ended = 0
	if to.Settled() {
		n.ended = at
	}
	t.updateSets(i)
}

// shift moves one step from a word to another, in its own counts and in the counts of all its ancestors.
func (t *Tree) shift(i int32, from Word, was bool, to Word, is bool) {
	for j := i; j >= 0; j = t.nodes[j].parent {
		n := &t.nodes[j]
		if was {
			n.counts[from]--
		}
		if is {
			n.counts[to]++
		}
	}
	t.updateSets(i)
}

// updateSets updates the sets for the line that shows a node.
func (t *Tree) updateSets(i int32) {
	i = t.nodes[i].line
	t.busy.set(i, t.isBusy(i))
	t.bad.set(i, t.isBad(i))
	t.cursor = i
}

// isBusy reports whether a line shows work in progress. A map with lines for its body does not.
func (t *Tree) isBusy(i int32) bool {
	n := &t.nodes[i]
	switch {
	case !t.leaf(i):
		return false
	case n.kind == each && !t.wholeBody(i):
		return n.own >= Ready && n.own < Completed
	}
	return n.counts.sum(Ready, Completed) > 0
}

func (t *Tree) isBad(i int32) bool {
	n := &t.nodes[i]
	return t.leaf(i) && (n.own == Failed || n.counts[Failed] > 0 && (n.kind == step || t.wholeBody(i)))
}

// wholeBody reports whether a map shows its only step in its own line.
func (t *Tree) wholeBody(i int32) bool {
	return t.nodes[i].end == i+2 && t.nodes[i+1].line == i
}

// changeItem applies a change of a step or map within a map's item. Only running and failed ones are recorded.
func (t *Tree) changeItem(i int32, c *coordinator.StepChange, to Word, fails bool, at int64) {
	begun := t.begun[c.Step]
	switch {
	case to == Running && begun == 0:
		t.begun[c.Step] = at
	case to.Settled():
		delete(t.begun, c.Step)
	}
	holder := t.holder(i)
	if len(holder.items) > 0 {
		holder.items = slices.DeleteFunc(holder.items, func(f failedItem) bool { return f.key == c.Step })
	}
	if fails && len(holder.items) < itemsMax {
		if begun == 0 {
			begun = at
		}
		holder.items = append(holder.items, failedItem{c.Step, c.Attempt, at - begun, reason(c.Failure)})
	}
}

// holder returns the map that shows a failed step or map of one of its items.
func (t *Tree) holder(i int32) *node {
	for i = t.nodes[i].parent; t.nodes[i].kind != each; i = t.nodes[i].parent {
	}
	return &t.nodes[i]
}

// reason returns a failure in one line; "" for a consequence of another failure, which the tree shows.
func reason(f *journal.Failure) string {
	if f == nil || f.Code == reactive.CodeDependency {
		return ""
	}
	return Clean(f.Error())
}
