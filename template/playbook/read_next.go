package playbook

import (
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// next reads the routes of a step. Without arcs, the step is a leaf.
func (r *reader) next(n *document.Node) *Next {
	if n.Kind != document.Mapping {
		r.Refuse(n, "next must be a mapping with arcs, such as {arcs: [{step: s}]}, not "+n.Kind.String())
		return nil
	}
	next := &Next{Pos: n.Pos}
	r.mapping(n, template.Fields{
		"spec": func(v *document.Node) {
			r.mapping(v, template.Fields{
				"mode": func(v *document.Node) { next.Inclusive = r.choice(v, "exclusive", "inclusive") == "inclusive" },
				// Both choices have the same meaning: a branch without a match ends, and the run ends with its last branch.
				"on_no_match": func(v *document.Node) { r.choice(v, "complete", "quiet") },
			}, nil)
		},
		"arcs": func(v *document.Node) {
			for _, item := range r.list(v) {
				if arc, ok := r.arc(item); ok {
					next.Arcs = append(next.Arcs, arc)
				}
			}
		},
	}, map[string]string{"step": "write the next steps in arcs: [{step: s}]"})
	return next
}

// arc reads one arc. It reports false if its step is invalid.
func (r *reader) arc(n *document.Node) (Arc, bool) {
	a := Arc{To: -1, Pos: n.Pos}
	names := seenByArc
	r.mapping(n, template.Fields{
		"step":    func(v *document.Node) { a.To = r.stepNamed(v) },
		"when":    func(v *document.Node) { a.When, a.Text = r.condition(v, names) },
		"args":    func(v *document.Node) { a.Args = r.args(v, names) },
		"set":     func(v *document.Node) { a.Set = r.sets(a.Set, v, setsOfArc, names) },
		"set_ctx": func(v *document.Node) { a.Set = r.setsIn(a.Set, v, "ctx", setsOfArc, names) },
		"spec": func(v *document.Node) {
			r.mapping(v, template.Fields{"inherit_args": func(v *document.Node) { a.Inherit = r.Boolean(v) }}, nil)
		},
	}, nil)
	r.Required(n, "step")
	sortSets(a.Set)
	r.recordArgs(a.To, n.Get("args"))
	return a, a.To >= 0
}

// args compiles the args of an arc's token: an object, or an expression that returns one. Guards and args read the same state:
// the state at the end of the step.
func (r *reader) args(n *document.Node, names []string) Expr {
	if n.Kind != document.Mapping && n.Kind != document.String {
		r.WrongKind(n, "a mapping")
		return nil
	}
	e := r.expression(n, names)
	if e == nil {
		return nil
	}
	if v, fixed := constant(e); fixed {
		if _, isObject := v.(map[string]any); !isObject {
			r.WrongKind(n, "a mapping")
			return nil
		}
	}
	return e
}
