package rerun

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/sluiceflow/sluice/coordinator/children"
	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/coordinator/starting"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// Maker makes reruns. It reads only.
type Maker struct {
	Store    journal.Store                                                            // has the runs
	Registry *registry.Registry                                                       // has their workflows
	Limits   decide.Limits                                                            // of new runs
	Now      func() int64                                                             // the instant, Unix nanoseconds
	Host     func(run string, entry *registry.Entry, root *reactive.Root) decide.Host // for previews
}

// Made is a rerun that has not begun.
type Made struct {
	Entry    *registry.Entry   // of the new run
	Input    value.Value       // of the new run
	From     *journal.From     // the run that it repeats
	Kept     []journal.Event   // that follow the first event
	Dir      string            // of the old run
	Labels   map[string]string // of the old run
	Identity *journal.Identity // of the old run

	Past  *journal.Start // of a playbook: of the old run, whose events Kept has; nil: Kept has results
	Began int64          // of a playbook: the instant of the first event

	maker *Maker
	ended []Step // of a playbook: the calls that have ended, in order
}

// Options returns the options of the new run's start, for an act on many runs unless that is "".
func (d *Made) Options(actor, act string, opts []starting.Option) (starting.Options, error) {
	o := starting.Options{
		Labels: d.Labels, Identity: d.Identity, Dir: d.Dir, From: d.From, Kept: d.Kept, Past: d.Past, Began: d.Began, Actor: actor, Act: act,
	}
	return o, o.Apply(opts)
}

// Make determines the results that a rerun of a run keeps.
func (m *Maker) Make(ctx context.Context, run string, o *Options) (*Made, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	set, err := parseSet(o.Set)
	if err != nil {
		return nil, err
	}
	s, err := m.read(ctx, run, o.At, set.wants())
	if err != nil {
		return nil, err
	}
	if s.past != nil {
		return m.makePast(ctx, s, o)
	}
	entry, err := m.entry(ctx, s, o)
	if err != nil {
		return nil, err
	}
	in := s.input
	if o.NewInput() {
		in = o.Input
	}
	input, err := value.Own(in)
	if err != nil {
		return nil, fmt.Errorf("input: %w", err)
	}
	if err := entry.Schema.Check(input); err != nil {
		return nil, err
	}
	k := &keeping{m: m, ctx: ctx, s: s, entry: entry, p: entry.Plan, sel: o.selection(), set: set, failed: map[int32]bool{},
		renewed: o.NewInput() || o.Workflow != nil || o.Entry != nil}
	if err := k.keep(); err != nil {
		return nil, err
	}
	return &Made{
		Entry: entry, Input: input, Kept: k.events, Dir: s.start.Dir, Labels: s.start.Labels, Identity: s.start.Identity, maker: m,
		From: &journal.From{Run: run, Seq: s.root.Seq(), Kept: int32(len(k.events))},
	}, nil
}

// entry returns the workflow of the new run.
func (m *Maker) entry(ctx context.Context, s *source, o *Options) (entry *registry.Entry, err error) {
	switch {
	case o.Entry != nil:
		entry = o.Entry
	case o.Workflow != nil:
		if entry, err = m.Registry.Add(o.Workflow); err != nil {
			return nil, err
		}
	default:
		if entry, err = m.Registry.Find(ctx, s.start.Workflow, s.start.Children); err != nil {
			return nil, fmt.Errorf("run %s cannot be rerun here: %w", s.id, err)
		}
		return entry, nil
	}
	if r := entry.Plan.Workflow.Routing; r != nil {
		return nil, fmt.Errorf("%w: %s is a %s: a run of steps is rerun with a workflow of steps", decide.ErrNotPossible, entry.Plan.Workflow.Name, r.Kind())
	}
	return entry, nil
}

