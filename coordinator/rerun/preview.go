package rerun

import (
	"context"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/internal/usercode"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Preview previews a rerun. The steps that will run are among Will and May; there, a step that starts a child run without kept results
// stands for the whole child.
type Preview struct {
	Run      string `json:"run"`      // that is repeated
	Seq      uint64 `json:"seq"`      // of its last event that counts
	Workflow string `json:"workflow"` // name of the new run's
	Will     []Step `json:"will"`     // run, unless a step before them fails
	May      []Step `json:"may"`      // run if their input differs, if their branch is taken, or if their map has such an item
	Kept     []Step `json:"kept"`     // have the result that they had
}

// Step is a step of a preview.
type Step struct {
	Step          string `json:"step"`                     // key; `pack[*]`: of every item of an unknown list
	Operation     string `json:"operation"`                // that it calls
	NonIdempotent bool   `json:"non_idempotent,omitempty"` // making the call twice is not the same as making it once
	Failed        bool   `json:"failed,omitempty"`         // of a kept one: it has failed, and a conditional has caught the failure
}

// Preview computes, with the run's stepper, the decisions of the run that are known before any call is made.
func (d *Made) Preview(ctx context.Context) (*Preview, error) {
	p := &Preview{Run: d.From.Run, Seq: d.From.Seq, Workflow: d.Entry.Plan.Workflow.Name, Will: []Step{}, May: []Step{}, Kept: []Step{}}
	if d.Past != nil {
		return p, usercode.Call(func() error { return d.previewPast(ctx, p) })
	}
	return p, usercode.Call(func() error { return d.maker.simulate(ctx, p, d.Entry, d.Input, d.From, d.Kept, "") })
}

// simulation is a host whose calls are never answered, and which has room for all of them.
type simulation struct {
	decide.Host
	decide.Resolver
	decide.Limiter
}

func (simulation) Reserve(reactive.Room) bool { return true }

// hostOf returns the host of a simulation.
func (m *Maker) hostOf(run string, entry *registry.Entry, root *reactive.Root) decide.Host {
	host := m.Host(run, entry, root)
	resolver, _ := host.(decide.Resolver)
	limiter, _ := host.(decide.Limiter)
	return simulation{host, resolver, limiter}
}

// simulate adds the steps of a run to a preview.
func (m *Maker) simulate(ctx context.Context, p *Preview, entry *registry.Entry, input value.Value, from *journal.From, kept []journal.Event, prefix string) error {
	id := "preview"
	root := decide.NewRoot(entry.Plan)
	first := decide.Started(id, entry.Plan, input, m.Limits)
	own, inner := Split(kept)
	first.Detail.Start.From = &journal.From{Run: from.Run, Seq: from.Seq, Kept: int32(len(own))}
	items := []decide.Item{{Event: first}}
	for _, e := range own {
		items = append(items, decide.Item{Event: e})
	}
	stepper := decide.NewStepper(root, m.hostOf(id, entry, root))
	now := m.Now()
	for out := stepper.Step(now, items); out.More && ctx.Err() == nil; {
		out = stepper.Step(now, nil)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	var begun []int32
	for v := range root.Len() {
		if root.Status(v) != reactive.Absent && root.Row(v).Kind == plan.Step && root.Key(v) != "" {
			begun = append(begun, v)
		}
	}
	slices.SortFunc(begun, root.Compare)
	for _, v := range begun {
		p.add(root, v, prefix)
		if below := inner[root.Key(v)]; len(below) > 0 {
			if err := m.below(ctx, p, entry, root, v, below, prefix); err != nil {
				return err
			}
		}
	}
	p.unexpanded(root, own, prefix)
	return nil
}

// below adds the steps of a child that keeps results.
func (m *Maker) below(ctx context.Context, p *Preview, entry *registry.Entry, root *reactive.Root, v int32, kept []journal.Event, prefix string) error {
	prefix += root.Key(v) + "/"
	if of := entry.Performers[root.Row(v).Op]; of != nil && root.Status(v) == reactive.Running {
		if c, ok := of.Caller.(*registry.Child); ok {
			child, err := c.Find(ctx)
			if err != nil {
				return err
			}
			input, err := value.Of(root.Requested(v))
			if err != nil {
				return err
			}
			return m.simulate(ctx, p, child, input, &journal.From{}, kept, prefix)
		}
	}
	if root.Adopted(v) != nil {
		return nil // and so has no child
	}
	for _, e := range kept { // whether the child begins depends on the steps before this one
		if e.Type == journal.ResultKept {
			p.May = append(p.May, Step{Step: prefix + e.Node})
		}
	}
	return nil
}

// add adds a step, as the simulation has left it.
func (p *Preview) add(root *reactive.Root, v int32, prefix string) {
	step := stepOf(root, root.Row(v).Op, root.Place(v), prefix+root.Key(v))
	kept := root.KeptFor(v)
	if was := root.Adopted(v); was != nil {
		step.Failed = was.Status == ledger.KeptFailed
	} else if kept != nil && !kept.Detail.Kept.If {
		step.Failed = kept.Detail.Kept.Status == ledger.KeptFailed
	}
	switch {
	case root.Adopted(v) != nil:
		p.Kept = append(p.Kept, step)
	case root.Attempt(v) > 0:
		p.Will = append(p.Will, step)
	case root.Final(v): // skipped, or aborted
	case kept != nil && kept.Detail.Kept.If:
		p.May = append(p.May, step)
	case kept != nil:
		p.Kept = append(p.Kept, step)
	case root.Place(v).Gate >= 0 && undecided(root, v):
		p.May = append(p.May, step)
	default:
		p.Will = append(p.Will, step)
	}
}

func stepOf(root *reactive.Root, op int32, place *plan.Node, key string) Step {
	return Step{Step: key, Operation: root.Plan().Operations[op].Name, NonIdempotent: place.Step.NonIdempotent}
}

// undecided reports whether a conditional around a step, in the same item, has not decided.
func undecided(root *reactive.Root, v int32) bool {
	of := root.Plan()
	row, _ := of.Row(root.Place(v).Key)
	for gate := of.Nodes[row].Gate; gate >= 0; gate = of.Nodes[gate].Gate {
		if root.Status(v+gate-row) != reactive.Completed {
			return true
		}
	}
	return false
}

// unexpanded adds the content of maps with unknown lists: their steps, once each, and results kept for items.
func (p *Preview) unexpanded(root *reactive.Root, kept []journal.Event, prefix string) {
	of := root.Plan()
	for v := range root.Len() {
		if root.Row(v).Kind != plan.Map || root.Status(v) == reactive.Absent || root.Final(v) || root.Look(v).Flags&ledger.Expanded != 0 {
			continue
		}
		_, indexes, _ := plan.ParseKey(root.Key(v))
		row, _ := of.Row(root.Place(v).Key)
		for i := row + 1; i < of.Nodes[row].End; i++ {
			if n := &of.Nodes[i]; n.Kind == plan.Step {
				key := keyOf(n.Key, indexes) + strings.Repeat("[*]", of.Depth(i)-len(indexes))
				p.May = append(p.May, stepOf(root, n.Op, n, prefix+key))
			}
		}
	}
	for i := range kept {
		e := &kept[i]
		if _, there := root.Node(e.Node); there || e.Type != journal.ResultKept || e.Detail.Kept.If {
			continue
		}
		id, _, _ := plan.ParseKey(e.Node)
		if row, ok := of.Row(id); ok {
			step := stepOf(root, of.Nodes[row].Op, &of.Nodes[row], prefix+e.Node)
			step.Failed = e.Detail.Kept.Status == ledger.KeptFailed
			p.Kept = append(p.Kept, step)
		}
	}
}

// Split splits kept results into those of the run itself and those of its children, by their steps, with the keys in each.
func Split(kept []journal.Event) (own []journal.Event, below map[string][]journal.Event) {
	below = map[string][]journal.Event{}
	for _, e := range kept {
		step, rest, deep := strings.Cut(e.Node, "/")
		if !deep {
			own = append(own, e)
			continue
		}
		e.Node = rest
		below[step] = append(below[step], e)
	}
	return own, below
}
