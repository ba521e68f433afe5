package rerun

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/reactive/ledger"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/plan"
)

// locate returns the row and the indexes that a key names in this run, or the reason that nothing there runs again. If the key goes on
// behind a slash, in a child run, they are the row and the indexes of the step that starts it.
func (k *keeping) locate(key string) (row int32, indexes []int, err error) {
	step, rest, deep := strings.Cut(key, "/")
	if row, indexes, err = k.find(step); err != nil || !deep {
		return row, indexes, err
	}
	n := &k.s.root.Plan().Nodes[row]
	next, _ := k.p.Row(n.Key)
	why := ""
	switch {
	case n.Kind != plan.Step:
		why = fmt.Sprintf("%q is no step that starts a run%s", k.prefix+step, k.inItem(row, indexes, rest))
	case k.childOf(next) == nil:
		why = fmt.Sprintf("step %q starts no run, so nothing is below it (did you mean %q?)", k.prefix+step, k.prefix+step)
	case rest == "":
		why = fmt.Sprintf("no step of the run that %q starts is named behind the slash (did you mean %q?)", k.prefix+step, k.prefix+step)
	case k.s.root.Plan().Depth(row) > len(indexes):
		why = fmt.Sprintf("each item of a map has its own run of step %q%s", k.prefix+step, k.inItem(row, indexes, rest))
	default:
		return row, indexes, nil
	}
	return 0, nil, fmt.Errorf("%w: %q: %s", decide.ErrStepNotFound, k.prefix+key, why)
}

// inItem suggests the key of a step in the first item of a map, for a key that does not name the item.
func (k *keeping) inItem(row int32, indexes []int, rest string) string {
	p := k.s.root.Plan()
	for i := row; i < max(row+1, p.Nodes[row].End); i++ {
		next, ok := k.p.Row(p.Nodes[i].Key)
		if p.Nodes[i].Kind != plan.Step || !ok || k.childOf(next) == nil {
			continue
		}
		key := p.Nodes[i].Key
		for d := range p.Depth(i) {
			at := 0
			if d < len(indexes) {
				at = indexes[d]
			}
			key += fmt.Sprintf("[%d]", at)
		}
		return fmt.Sprintf(" (did you mean %q?)", k.prefix+strings.TrimSuffix(key+"/"+rest, "/"))
	}
	return ""
}

// childOf returns the workflow that a step of the new run starts here; nil: it starts none.
func (k *keeping) childOf(row int32) *registry.Child {
	n := &k.p.Nodes[row]
	if n.Kind != plan.Step || n.Step.Target != nil {
		return nil
	}
	if p := k.entry.Performers[n.Op]; p != nil {
		c, _ := p.Caller.(*registry.Child)
		return c
	}
	return nil
}

// find returns the row and the indexes of the step, map or conditional from which the run runs again, or the reason that there is none.
func (k *keeping) find(key string) (row int32, indexes []int, err error) {
	id, indexes, ok := plan.ParseKey(key)
	p := k.s.root.Plan()
	if ok {
		row, ok = p.Row(id)
	}
	if !ok || len(indexes) != 0 && len(indexes) != p.Depth(row) {
		return 0, nil, k.unknown(key)
	}
	if _, ok := k.p.Row(id); !ok {
		return 0, nil, fmt.Errorf("%w: %q: run %s has that step, and the new workflow %s has not%s",
			decide.ErrStepNotFound, k.prefix+key, k.top(), k.p.Workflow.Name, suggestion(k.prefix, key, k.p))
	}
	if p.Depth(row) > len(indexes) {
		return row, indexes, nil // in all items
	}
	v, ok := k.s.root.Node(key)
	if !ok {
		return 0, nil, k.unknown(key)
	}
	return row, indexes, k.checkEnded(v)
}

// checkEnded returns the reason that a step that has not ended does not run again; nil: it has ended.
func (k *keeping) checkEnded(v int32) error {
	root, why := k.s.root, ""
	switch status := root.Status(v); {
	case status == reactive.Skipped && root.Look(v).Fact != ledger.Dropped: // not by its own timing or the decision about it
		why = "was skipped: rerun from a step before it, or from the conditional that skipped it"
	case status == reactive.Running || root.Pending(v):
		why = "is running: wait for its end, or abort it"
	case root.Final(v):
		return nil
	case root.Look(v).Fact == ledger.Responded:
		why = "has run, and its result is not decided: decide it, or abort it"
	default:
		why = fmt.Sprintf("is %s: it has not run yet", status)
	}
	return fmt.Errorf("%w: step %q of run %s %s", decide.ErrNotPossible, k.prefix+root.Key(v), k.top(), why)
}

// top returns the run that is repeated, by the id that people chose: runs below have ids of the engine.
func (k *keeping) top() string {
	if k.above != nil {
		return k.above.top()
	}
	return k.s.id
}

// unknown is the error about a step that the old run does not have.
func (k *keeping) unknown(key string) error {
	return fmt.Errorf("%w: %q: run %s has no such step%s", decide.ErrStepNotFound, k.prefix+key, k.top(), suggestion(k.prefix, key, k.s.root.Plan()))
}

// suggestion names the step of a plan that was probably meant by a key. The items of a map have the keys of its steps.
func suggestion(prefix, key string, p *plan.Plan) string {
	id, indexes, ok := plan.ParseKey(key)
	if !ok {
		id, indexes = key, nil
	}
	near, names := "", []string{}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Key != "" {
			names = append(names, n.Key)
			if inner := i + 1; n.Key == id && n.Kind == plan.Map && len(indexes) > p.Depth(int32(i)) && inner < int(n.End) {
				near = p.Nodes[inner].Key
			}
		}
	}
	if near == "" {
		if near, ok = expr.Nearest(id, names); !ok {
			return ""
		}
	}
	if row, _ := p.Row(near); p.Depth(row) == len(indexes) {
		near = keyOf(near, indexes)
	}
	if near == key {
		return "" // the item is missing
	}
	return fmt.Sprintf(" (did you mean %q?)", prefix+near)
}
