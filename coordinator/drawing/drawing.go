// Package drawing computes the positions of the steps of a workflow and of the lines between them, for clients that draw them. A drawing
// depends on the workflow alone, so it can be kept as long as its hash is known; the states of the steps in a run are drawn over it.
//
// Each map is one node: the number of its items is unknown before a run. A conditional is a node with its test; the labels of its edges
// name the results that lead to them. A world has no steps, and its drawing is empty.
package drawing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/dag/layout"
	"github.com/sluiceflow/sluice/reactive/decide"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
)

// Drawing is the layout of a workflow, as columns. Its upper left corner is (0, 0).
type Drawing struct {
	Name   string `json:"name"`   // of the workflow
	Width  int    `json:"width"`  // of all
	Height int    `json:"height"` // of all

	Keys       []string `json:"keys"`       // by node: of the step, map or conditional
	Labels     []string `json:"labels"`     // by node: a test, the rules of a gate, or how answers become one; "": none
	Kinds      string   `json:"kinds"`      // by node, a letter: s(tep), m(ap), c(onditional), j(oin)
	Boxes      []int    `json:"boxes"`      // by node: x, y, width and height, with the room before its gate
	Operations []string `json:"operations"` // by node; "": none

	From   []int    `json:"from"`   // by edge: the node that it leaves
	To     []int    `json:"to"`     // by edge: the node that it leads to
	Light  []int    `json:"light"`  // edges by which a step only reads another one
	Words  []string `json:"words"`  // by edge: when it is taken; "": always
	Points [][]int  `json:"points"` // by edge: x and y of each point of its line
}

// Sizes of nodes, in points.
const (
	nodeWidth, nodeHeight = 160, 40
	gateHeight            = 28
	basinHeight           = 72 // of the room before the gate of a playbook's step, as a part of its node
	joinSize              = 8
	wordsMax              = 200 // of a label, in characters
)

// ErrUnknown is the error of a name and a hash for which the engine has neither a run nor a version.
var ErrUnknown = errors.New("drawing: no workflow of that name has that hash")

