package wfformat

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/template/document"
)

// SchemaVersion is the version of the format that Parse reads.
const SchemaVersion = "1.5"

// SizeMax bounds the size of a file, in bytes.
const SizeMax = 10 << 20

// Instance is the content of a file, reduced to the parts that workflows have. Invariants, which Parse establishes:
//
//  1. ids are not empty, and no two are equal;
//  2. every parent is a task, and no task is an ancestor of itself;
//  3. runtimes are not negative.
type Instance struct {
	Name  string // as written; may be empty
	Tasks []Task // at least one, in the order of the file
}

// Task is one task of an instance.
type Task struct {
	ID        string   // unique in the instance
	Parents   []string // ids of the tasks it followed, each once, in the order of the file
	Runtime   float64  // seconds; 0: none was recorded, or it was too short to measure
	Program   string   // that it executed: a program or a whole script; empty: not recorded
	Arguments []string // as recorded, which may be pieces of a command line with several words each
}

// Parse reads a JSON file of schema 1.5. It reports all faults as document.Errors, without the name of the file, which it
// does not define. It ignores keys that have no use in workflows.
func Parse(data []byte) (*Instance, error) {
	// The name selects JSON: a broken file must not be reported as broken YAML.
	nodes, err := document.Parse(".json", data, document.Limits{Bytes: SizeMax})
	r := &reader{}
	if err == nil {
		r.file(nodes[0])
		err = r.errs.Err()
	}
	if err != nil {
		if list, ok := errors.AsType[document.Errors](err); ok && nodes == nil && !json.Valid(data) {
			list[0].Msg = "this is no JSON, in which WfFormat is written: " + list[0].Msg
		}
		return nil, withoutFile(err)
	}
	return &r.instance, nil
}

// withoutFile removes the invented name from the places of errors.
func withoutFile(err error) error {
	if list, ok := errors.AsType[document.Errors](err); ok {
		for _, e := range list {
			e.Pos.File = ""
		}
	}
	return err
}

// reader is the state of one Parse.
type reader struct {
	instance Instance
	nodes    []*document.Node // of the tasks, parallel to instance.Tasks
	byID     map[string]int   // positions of tasks
	errs     document.Errors
}

// fault records a fault of n.
func (r *reader) fault(n *document.Node, format string, args ...any) {
	r.errs.Add(&document.Error{Pos: n.Pos, Msg: fmt.Sprintf(format, args...)})
}

// file reads the whole file: first the tasks, then their executions, then their order.
func (r *reader) file(root *document.Node) {
	version := root.Get("schemaVersion")
	if text := r.text(version, "schemaVersion"); text != SchemaVersion {
		if version == nil {
			version = root
		}
		r.fault(version, "schema version %s cannot be read: it must be %s", document.Quote(text), SchemaVersion)
		return // the rest has other places in other versions
	}
	r.instance.Name = r.text(root.Get("name"), "name")
	workflow := root.Get("workflow")
	tasks := workflow.Get("specification").Get("tasks")
	if tasks == nil || tasks.Kind != document.Sequence || tasks.Len() == 0 {
		r.fault(root, "there are no tasks: workflow.specification.tasks is missing or empty")
		return
	}
	r.tasks(tasks)
	if executed := workflow.Get("execution").Get("tasks"); executed != nil {
		r.executions(executed)
	}
	r.parents()
	if len(r.errs) == 0 {
		r.order()
	}
}

// tasks reads the ids, to which everything else refers.
func (r *reader) tasks(list *document.Node) {
	r.byID = make(map[string]int, list.Len())
	for i, n := range list.Items() {
		id := r.text(n.Get("id"), "id")
		if id == "" {
			r.fault(n, "task %d has no id", i+1)
			continue
		}
		if first, ok := r.byID[id]; ok {
			r.fault(n, "duplicate task %s, first at %s", document.Quote(id), r.nodes[first].Pos.Path)
			continue
		}
		r.byID[id] = len(r.nodes)
		r.nodes = append(r.nodes, n)
		r.instance.Tasks = append(r.instance.Tasks, Task{ID: id})
	}
}