// keeping collects the kept results of one run: the repeated run, or a child below it.
type keeping struct {
	m      *Maker
	ctx    context.Context
	s      *source
	entry  *registry.Entry // of the new run
	p      *plan.Plan      // of the new run
	sel    selection
	set    settings
	above  *keeping // nil: the run is the repeated one
	prefix string   // of keys: the steps above
	events []journal.Event

	renewed bool // other branches may be taken: the input or the workflow differs, or may differ

	failed map[int32]bool // the steps that run again because they have failed

	again *cut // of the old plan
	next  *cut // the same, of the new plan: a step may follow others there
	same  map[[2]int32]bool
}

// keep collects the events.
func (k *keeping) keep() error {
	if err := k.choose(); err != nil {
		return err
	}
	if err := k.apply(); err != nil {
		return err
	}
	if k.above == nil {
		k.carry()
	}
	var failure error
	eachStep(k.s.root, func(v int32) {
		if failure == nil {
			failure = k.step(v)
		}
	})
	return failure
}

// step keeps the result of a step, or the kept results of its child.
func (k *keeping) step(v int32) error {
	key := k.s.root.Key(v)
	if k.set.output(key) != nil { // it is among the events
		return nil
	}
	id, indexes, _ := plan.ParseKey(key)
	row, ok := k.p.Row(id)
	if !ok || k.p.Nodes[row].Kind != plan.Step || k.p.Depth(row) != len(indexes) {
		return nil // the new workflow has no such step
	}
	runs := k.again.has(k.s.rowOf(v), indexes) || k.next.has(row, indexes)
	if e := k.s.result(v); e != nil && !runs && (!k.sel.changed || k.sameResult(v, row, isSet(e.Detail.Kept))) {
		kept := e.Detail.Kept
		if kept.If = k.sel.changed; kept.If && isSet(kept) {
			kept.Input = k.inputBeside(v)
			kept.If = kept.Input != nil // otherwise only the person determines the result
		}
		e.Node = k.prefix + key
		k.events = append(k.events, *e)
		if !kept.If {
			return nil
		}
	}
	return k.child(v, row, key)
}

// choose determines which steps run again.
func (k *keeping) choose() error {
	k.again, k.next = newCut(k.s.root.Plan()), newCut(k.p)
	if k.sel.changed {
		return nil
	}
	for _, key := range []string{k.sel.from, k.sel.only} {
		if key == "" {
			continue
		}
		row, indexes, err := k.locate(key)
		if err != nil {
			return err
		}
		k.repeat(row, indexes)
	}
	if k.sel.only != "" {
		return nil // a step without a result runs, and those that follow it have none either, or keep it
	}
	if k.sel.failed {
		failed := Failed(k.s.root)
		if len(failed) == 0 && k.prefix == "" {
			return k.nothingFailed()
		}
		for _, v := range failed {
			k.failed[v] = true
		}
	}
	eachStep(k.s.root, func(v int32) {
		if k.failed[v] || unfinished(k.s.root, v) {
			_, indexes, _ := plan.ParseKey(k.s.root.Key(v))
			k.repeat(k.s.rowOf(v), indexes)
		}
	})
	return nil
}

// repeat selects a row of the old run and, unless only one step runs again, the rows that follow it.
func (k *keeping) repeat(row int32, indexes []int) {
	follow := k.sel.only == ""
	k.again.add(row, indexes, follow)
	if next, ok := k.p.Row(k.s.root.Plan().Nodes[row].Key); ok && k.p.Depth(next) == k.s.root.Plan().Depth(row) {
		k.next.add(next, indexes, follow)
	}
}

// rowOf returns the row of a step.
func (s *source) rowOf(v int32) int32 {
	row, _ := s.root.Plan().Row(s.root.Place(v).Key)
	return row
}

