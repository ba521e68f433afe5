// Package graph implements the verb graph. It draws a workflow (graph.go, and a file for each kind with routing, such as playbook.go) or
// the calls of a run (calls.go). Each of these files makes a graph, the look of its nodes and their attributes; package dag writes the
// formats.
package graph

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/dag"
	"github.com/sluiceflow/sluice/dag/svg"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
	"github.com/sluiceflow/sluice/template/plan"
	"github.com/sluiceflow/sluice/template/playbook"
)

// New returns the verb. Each call returns a new one, since a cobra.Command keeps the flags it was run with.
func New() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "graph FILE | graph RUN --data DIR",
		Short: "Draw a workflow, or the calls of a run",
		Long: `Graph prints the steps of a workflow and the edges between them: as a Mermaid flowchart, in the DOT language of Graphviz, as JSON,
or as a self-contained SVG picture, light or dark as the reader's system is. A conditional is a diamond with its tests on the
edges; a map is a stack, in a frame with the steps for each item; an edge is dotted if its only reason is that a step reads
the output of another. A small point is a place where many steps meet. In JSON a conditional is not a node: its
test is a guard on the edges into its branches, after the guards of the conditionals around it. In SVG it is a gate, a call to
others is dashed, and a legend explains the rest.

Of a playbook it prints the steps, and the arcs between them with their guards. A step with a gate is dashed, and a loop is a
stack; the labels name joins, the entry and the final step.

Of a world it prints the events, the machines that receive or raise them, and the effects: a line leads from a machine to each
effect that it may emit, and a dotted line back for the receipts. A keyed machine is a stack; the labels name its timers.

With --data it prints the calls of a run, with --at as they were after an event or at a time: every attempt, every participant
that was asked, and every call to a decision source, including those of its child runs and those that led to the run. A line
leads from a call to the calls that it has made, and a dotted line to the calls that had to wait for it. A small point is a
place where more than 64 calls meet. RUN is the id of a run, or an unambiguous beginning of it; another process may be
working on it. In JSON a node has more members:
  {"kind":"call","request":…,"run":…,"step":…,"attempt":…,"operation":…,"status":…,"parent_request":…,"depends_on":[…],
   "identity":…,"input":…,"output":…,"failure":…,"started":…,"ended":…}
An input or output of more than 1 KiB is left out, and "input_preview" or "preview" holds its beginning.`,
		Example: `  sluice graph backup.yaml
  sluice graph backup.yaml --format dot | dot -Tsvg > backup.svg
  sluice graph backup.yaml --format svg > backup.svg
  sluice graph backup.yaml --format json | jq '.edges[].key'
  sluice graph tuesday --data ./journal --format dot | dot -Tsvg > tuesday.svg
  sluice graph tuesday --data ./journal --at 17 --format svg > tuesday.svg
  sluice graph tuesday --data ./journal --format json | jq '.nodes[].attributes | select(.status == "failed").request'`,
		Args: cli.Arguments,
	}
	format := cli.Choose(cmd, "format", "f", "what to print", "mermaid", "dot", "json", "svg")
	dir, at := new(string), cli.MomentFlag(cmd)
	cli.DataFlag(cmd, dir, "draw a run of the journal in the folder `DIR`")
	cli.ServerFlag(cmd, dir)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		_, none := os.Stat(args[0])
		if cmd.Flags().Changed("data") || cmd.Flags().Changed("server") || *dir != "" && none != nil { // a file is drawn where only the environment names a journal
			return drawCalls(cmd, *dir, args[0], at, format.Value)
		}
		if cmd.Flags().Changed("at") {
			return cli.Refuse(errors.New("--at is a moment of a run: name the folder of its journal with --data DIR"))
		}
		// A workflow of a Go program can be drawn without the program's operations.
		p, err := cli.Load(args[0], template.Known{Lenient: true})
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; to draw a run, name the folder of its journal: --data DIR", err)
		}
		if err != nil {
			return cli.Refuse(err)
		}
		if err := draw(cmd.OutOrStdout(), p, format.Value); err != nil {
			return cli.Fail(fmt.Errorf("draw %s: %w", args[0], err))
		}
		return nil
	}
	return cmd
}

