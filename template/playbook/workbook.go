package playbook

import (
	"fmt"
	"maps"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// entry is a task of the workbook.
type entry struct {
	tool    *document.Node // nil: refused
	expects []string       // keys that the input must have, from the caller or from the entry
}

// workbook reads the tasks that tools of kind workbook run:
//
//	workbook: [{name: n, tool: {…}}]     or     workbook: {tasks: {n: {tool: {…}}}}
func (r *reader) workbook(n *document.Node) {
	r.entries = map[string]entry{}
	if n.Kind == document.Mapping {
		r.mapping(n, template.Fields{"tasks": func(v *document.Node) {
			if v.Kind != document.Mapping {
				r.WrongKind(v, "a mapping")
				return
			}
			for e := range v.Entries() {
				r.entries[e.Key] = r.entry(e.Value, false)
			}
		}}, nil)
		return
	}
	seen := map[string]document.Pos{}
	for _, item := range r.list(n) {
		found := r.entry(item, true)
		r.Required(item, "name")
		if name := item.Get("name"); name != nil && r.once(name, "workbook entry", r.Text(name), seen) {
			r.entries[r.Text(name)] = found
		}
	}
}

// entry reads the tool of an entry. The keys of the tool are read at each call of the entry.
func (r *reader) entry(n *document.Node, listed bool) entry {
	var e entry
	if n.Kind != document.Mapping {
		r.Refuse(n, "an entry of the workbook must be a mapping, not "+n.Kind.String())
		return e
	}
	tool := n
	if listed || n.Get("kind") == nil {
		tool = n.Get("tool")
		known := template.Fields{
			"tool":   func(*document.Node) {},
			"desc":   func(v *document.Node) { r.Text(v) },
			"assert": func(v *document.Node) { e.expects = r.assertion(v) },
		}
		if listed {
			known["name"] = func(*document.Node) {}
		}
		r.mapping(n, known, nil)
		r.Required(n, "tool")
	}
	if tool == nil {
		return e
	}
	if tool.Kind != document.Mapping {
		r.WrongKind(tool, "a mapping")
		return e
	}
	r.Required(tool, "kind")
	switch kind := tool.Get("kind"); {
	case kind == nil:
	case isText(kind, kindWorkbook):
		r.Refuse(kind, "an entry of the workbook cannot refer to another entry")
	case r.Word(kind) != "":
		e.tool = tool
	}
	return e
}

// isText reports whether n is the string text; it is false for nil.
func isText(n *document.Node, text string) bool {
	if n == nil {
		return false
	}
	t, ok := n.Text()
	return ok && t == text
}

// assertion reads the contract of an entry. Each call is checked for the expected keys; returns is only documentation.
func (r *reader) assertion(n *document.Node) (expects []string) {
	r.mapping(n, template.Fields{
		"expects": func(v *document.Node) { expects = r.Texts(v) },
		"returns": func(v *document.Node) { r.Texts(v) },
	}, nil)
	return expects
}

// expand finds the entry of a task, and reads it before the task. The caller's input is merged over the entry's input, and the
// entry's policy applies if the caller has none.
func (x *tool) expand(n labelledTool) {
	r := x.r
	name := n.tool.Get("task")
	if name == nil {
		name = n.tool.Get("ref")
	}
	if name == nil && n.alone {
		name = n.tool.Get("name")
	}
	if name == nil {
		r.Fault(&document.Error{Pos: n.tool.Pos.Key("task"), Msg: "a tool of kind workbook needs task, the name of an entry"})
		return
	}
	found, ok := r.entries[r.Text(name)]
	if !ok {
		near := r.Nearest(r.Text(name), maps.Keys(r.entries))
		r.Fault(&document.Error{Pos: name.Pos, Text: r.Text(name), Suggestion: near,
			Msg: fmt.Sprintf("unknown workbook entry %q", r.Text(name))})
		return
	}
	if found.tool == nil {
		return // refused where it is defined
	}
	x.expects = found.expects
	x.kind = found.tool.Get("kind")
	x.task.Kind = r.Text(x.kind)
	x.read(found.tool)
}

// checkExpected refuses a call whose input lacks keys that the entry expects.
func (x *tool) checkExpected(n labelledTool) {
	for _, key := range x.expects {
		if x.whole == nil && x.input[key] == nil {
			x.r.Fault(&document.Error{Pos: n.tool.Pos, Text: key, Msg: fmt.Sprintf("the workbook entry expects input %q", key)})
		}
	}
}
