package difference

import (
	"maps"
	"slices"

	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/value"
)

// parts are the parts of a step or of a workflow, by name.
type parts map[string]value.Value

// workflow holds the parts of a workflow.
type workflow struct {
	plan       *plan.Plan
	operations map[string]any // bindings by name
	order      []string       // ids
	steps      map[string]parts
	whole      parts
}

// partNames maps keys of documents to the names of their parts, if these differ. An empty name omits the key.
var partNames = map[string]string{
	"needs": "", "next": "edges", "tool": "operation", "func": "input", "desc": "", "id": "", "step": "", "steps": "", "then": "", "else": "", "kind": "",
	"apiVersion": "dialect", "workflow": "", "operations": "", "machines": "",
}

// set adds the parts in a mapping of a document.
func (p parts) set(m map[string]any) {
	for key, v := range m {
		word, renamed := partNames[key]
		switch {
		case !renamed:
			p[key] = v
		case word != "" && v != nil:
			p[word] = v
		}
	}
}

// partsOf returns the parts of a workflow.
func partsOf(p *plan.Plan) *workflow {
	w := &workflow{plan: p, steps: map[string]parts{}, whole: parts{}}
	doc, _ := value.Of(p.Workflow.Document()) // the plan was compiled from it, so it is a value
	root, _ := doc.(map[string]any)
	w.whole.set(root)
	w.whole["kind"] = p.DocumentKind()
	w.operations, _ = root["operations"].(map[string]any)
	switch routing := p.Workflow.Routing; {
	case routing == nil:
		list, _ := root["steps"].([]any)
		w.nodes(list, nil)
	case root["machines"] != nil:
		w.machines(root["machines"])
	default:
		list, _ := root["workflow"].([]any)
		w.routed(list)
	}
	return w
}

func (w *workflow) add(id string, p parts) {
	w.order = append(w.order, id)
	w.steps[id] = p
}

// nodes adds the elements of a list, which is inside the given guards.
func (w *workflow) nodes(list []any, guards []any) {
	for _, one := range list {
		n, _ := one.(map[string]any)
		if n["operation"] != nil {
			w.step(n, guards)
			continue
		}
		for kind, inner := range n {
			body, _ := inner.(map[string]any)
			w.container(kind, body, guards)
		}
	}
}

// container adds a map or a named conditional, and the nodes inside any container.
func (w *workflow) container(kind string, body map[string]any, guards []any) {
	id, _ := body["id"].(string)
	steps, _ := body["steps"].([]any)
	switch kind {
	case "map":
		w.element(id, body, guards)
		w.nodes(steps, append(slices.Clip(guards), "each of "+id))
	case "conditional":
		if id != "" {
			w.element(id, body, guards)
		}
		test := any(map[string]any{"if": body["test"]})
		if body["func"] != nil {
			test = map[string]any{"if": body["func"]}
		}
		then, _ := body["then"].([]any)
		otherwise, _ := body["else"].([]any)
		w.nodes(then, append(slices.Clip(guards), test))
		w.nodes(otherwise, append(slices.Clip(guards), map[string]any{"unless": test}))
	default:
		if most := body["max_concurrency"]; most != nil {
			guards = append(slices.Clip(guards), map[string]any{"at most": most})
		}
		w.nodes(steps, guards)
	}
}

// step adds a step with the binding of its operation.
func (w *workflow) step(n map[string]any, guards []any) {
	id, _ := n["id"].(string)
	name, _ := n["operation"].(string)
	if id == "" {
		id = name
	}
	p := w.element(id, n, guards)
	if bound := w.operations[name]; bound != nil {
		p["operation"] = map[string]any{name: bound}
	}
}

// element adds a step, a map or a conditional.
func (w *workflow) element(id string, n map[string]any, guards []any) parts {
	p := parts{}
	p.set(n)
	if edges := w.edges(id); len(edges) > 0 {
		p["edges"] = edges
	}
	if len(guards) > 0 {
		p["guards"] = slices.Clone(guards)
	}
	w.add(id, p)
	return p
}

// edges returns the ids of the steps that a step waits for, sorted. A predecessor without an id, such as a join, is replaced by
// its own predecessors.
func (w *workflow) edges(id string) []any {
	row, ok := w.plan.Row(id)
	if !ok {
		return nil
	}
	var from []string
	seen := map[int32]bool{}
	for rows := slices.Clone(w.plan.Predecessors(row)); len(rows) > 0; rows = rows[1:] {
		r := rows[0]
		if seen[r] {
			continue
		}
		seen[r] = true
		if key := w.plan.Nodes[r].Key; key != "" {
			from = append(from, key)
		} else {
			rows = append(rows, w.plan.Predecessors(r)...)
		}
	}
	slices.Sort(from)
	list := make([]any, len(from))
	for i, key := range from {
		list[i] = key
	}
	return list
}

// routed adds the steps of a playbook.
func (w *workflow) routed(list []any) {
	for _, one := range list {
		n, _ := one.(map[string]any)
		id, _ := n["step"].(string)
		p := parts{}
		p.set(n)
		w.add(id, p)
	}
}

// machines adds the machines of a world: a list, or a mapping by name.
func (w *workflow) machines(all any) {
	switch all := all.(type) {
	case []any:
		for _, one := range all {
			m, _ := one.(map[string]any)
			name, _ := m["name"].(string)
			w.add(name, parts(m))
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(all)) {
			m, _ := all[name].(map[string]any)
			w.add(name, parts(m))
		}
	}
}