// OfHash draws the workflow with a name and a hash.
func OfHash(ctx context.Context, engine *coordinator.Engine, name, hash string) (*Drawing, error) {
	l, err := engine.Registry()
	if err != nil {
		return nil, err
	}
	e, err := l.Read(ctx, hash, nil)
	if errors.Is(err, decide.ErrMissing) || err == nil && e.Plan.Workflow.Name != name {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	return Of(e.Plan)
}

// Of draws a plan.
func Of(p *plan.Plan) (*Drawing, error) {
	d := &Drawing{
		Name: p.Workflow.Name, Keys: []string{}, Labels: []string{}, Boxes: []int{}, Operations: []string{}, From: []int{}, To: []int{}, Light: []int{},
		Words: []string{}, Points: [][]int{},
	}
	if book, ok := p.Workflow.Routing.(*playbook.Playbook); ok {
		g, err := book.Graph()
		if err != nil {
			return nil, err
		}
		gated := func(id int32) bool { return book.Steps[id].Admit != nil }
		return d, d.lay(g, gated, func(id int32) (byte, string, string) {
			s := book.Steps[id]
			if s.Loop != nil {
				return 'm', gateOf(s), ""
			}
			return 's', gateOf(s), ""
		})
	}
	if p.Workflow.Routing != nil {
		return d, nil
	}
	g, err := p.Diagram()
	if err != nil {
		return nil, err
	}
	rows := make([]int32, g.NodeCount())
	for row := range int32(len(p.Nodes)) {
		if id, ok := g.Node(p.GraphKey(row)); ok {
			rows[id] = row
		}
	}
	inside := func(id int32) bool { return p.Nodes[rows[id]].Map >= 0 }
	shown := g.Without(inside)
	return d, d.lay(shown, func(int32) bool { return false }, func(id int32) (byte, string, string) {
		whole, _ := g.Node(shown.Key(id))
		return nodeOf(p, rows[whole])
	})
}

// nodeOf returns the kind, the label and the operation of a row.
func nodeOf(p *plan.Plan, row int32) (kind byte, label, operation string) {
	switch n := &p.Nodes[row]; n.Kind {
	case plan.Gate:
		return 'c', "", ""
	case plan.Map:
		return 'm', "", ""
	case plan.Join:
		return 'j', "", ""
	default:
		return 's', fanInOf(n.Step.FanIn), n.Step.Operation
	}
}

// fanInOf describes how the answers of several participants become one.
func fanInOf(f *template.FanIn) string {
	if f == nil {
		return ""
	}
	switch f.Policy {
	case template.Quorum:
		return fmt.Sprintf("quorum of %d", f.MinResponses)
	case template.BestOf:
		side := "highest"
		if f.ScoreOrder == "asc" {
			side = "lowest"
		}
		text := fmt.Sprintf("best of %s, %s", f.ScoreField, side)
		if f.MinResponses > 1 {
			text += fmt.Sprintf(", of at least %d", f.MinResponses)
		}
		return short(text)
	case template.All:
		return "all of them"
	default:
		return "any one"
	}
}

// gateOf returns the rules of a step's gate.
func gateOf(s *playbook.Step) string {
	if s.Admit == nil {
		return ""
	}
	var rules []string
	for _, r := range s.Admit.Rules {
		verdict := "deny"
		if r.Allow {
			verdict = "allow"
		}
		if r.When == nil {
			rules = append(rules, "else "+verdict)
			continue
		}
		rules = append(rules, verdict+" if "+r.Text)
	}
	return short(strings.Join(rules, ", "))
}

func short(text string) string {
	if r := []rune(text); len(r) > wordsMax {
		return string(r[:wordsMax-1]) + "…"
	}
	return text
}

// lay lays a graph out. gated reports whether a node has a basin above it; look returns the kind, the label and the operation of a node.
func (d *Drawing) lay(g *dag.Graph, gated func(id int32) bool, look func(id int32) (kind byte, label, operation string)) error {
	in := &layout.Graph{}
	kinds := make([]byte, g.NodeCount())
	for id, key := range g.Nodes() {
		kind, label, operation := look(id)
		n := layout.Node{ID: key, Rank: int(id), Width: nodeWidth, Height: nodeHeight, Group: -1}
		switch kind {
		case 'c':
			n.Height = gateHeight
		case 'j':
			n.Width, n.Height = joinSize, joinSize
		}
		if gated(id) {
			n.Height += basinHeight
		}
		kinds[id] = kind
		in.Nodes = append(in.Nodes, n)
		d.Keys, d.Labels, d.Operations = append(d.Keys, key), append(d.Labels, label), append(d.Operations, operation)
	}
	for e := range g.Edges() {
		light, words := e.Attrs.Type == dag.Data, ""
		if e.Attrs.Type == dag.Conditional {
			words = short(strings.TrimSpace(e.Attrs.Label()))
		}
		if light {
			d.Light = append(d.Light, len(d.From))
		}
		if test, ok := strings.CutPrefix(words, "if "); ok && kinds[e.From] == 'c' && d.Labels[e.From] == "" {
			d.Labels[e.From] = test
		}
		d.From, d.To, d.Words = append(d.From, int(e.From)), append(d.To, int(e.To)), append(d.Words, words)
		in.Edges = append(in.Edges, layout.Edge{From: int(e.From), To: int(e.To), Light: light})
	}
	d.Kinds = string(kinds)
	p, err := layout.Lay(in)
	if err != nil {
		return err
	}
	d.Width, d.Height = p.Width, p.Height
	for _, b := range p.Nodes {
		d.Boxes = append(d.Boxes, b.X, b.Y, b.Width, b.Height)
	}
	lines := p.Lines()
	for e := range in.Edges {
		points := []int{}
		for _, at := range lines.Route(e) {
			points = append(points, at.X, at.Y)
		}
		d.Points = append(d.Points, points)
	}
	return nil
}