func draw(w io.Writer, p *plan.Plan, format string) error {
	if r := p.Workflow.Routing; r != nil {
		picture, err := kinds[r.Kind()](r)
		if err != nil {
			return err
		}
		return drawAs(w, picture.graph, format, picture.Drawing, picture.attributes)
	}
	graph := p.Diagram
	if format == "json" {
		graph = p.Graph
	}
	g, err := graph()
	if err != nil {
		return err
	}
	d := newDrawing(p, g)
	return drawAs(w, g, format, d.Drawing, d.attributes)
}

// kinds holds the functions that draw workflows with routing, by the kind of the routing.
var kinds = map[string]func(template.Routing) (*picture, error){
	playbook.Kind: drawPlaybook,
	machine.Kind:  drawWorld,
}

// picture is a graph, the look of its nodes, and their attributes in JSON.
type picture struct {
	dag.Drawing
	graph      *dag.Graph
	attributes func(id int32) any
}

// drawAs prints a graph in a format. Only JSON has attributes: the members of a node besides its key.
func drawAs(w io.Writer, g *dag.Graph, format string, d dag.Drawing, attributes func(id int32) any) error {
	switch format {
	case "svg":
		return svg.Write(w, g, d)
	case "dot":
		return g.WriteDOT(w, d)
	case "json":
		if err := g.WriteJSON(w, attributes); err != nil {
			return err
		}
		_, err := fmt.Fprintln(w)
		return err
	}
	return g.WriteMermaid(w, d)
}

// drawing computes the look of each node of a plan's graph.
type drawing struct {
	dag.Drawing
	plan *plan.Plan
	row  []int32 // of the plan, by node of the graph
}

func newDrawing(p *plan.Plan, g *dag.Graph) *drawing {
	d := &drawing{plan: p, row: make([]int32, g.NodeCount())}
	for row := range int32(len(p.Nodes)) {
		if id, ok := g.Node(p.GraphKey(row)); ok {
			d.row[id] = row
		}
	}
	d.Drawing = dag.Drawing{Title: p.Workflow.Name, Node: d.look}
	return d
}

func (d *drawing) look(id int32) dag.Look {
	n := &d.plan.Nodes[d.row[id]]
	look := dag.Look{Group: d.frames(d.row[id])}
	switch n.Kind {
	case plan.Gate:
		look.Shape = dag.Diamond
		if n.Key == "" {
			look.Label = "if"
		}
	case plan.Map:
		look.Shape = dag.Stack
	case plan.Join:
		look.Shape = dag.Dot
	}
	return look
}

// frames returns the maps around a row, outermost first. A map is in its own frame.
func (d *drawing) frames(row int32) []string {
	n := &d.plan.Nodes[row]
	if n.Kind != plan.Map {
		if row = n.Map; row < 0 {
			return nil
		}
		n = &d.plan.Nodes[row]
	}
	var outer []string
	if n.Map >= 0 {
		outer = d.frames(n.Map)
	}
	label := "each " + n.Over.As + " of " + n.Key
	if n.Over.MaxConcurrency > 0 {
		label += fmt.Sprintf(", %d at a time", n.Over.MaxConcurrency)
	}
	return append(outer, label)
}

// attributes returns the JSON attributes of a node.
func (d *drawing) attributes(id int32) any {
	n := &d.plan.Nodes[d.row[id]]
	a := struct {
		Kind      string `json:"kind"`
		Operation string `json:"operation,omitempty"`
		Map       string `json:"map,omitempty"` // the map around it
	}{Kind: [...]string{plan.Step: "step", plan.Gate: "conditional", plan.Map: "map", plan.Join: "join"}[n.Kind]}
	if n.Kind == plan.Step {
		a.Operation = n.Step.Operation
	}
	if n.Map >= 0 {
		a.Map = d.plan.Nodes[n.Map].Key
	}
	return a
}