// sameResult reports whether a step has the same result in the new workflow, if its input is the same. A value or failure that a workflow
// computes itself costs nothing, and may read the run: it is computed again, unless a person has set it.
func (k *keeping) sameResult(v, row int32, set bool) bool {
	if of := k.s.root.Row(v).OpKind; !set && (of == plan.Value || of == plan.Fail) {
		return false
	}
	return k.sameStep(v, row)
}

// sameStep reports whether a step calls the same operation in the same way in the new workflow.
func (k *keeping) sameStep(v, row int32) bool {
	pair := [2]int32{k.s.rowOf(v), row}
	if same, ok := k.same[pair]; ok {
		return same
	}
	if k.same == nil {
		k.same = map[[2]int32]bool{}
	}
	k.same[pair] = k.compare(pair[0], row)
	return k.same[pair]
}

func (k *keeping) compare(was, now int32) bool {
	old := k.s.root.Plan()
	a, b := &old.Nodes[was], &k.p.Nodes[now]
	opA, opB := &old.Operations[a.Op], &k.p.Operations[b.Op]
	if !bytes.Equal(meaning(a.Step.Document()), meaning(b.Step.Document())) || !bytes.Equal(binding(old, opA.Name), binding(k.p, opB.Name)) {
		return false
	}
	return k.sameChild(k.s.start.Children[old.Hash+"/"+opA.Name], b.Op)
}

// meaning encodes the parts of a step's document, besides its input, that determine its result.
func meaning(doc map[string]any) []byte {
	kept := map[string]any{}
	for _, name := range []string{"operation", "target", "fan_in", "fulfillment"} {
		kept[name] = doc[name]
	}
	return encoded(kept)
}

// binding encodes how a document binds an operation.
func binding(p *plan.Plan, operation string) []byte {
	doc, _ := p.Workflow.Document().(map[string]any)
	all, _ := doc["operations"].(map[string]any)
	return encoded(all[operation])
}

func encoded(v any) []byte {
	_, text, err := journal.HashOf(v)
	if err != nil {
		return nil
	}
	return text
}

// sameChild reports whether an operation of the new run starts the workflow with hash was ("": none), with the same ones below it.
func (k *keeping) sameChild(was string, op int32) bool {
	child, err := k.entry.ChildOf(k.ctx, op)
	if err != nil || child == nil {
		return err == nil && was == ""
	}
	family, err := registry.Family(k.ctx, child)
	return err == nil && registry.SameFamily(was, k.s.start.Children, child.Plan.Hash, family)
}

// child collects the results to keep for the child of a step that runs again.
func (k *keeping) child(v, row int32, key string) error {
	c := k.childOf(row)
	if c == nil {
		return nil
	}
	sel := k.sel.below(key)
	inner := k.set.below(key)
	if sel.failed && !k.failed[v] && !unfinished(k.s.root, v) {
		sel.failed = false // it runs again because of a step before it
	}
	if sel == (selection{}) && inner.empty() {
		return nil
	}
	entry, err := c.Find(k.ctx)
	if err != nil {
		return err
	}
	id := children.ID(&call.Request{Run: k.s.id, Node: key, Attempt: k.s.root.Attempt(v)})
	s, err := k.m.readChild(k.ctx, id, inner.wants())
	if err != nil {
		if sel.from == "" && sel.only == "" && inner.empty() {
			return nil // it has not begun, or was deleted: it runs as a whole
		}
		if errors.Is(err, decide.ErrRunNotFound) {
			return fmt.Errorf("%w: step %q of run %s has no child run, because it has not begun or was deleted, and so nothing below it can be named: name %q",
				decide.ErrNotPossible, k.prefix+key, k.top(), k.prefix+key)
		}
		return err
	}
	below := &keeping{m: k.m, ctx: k.ctx, s: s, entry: entry, p: entry.Plan, sel: sel, set: inner, failed: map[int32]bool{}, above: k, renewed: true, prefix: k.prefix + key + "/"}
	if err := below.keep(); err != nil {
		return err
	}
	k.events = append(k.events, below.events...)
	return nil
}