// executions reads the commands that tasks executed, and their times.
func (r *reader) executions(list *document.Node) {
	seen := make(map[string]bool, list.Len())
	for i, n := range list.Items() {
		id := r.text(n.Get("id"), "id")
		at, ok := r.byID[id]
		switch {
		case id == "":
			r.fault(n, "execution %d names no task", i+1)
			continue
		case !ok:
			r.fault(n, "execution of unknown task %s", document.Quote(id))
			continue
		case seen[id]:
			r.fault(n, "task %s was executed twice", document.Quote(id))
			continue
		}
		seen[id] = true
		task := &r.instance.Tasks[at]
		task.Runtime = r.seconds(n.Get("runtimeInSeconds"), id)
		command := n.Get("command")
		task.Program = strings.TrimSpace(r.text(command.Get("program"), "the program of task "+document.Quote(id)))
		task.Arguments = r.texts(command.Get("arguments"), "the arguments of task "+document.Quote(id))
	}
}

// seconds reads a runtime; a missing one is 0.
func (r *reader) seconds(n *document.Node, id string) float64 {
	if n == nil {
		return 0
	}
	var seconds float64
	switch v := n.Value().(type) {
	case nil:
	case int64:
		seconds = float64(v)
	case float64:
		seconds = v
	default:
		r.fault(n, "the runtime of task %s must be a number, not %s", document.Quote(id), n.Kind)
	}
	if seconds < 0 {
		r.fault(n, "the runtime of task %s is negative", document.Quote(id))
	}
	return seconds
}

// parents reads the edges, which the format states twice: as the parents of one task and as the children of the other.
func (r *reader) parents() {
	type edge struct{ parent, child string }
	stated := make(map[edge]bool)
	for i := range r.instance.Tasks {
		task, n := &r.instance.Tasks[i], r.nodes[i]
		for _, parent := range r.texts(n.Get("parents"), "the parents of task "+document.Quote(task.ID)) {
			e := edge{parent, task.ID}
			if _, ok := r.byID[parent]; !ok {
				r.fault(n, "task %s has unknown parent %s", document.Quote(task.ID), document.Quote(parent))
			} else if !stated[e] {
				stated[e] = true
				task.Parents = append(task.Parents, parent)
			}
		}
	}
	confirmed := make(map[edge]bool, len(stated))
	for i, task := range r.instance.Tasks {
		for _, child := range r.texts(r.nodes[i].Get("children"), "the children of task "+document.Quote(task.ID)) {
			e := edge{task.ID, child}
			confirmed[e] = true
			if _, ok := r.byID[child]; !ok {
				r.fault(r.nodes[i], "task %s has unknown child %s", document.Quote(task.ID), document.Quote(child))
			} else if !stated[e] {
				r.fault(r.nodes[i], "task %s has child %s, which does not have it as a parent", document.Quote(task.ID), document.Quote(child))
			}
		}
	}
	for i, task := range r.instance.Tasks {
		for _, parent := range task.Parents {
			// A task without a list of children leaves it to the parents of the others.
			if states := r.nodes[r.byID[parent]].Get("children") != nil; states && !confirmed[edge{parent, task.ID}] {
				r.fault(r.nodes[i], "task %s has parent %s, which does not have it as a child", document.Quote(task.ID), document.Quote(parent))
			}
		}
	}
}

// order reports a cycle.
func (r *reader) order() {
	b := dag.NewBuilder(dag.TemplateGraph)
	for _, task := range r.instance.Tasks {
		b.AddNode(task.ID)
	}
	for i, task := range r.instance.Tasks {
		for _, parent := range task.Parents {
			b.AddEdge(int32(r.byID[parent]), int32(i), dag.Attributes{Type: dag.Sequential})
		}
	}
	g, err := b.Build()
	if err == nil {
		err = g.CheckAcyclic()
	}
	if cyclic, ok := errors.AsType[*dag.CycleError](err); ok {
		for _, cycle := range cyclic.Cycles {
			r.fault(r.nodes[r.byID[cycle[0]]], "tasks follow each other in a cycle: %s -> %s", strings.Join(cycle, " -> "), cycle[0])
		}
	} else if err != nil {
		r.fault(r.nodes[0], "%v", err)
	}
}

// text reads a text that may be missing.
func (r *reader) text(n *document.Node, what string) string {
	if n == nil || n.Kind == document.Null {
		return ""
	}
	text, ok := n.Text()
	if !ok {
		r.fault(n, "%s must be a string, not %s", what, n.Kind)
	}
	return text
}

// texts reads a list of texts that may be missing.
func (r *reader) texts(n *document.Node, what string) []string {
	if n == nil || n.Kind == document.Null {
		return nil
	}
	if n.Kind != document.Sequence {
		r.fault(n, "%s must be a list, not %s", what, n.Kind)
		return nil
	}
	list := make([]string, 0, n.Len())
	for _, item := range n.Items() {
		list = append(list, r.text(item, what))
	}
	return slices.Clip(list)
}
