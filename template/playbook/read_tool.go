package playbook

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// pipe is a step's pipeline under construction.
type pipe struct {
	step      *Step
	inherited layer
	labels    map[string]int // of tasks, by label
}

// labelledTool is a task of a pipeline with its label.
type labelledTool struct {
	label string
	at    *document.Node // the place of the label; the tool if it has none
	tool  *document.Node
	alone bool // the tool is a single mapping, or the value of its label in an item of a list

	written bool // the author wrote the label
}

// tools reads the pipeline of a step:
//
//	tool: {kind: http, …}             tool:                      tool:
//	                                    - {name: a, kind: http}    - a: {kind: http}
//	                                    - {kind: noop}             - b: {kind: noop}
func (r *reader) tools(s *Step, n *document.Node, inherited layer) {
	p := &pipe{step: s, inherited: inherited, labels: map[string]int{}}
	list := r.labelledTool(s, n)
	seen := map[string]document.Pos{}
	for i, t := range list {
		if r.label(t) && r.once(t.at, "task label", t.label, seen) {
			p.labels[t.label] = i
		}
	}
	for i, t := range list {
		s.Tasks = append(s.Tasks, r.task(p, i, t))
	}
}

// labelledTool returns the tasks of a pipeline with their labels.
func (r *reader) labelledTool(s *Step, n *document.Node) []labelledTool {
	if n.Kind == document.Mapping {
		t := labelledTool{label: s.Name + "_task", at: n, tool: n, alone: true}
		if name := n.Get("name"); name != nil && !takesName(n) {
			_, t.written = name.Text()
			t.label, t.at = r.Text(name), name
		}
		return []labelledTool{t}
	}
	if n.Kind == document.Sequence && n.Len() == 0 {
		r.Refuse(n, "tool must not be an empty list: leave it out")
		return nil
	}
	if n.Kind != document.Sequence {
		r.WrongKind(n, "a mapping or a list")
		return nil
	}
	var list []labelledTool
	for i, item := range n.Items() {
		if t, ok := r.listed(i, item); ok {
			list = append(list, t)
		}
	}
	return list
}

// listed returns the task in an item of a list: a mapping with a kind, or a mapping from its label to the tool. It reports
// false if the item is invalid.
func (r *reader) listed(i int, item *document.Node) (labelledTool, bool) {
	t := labelledTool{label: "task_" + strconv.Itoa(i), at: item, tool: item}
	if item.Kind != document.Mapping {
		r.Refuse(item, "a task must be a mapping, not "+item.Kind.String())
		return t, false
	}
	if item.Get("kind") != nil {
		if name := item.Get("name"); name != nil {
			_, t.written = name.Text()
			t.label, t.at = r.Text(name), name
		}
		return t, true
	}
	for e := range item.Entries() {
		if item.Len() == 1 && e.Value.Kind == document.Mapping {
			return labelledTool{label: e.Key, at: e.Value, tool: e.Value, alone: true, written: true}, true
		}
	}
	r.Fault(&document.Error{Pos: item.Pos.Key("kind"), Msg: "kind is missing"})
	return t, false
}

// takesName reports whether name in a tool is the name of the workflow or entry that it runs, and not the tool's label.
func takesName(n *document.Node) bool {
	kind := n.Get("kind")
	return isText(kind, kindWorkbook) || isText(kind, kindWorkflow) || isText(kind, kindPlaybook)
}

// label checks that a label can be part of the keys of calls: the key of a call of step s and task t is s.t, which must be
// unambiguous. It reports false if the label is empty.
func (r *reader) label(t labelledTool) bool {
	err := template.ValidID(t.label)
	if err == nil && strings.ContainsAny(t.label, ".@") {
		err = fmt.Errorf("%s: a label has no dots and no @", document.Quote(t.label))
	}
	if err != nil && t.written {
		r.Fault(&document.Error{Pos: t.at.Pos, Text: t.label, Msg: "invalid task label " + err.Error()})
	}
	return t.label != ""
}
