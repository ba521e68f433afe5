package progress

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/template"
)

// runs holds the runs of a playbook's step. The step has one line for all its runs.
//
//	● pages    3/8 running   1.2s  run 2, 1 failed
type runs struct {
	total int
	live  int
	loops map[string]coordinator.LoopChange // of runs in progress, by key
}

// routed returns the steps of a playbook as a list of nodes: its arcs do not form a tree.
func routed(names []string) []template.Node {
	list := make([]template.Node, len(names))
	for i, name := range names {
		list[i] = &template.Step{ID: name}
	}
	return list
}

// runOf parses a name in a playbook's run: of a step, of a step-run such as `fetch@2`, or of a call within a step-run.
func runOf(name string) (id string, isRun, isCall bool) {
	id, number, isRun := strings.Cut(name, "@")
	return id, isRun, strings.ContainsAny(number, ".[")
}

// changeRun applies a change of a step-run, or of a step with waiting tokens. The calls within step-runs have no lines.
func (t *Tree) changeRun(c *coordinator.StepChange, at int64) {
	id, isRun, isCall := runOf(c.Step)
	i, known := t.byID[id]
	to, is := WordOf(c.To, c.Pending)
	if !known || isCall || !is {
		return
	}
	n := &t.nodes[i]
	switch {
	case isRun && to == Running:
		n.runs.total++
		n.runs.live++
		if n.runs.live == 1 {
			n.begun, n.ended, n.failure = at, 0, ""
		}
	case isRun:
		n.runs.live--
		delete(n.runs.loops, c.Step)
	}
	if to == Failed {
		t.failures.add(c)
		n.failure = reason(c.Failure)
	}
	if n.runs.live > 0 {
		to = Running
	} else if isRun {
		n.ended = at
	}
	t.shift(i, n.own, true, to, true)
	n.own = to
	t.updateSets(i)
}

// advance applies the progress of a loop.
func (t *Tree) advance(l coordinator.LoopChange) {
	id, _, _ := runOf(l.Step)
	i, known := t.byID[id]
	if !known || t.nodes[i].runs == nil || t.nodes[i].runs.live == 0 {
		return
	}
	r := t.nodes[i].runs
	if r.loops == nil {
		r.loops = map[string]coordinator.LoopChange{}
	}
	r.loops[l.Step] = l
	t.cursor = i
}

// awaitedIn returns the waits of the tokens and calls of a playbook's step.
func (t *Tree) awaitedIn(step string) string {
	var list []inspect.Wait
	for _, key := range slices.Sorted(maps.Keys(t.awaits)) {
		if key == step || strings.HasPrefix(key, step+"@") {
			list = append(list, t.awaits[key]...)
		}
	}
	if len(list) == 0 {
		return ""
	}
	text := "waits for " + WaitsFor(list[:min(len(list), waitsShown)])
	if more := len(list) - waitsShown; more > 0 {
		text += fmt.Sprintf("; %d more", more)
	}
	return text
}

// routedRow returns the line of a playbook's step: the progress of its loops, and the number of its runs.
func (n *node) routedRow(now int64) row {
	r := row{word: n.own, name: n.label, state: n.own.String(), took: elapsed(n.begun, n.ended, now)}
	var all coordinator.LoopChange
	for _, l := range n.runs.loops {
		all.Done, all.Failed, all.Items = all.Done+l.Done, all.Failed+l.Failed, all.Items+l.Items
	}
	if all.Items > 0 {
		r.state = fmt.Sprintf("%d/%d %s", all.Done+all.Failed, all.Items, n.own)
	}
	var parts []string
	switch {
	case n.runs.live > 1:
		parts = append(parts, fmt.Sprintf("%d of %d runs", n.runs.live, n.runs.total))
	case n.runs.total > 1:
		parts = append(parts, fmt.Sprintf("run %d", n.runs.total))
	}
	if all.Failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", all.Failed))
	}
	if n.failure != "" {
		parts, r.failed = append(parts, n.failure), true
	}
	r.detail = strings.Join(parts, ", ")
	return r
}
