package program

import (
	"slices"
	"strconv"

	"github.com/sluiceflow/sluice/reactive/routed"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/template"
)

// TaskNames returns the names of a playbook's call in the script, the most specific first: by iteration, by step, and by kind of
// tool.
func TaskNames(path string, p routed.Place) []string {
	var names []string
	for _, prefix := range slices.Compact([]string{path, script.Stem(path), ""}) {
		if p.Iteration >= 0 {
			item := prefix + p.Step + "[" + strconv.Itoa(p.Iteration) + "]"
			names = append(names, item+"."+p.Task, item)
		}
		names = append(names, prefix+p.Step+"."+p.Task, prefix+p.Step)
	}
	return append(names, p.Kind)
}

// FindTask returns the script of a playbook's call, or nil.
func FindTask(parts script.Parts, path string, p routed.Place) *script.Part {
	for _, name := range TaskNames(path, p) {
		if part := parts[name]; part != nil {
			return part
		}
	}
	return nil
}

// scriptedTask reports whether the script answers a task, in any iteration.
func scriptedTask(parts script.Parts, path string, p routed.Place) bool {
	if FindTask(parts, path, p) != nil {
		return true
	}
	names := TaskNames(path, p)
	for name := range parts {
		if s := script.Stem(name); s != name && slices.Contains(names, s) {
			return true
		}
	}
	return false
}

// tasks returns the task of each step in the tree of a playbook, where steps are call sites. It returns nil for any other workflow.
func tasks(w *template.Workflow) map[*template.Step]routed.Place {
	if w.Routing == nil {
		return nil
	}
	places := map[*template.Step]routed.Place{}
	site := 0
	eachStep(w.Steps, func(s *template.Step) {
		at := w.Routing.CallSite(site)
		site++
		places[s] = routed.Place{Step: at.Step, Task: at.Task, Kind: at.Kind, Iteration: -1}
	})
	return places
}

// bindTasks binds the tasks of a playbook, like bind. A task without an answer fails when it is called, because the tasks that a
// playbook will run are unknown in advance.
func (b *binder) bindTasks(places map[*template.Step]routed.Place) {
	for _, r := range b.w.Routing.Requires() {
		b.known[r.Operation] = true
	}
	eachStep(b.w.Steps, func(s *template.Step) {
		binding, bound := b.w.Operations[s.Operation]
		if bound && builtIn(binding) {
			if !scriptedTask(b.operations, b.path, places[s]) {
				return
			}
			s.Operation += scriptedSuffix
		}
		b.known[s.Operation] = true
	})
}
