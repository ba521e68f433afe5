package rerun

import (
	"context"
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/routed"
	"github.com/sluiceflow/sluice/template/playbook"
)

// previewPast previews the rerun of a playbook's run: the calls it makes at once, and the tasks to which its tokens may come.
func (d *Made) previewPast(ctx context.Context, p *Preview) error {
	m, id := d.maker, "preview"
	root := decide.NewRoot(d.Entry.Plan)
	items := []decide.Item{{Event: d.first(id), Past: true}}
	for _, e := range d.Kept {
		items = append(items, decide.Item{Event: e, Past: true})
	}
	stepper := decide.NewStepper(root, m.hostOf(id, d.Entry, root))
	will := map[string]bool{}
	add := func(v int32) {
		if key := root.Key(v); !will[key] {
			will[key] = true
			p.Will = append(p.Will, stepOf(root, root.Row(v).Op, root.Place(v), key))
		}
	}
	stepper.FoldWith(func(e *journal.Event) {
		root.Apply(e)
		if v, ok := root.Node(e.Node); ok && e.Type == journal.CallRequested && e.Seq > uint64(len(items)) {
			add(v)
		}
	})
	now := m.Now()
	for out := stepper.Step(now, items); out.More && ctx.Err() == nil; {
		out = stepper.Step(now, nil)
	}
	for v := range root.Len() {
		if makesCall(root, v) { // such as a retry that is not due
			add(v)
		}
	}
	p.Kept = append(p.Kept, d.ended...)
	if book, ok := d.Entry.Plan.Workflow.Routing.(*playbook.Playbook); ok {
		p.May = append(p.May, tasksAhead(book, root)...)
	}
	return ctx.Err()
}

// tasksAhead returns the tasks that make calls and that a run may still reach, in the order of the document.
func tasksAhead(book *playbook.Playbook, root *reactive.Root) (list []Step) {
	a := reachable{book: book, steps: make([]bool, len(book.Steps))}
	for _, w := range root.Steps().Waits() {
		i := slices.IndexFunc(book.Steps, func(s *playbook.Step) bool { return s.Name == w.Step })
		switch step := book.Steps[i]; w.Kind {
		case routed.AtGate, routed.AtJoin, routed.ForTurn:
			a.visit(i)
		default:
			a.steps[i] = a.steps[i] || mayCallAgain(step)
			a.follow(step)
		}
	}
	if book.Executor.Final >= 0 && root.Finished() == nil {
		a.visit(book.Executor.Final)
	}
	p := root.Plan()
	for _, task := range book.CallSites {
		if step := book.Steps[task.Step]; a.steps[task.Step] {
			key := step.Name + "@*"
			if step.Loop != nil {
				key += "[*]"
			}
			n := &p.Nodes[task.CallSite]
			list = append(list, stepOf(root, n.Op, n, key+"."+task.Label))
		}
	}
	return list
}

// reachable are the steps to which tokens may come.
type reachable struct {
	book  *playbook.Playbook
	steps []bool
}

// visit adds a step, and those that its arcs lead to.
func (a *reachable) visit(i int) {
	if !a.steps[i] {
		a.steps[i] = true
		a.follow(a.book.Steps[i])
	}
}

func (a *reachable) follow(step *playbook.Step) {
	if step.Next != nil {
		for k := range step.Next.Arcs {
			a.visit(step.Next.Arcs[k].To)
		}
	}
}

// mayCallAgain reports whether a step-run under way may make more calls than it has begun.
func mayCallAgain(step *playbook.Step) bool {
	jumps := func(r playbook.Rule) bool { return r.Do == playbook.Jump }
	return step.Loop != nil || len(step.Tasks) > 1 || slices.ContainsFunc(step.Tasks, func(t *playbook.Task) bool { return slices.ContainsFunc(t.Rules, jumps) })
}
