package playbook

import (
	"strings"

	"github.com/sluiceflow/sluice/dag/petri"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
)

// stepNames collects the names of steps, to which other parts of the document may refer. If two steps have one name, the first
// is used; the second is refused when it is read.
func (r *reader) stepNames(n *document.Node) {
	for i, item := range n.Items() {
		v := item.Get("step")
		if v == nil {
			continue
		}
		name, ok := v.Text()
		if _, taken := r.book.steps[name]; ok && !taken {
			r.book.steps[name] = i
			r.names = append(r.names, name)
		}
	}
}

// steps reads the workflow: a list of steps. Runs begin at the first step, or at the executor's entry_step.
func (r *reader) steps(n *document.Node) {
	items := r.list(n)
	if items == nil {
		return
	}
	if len(items) == 0 {
		r.Refuse(n, "workflow must have at least one step")
	}
	seen := map[string]document.Pos{}
	for i, item := range items {
		s := &Step{Index: i, Pos: item.Pos}
		r.book.Steps = append(r.book.Steps, s)
		r.step(s, item, seen)
	}
	if r.book.Executor.ImplicitJoin {
		r.joinImplicitly()
	}
}

// retiredStep maps retired keys of steps to their replacements.
var retiredStep = map[string]string{
	"when":  "write the condition of a step in spec.policy.admit",
	"case":  "write branches in next.arcs, as arcs with a when",
	"retry": "write a rule with do: retry in the spec.policy of the task",
	"sink":  "store values by a task of its own",
	"type":  "write the kind of its tool",
	"vars":  "set values with set, in ctx or step",
	"eval":  "write conditions in when, of arcs and rules",
	"expr":  "write conditions in when, of arcs and rules",
	"args":  "args come with the token, from the arc that leads here; write the input of a call in its tool",
}

func (r *reader) step(s *Step, n *document.Node, seen map[string]document.Pos) {
	var spec, loop, tool *document.Node
	r.here = s
	defer func() { r.here = nil }()
	r.mapping(n, template.Fields{
		"step": func(v *document.Node) { s.Name = r.stepName(v, seen) },
		"desc": func(v *document.Node) { s.Desc = r.Text(v) },
		"spec": func(v *document.Node) { spec = v },
		"loop": func(v *document.Node) { loop = v },
		"input": func(v *document.Node) {
			s.Input = r.expression(v, seenByInput)
			s.secrets = r.secretsOf(v.Pos, s.Input)
		},
		"tool": func(v *document.Node) { tool = v },
		"set":  func(v *document.Node) { s.Set = r.sets(s.Set, v, setsOfStep, seenByStep) },
		"next": func(v *document.Node) { s.Next = r.next(v) },
	}, retiredStep)
	if n.Kind != document.Mapping {
		return
	}
	r.Required(n, "step")
	if tool == nil && n.Get("next") == nil {
		r.Refuse(n, "a step needs a tool or a next")
	}
	// A task inherits from the specs around it, so they are read first, in any order of the document.
	layers := []layer{r.defaults}
	if spec != nil {
		layers = append(layers, r.stepSpec(s, spec))
	}
	if loop != nil {
		layers = append(layers, r.loop(s, loop))
	}
	s.Renders = r.book.Jinja && s.Loop != nil && s.Input != nil
	if tool != nil {
		r.tools(s, tool, merged(layers...))
	}
	r.withoutEffect(s, n)
	sortSets(s.Set)
}

// stepName reads a name, which is part of the keys of step-runs and calls: fetch@3[2].page.
func (r *reader) stepName(n *document.Node, seen map[string]document.Pos) string {
	name := r.Text(n)
	if _, isText := n.Text(); !isText {
		return ""
	}
	if err := template.ValidID(name); err != nil {
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: "invalid step name " + err.Error()})
	} else if strings.ContainsAny(name, ".@") {
		r.Fault(&document.Error{Pos: n.Pos, Text: name, Msg: "invalid step name " + document.Quote(name) + ": a name has no dots and no @"})
	}
	r.once(n, "step name", name, seen)
	return name
}

// stepSpec reads the policies of a step, and returns the settings for its tasks. A timeout has two forms: a duration limits a
// run of the step, including all attempts and the delays between them; a mapping limits each call of its tasks.
func (r *reader) stepSpec(s *Step, n *document.Node) layer {
	var l layer
	known := l.fields(r)
	ofTasks := known["timeout"]
	known["timeout"] = func(v *document.Node) {
		if v.Kind == document.Mapping {
			ofTasks(v)
			return
		}
		s.limitTimeout(r.duration(v))
	}
	known["policy"] = func(v *document.Node) { r.stepPolicy(s, v) }
	known["join"] = func(v *document.Node) { s.Join = r.join(v) }
	r.mapping(n, known, map[string]string{"next_mode": "write how arcs are chosen in next.spec.mode"})
	return l
}

func (r *reader) stepPolicy(s *Step, n *document.Node) {
	r.mapping(n, template.Fields{
		"admit": func(v *document.Node) { s.Admit = r.admit(v) },
		"lifecycle": func(v *document.Node) {
			r.mapping(v, template.Fields{
				"timeout_s":  func(v *document.Node) { s.limitTimeout(r.duration(v)) },
				"deadline_s": func(v *document.Node) { s.limitTimeout(r.duration(v)) },
			}, nil)
		},
		"failure": func(v *document.Node) {
			r.mapping(v, template.Fields{
				"mode": func(v *document.Node) { s.BestEffort = r.choice(v, "fail_fast", "best_effort") == "best_effort" },
			}, nil)
		},
	}, map[string]string{"rules": "only tasks have rules: write rules in the spec.policy of the tool"})
}

// join reads the join of a step, which merges the tokens of a fan-out.
func (r *reader) join(n *document.Node) *Join {
	j := &Join{Mode: JoinAll, Pos: n.Pos}
	r.mapping(n, template.Fields{
		"mode": func(v *document.Node) {
			j.Mode = JoinMode(r.choice(v, string(JoinAll), string(JoinAny), string(JoinCount)))
		},
		"n":          func(v *document.Node) { j.N = r.CountTo(v, petri.JoinMax) },
		"on_missing": func(v *document.Node) { j.FireMiss = r.choice(v, "fire", "skip") == "fire" },
	}, nil)
	switch hasN := n.Get("n") != nil; {
	case j.Mode == JoinCount && !hasN:
		r.Fault(&document.Error{Pos: n.Pos, Msg: "a join of mode count needs n"})
	case j.Mode != JoinCount && j.Mode != "" && hasN:
		r.Refuse(n.Get("n"), "n needs mode count")
	}
	return j
}

// joinImplicitly adds a join of all to every step without a join to which arcs of several steps lead.
func (r *reader) joinImplicitly() {
	upstream := make([]int, len(r.book.Steps))
	for _, s := range r.book.Steps {
		leads := map[int]bool{}
		if s.Next != nil {
			for i := range s.Next.Arcs {
				if to := s.Next.Arcs[i].To; to >= 0 && !leads[to] {
					leads[to] = true
					upstream[to]++
				}
			}
		}
	}
	for i, s := range r.book.Steps {
		if upstream[i] > 1 && s.Join == nil {
			s.Join = &Join{Mode: JoinAll, Pos: s.Pos}
		}
	}
}
