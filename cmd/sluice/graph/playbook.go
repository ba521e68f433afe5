package graph

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/playbook"
)

// drawPlaybook returns the picture of a playbook.
func drawPlaybook(r template.Routing) (*picture, error) {
	book := r.(*playbook.Playbook)
	g, err := book.Graph()
	if err != nil {
		return nil, err
	}
	return &picture{stepDrawing(book), g, func(id int32) any { return stepAttributes(book, id) }}, nil
}

// stepDrawing returns the look of each step of a playbook.
func stepDrawing(book *playbook.Playbook) dag.Drawing {
	return dag.Drawing{
		Title:   book.Name,
		Classes: map[string]dag.Style{"gate": {Dashed: true}},
		Node: func(id int32) dag.Look {
			s := book.Steps[id]
			look := dag.Look{Label: stepLabel(book, s)}
			if s.Admit != nil {
				look.Class = "gate"
			}
			if s.Loop != nil {
				look.Shape = dag.Stack
			}
			return look
		},
	}
}

// stepLabel returns the name of a step and, below it, its gate, loop, join and other features.
func stepLabel(book *playbook.Playbook, s *playbook.Step) string {
	lines := []string{s.Name}
	if s.Index == book.Executor.Entry {
		lines = append(lines, "entry")
	}
	if s.Index == book.Executor.Final {
		lines = append(lines, "final step")
	}
	if s.Admit != nil {
		lines = append(lines, "gate: "+gate(s.Admit))
	}
	if s.Join != nil {
		lines = append(lines, "join: "+join(s.Join))
	}
	if s.Loop != nil {
		lines = append(lines, "each "+s.Loop.Iterator)
	}
	return strings.Join(lines, "\n")
}

// gate returns the rules of a gate on one line, in the order in which they are evaluated.
func gate(a *playbook.Admit) string {
	rules := make([]string, len(a.Rules))
	for i, r := range a.Rules {
		verdict := "deny"
		if r.Allow {
			verdict = "allow"
		}
		if r.When == nil {
			rules[i] = "else " + verdict
			continue
		}
		rules[i] = verdict + " if " + r.Text
	}
	return strings.Join(rules, ", ")
}

// join returns the mode of a join.
func join(j *playbook.Join) string {
	if j.Mode == playbook.JoinCount {
		return fmt.Sprint("count ", j.N)
	}
	return string(j.Mode)
}

// stepAttributes returns the JSON attributes of a step.
func stepAttributes(book *playbook.Playbook, id int32) any {
	s := book.Steps[id]
	a := struct {
		Kind  string   `json:"kind"`
		Tools []string `json:"tools,omitempty"` // of its pipeline, by kind
		Entry bool     `json:"entry,omitempty"`
		Final bool     `json:"final,omitempty"`
		Gate  string   `json:"gate,omitempty"`
		Join  string   `json:"join,omitempty"`
		Loop  string   `json:"loop,omitempty"` // the iterator: the name of an item
		Mode  string   `json:"mode,omitempty"` // of its router
	}{Kind: "step", Entry: s.Index == book.Executor.Entry, Final: s.Index == book.Executor.Final}
	for _, t := range s.Tasks {
		a.Tools = append(a.Tools, t.Kind)
	}
	if s.Admit != nil {
		a.Gate = gate(s.Admit)
	}
	if s.Join != nil {
		a.Join = join(s.Join)
	}
	if s.Loop != nil {
		a.Loop = s.Loop.Iterator
	}
	if s.Next != nil && len(s.Next.Arcs) > 0 {
		a.Mode = map[bool]string{false: "exclusive", true: "inclusive"}[s.Next.Inclusive]
	}
	return a
}
