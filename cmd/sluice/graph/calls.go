package graph

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sluiceflow/sluice/cmd/sluice/cli"
	"github.com/sluiceflow/sluice/cmd/sluice/progress"
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/coordinator/api"
	"github.com/sluiceflow/sluice/coordinator/folder"
	"github.com/sluiceflow/sluice/dag"
)

// drawCalls prints the calls of a run.
func drawCalls(cmd *cobra.Command, dir, run string, at *cli.Moment, format string) error {
	return cli.ExitOf(folder.With(cmd.Context(), dir, coordinator.Config{}, func(c *folder.Client) error {
		var calls []*api.Call
		for call, err := range at.Of(c).Calls(cmd.Context(), run) {
			if err != nil {
				return err
			}
			calls = append(calls, call)
		}
		return drawCallGraph(cmd.OutOrStdout(), calls, format)
	}))
}

func drawCallGraph(w io.Writer, calls []*api.Call, format string) error {
	g, err := callGraph(calls)
	if err != nil {
		return err
	}
	d := callDrawing(g, calls)
	if format == "svg" && len(calls) > 0 {
		d.Title = calls[0].Run
	}
	return drawAs(w, g, format, d, func(id int32) any { return calls[id] })
}

// callGraph returns the graph with the calls as nodes, in their order.
func callGraph(calls []*api.Call) (*dag.Graph, error) {
	b := dag.NewBuilder(dag.CallGraph)
	for _, c := range calls {
		b.AddNode(c.Request)
	}
	for id, c := range calls {
		if parent, ok := b.Node(c.ParentRequest); ok {
			b.AddEdge(parent, int32(id), dag.Attributes{Type: dag.Triggered})
		}
		for _, before := range c.DependsOn {
			if from, ok := b.Node(before); ok {
				b.AddEdge(from, int32(id), dag.Attributes{Type: dag.DependsOn})
			}
		}
	}
	return b.Build()
}

// callDrawing returns the look of each call: by its status, and in a frame for its run if there are several.
func callDrawing(g *dag.Graph, calls []*api.Call) dag.Drawing {
	runs := map[string]bool{}
	for _, c := range calls {
		if c.Run != "" {
			runs[c.Run] = true
		}
	}
	return dag.Drawing{
		Classes: map[string]dag.Style{
			"pending":   {Dashed: true},
			"running":   {Fill: "#dbeafe"},
			"completed": {Fill: "#dcfce7"},
			"failed":    {Fill: "#fee2e2"},
			"aborted":   {Fill: "#f3f4f6", Dashed: true},
		},
		Node: func(id int32) dag.Look {
			c := calls[id]
			if c.Kind == "meeting" {
				return dag.Look{Shape: dag.Dot}
			}
			look := dag.Look{Label: callLabel(c), Class: c.Status}
			for child := range g.Children(id) {
				if calls[child].Run == c.Run { // a call to several participants
					look.Shape = dag.Stack
				}
			}
			if len(runs) > 1 && c.Run != "" {
				look.Group = []string{"run " + c.Run}
			}
			return look
		},
	}
}

// callLabel returns the name of a call within its run, and below it the operation and the status.
func callLabel(c *api.Call) string {
	lines := []string{strings.TrimPrefix(c.Request, c.Run+"/")}
	if c.Operation != "" && c.Operation != c.Step {
		lines = append(lines, progress.Clean(c.Operation))
	}
	status := c.Status
	if c.Failure != nil {
		status += ": " + progress.Clean(c.Failure.Code)
	}
	if time := cli.Took(c.Started, c.Ended, c.Ended); time != "" && !c.Ended.IsZero() {
		status += ", " + time
	}
	if status != "" {
		lines = append(lines, status)
	}
	return strings.Join(lines, "\n")
}
