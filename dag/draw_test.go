package dag_test

import (
	"bytes"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluiceflow/sluice/dag"
)

// order is a small workflow with a branch, a map, a join and a guard within a guard.
func order(t *testing.T) (*dag.Graph, dag.Drawing) {
	b := dag.NewBuilder(dag.TemplateGraph)
	check, gate, pay, refund, join, report := b.AddNode("check"), b.AddNode("gate"), b.AddNode("pay"),
		b.AddNode(`refund "all"`), b.AddNode("join"), b.AddNode("report")
	b.AddEdge(check, gate, sequential)
	b.AddEdge(gate, pay, when("total > 0"))
	b.AddEdge(gate, refund, when("!total > 0", `who == "me"`))
	b.AddEdge(pay, join, sequential)
	b.AddEdge(refund, join, sequential)
	b.AddEdge(join, report, sequential)
	b.AddEdge(check, report, dag.Attributes{Type: dag.Data, DataFlow: true})
	g, err := b.Build()
	require.NoError(t, err)
	looks := map[int32]dag.Look{
		check:  {Class: "ready"},
		gate:   {Label: "enough?", Shape: dag.Diamond, Class: "failed"},
		pay:    {Label: "pay\nslowly", Group: []string{"money"}, Class: "failed"},
		refund: {Shape: dag.Stack, Group: []string{"money", "back"}, Class: "plain"},
		join:   {Shape: dag.Dot},
	}
	return g, dag.Drawing{
		Title:     `an "order"`,
		Direction: dag.LeftRight,
		Node:      func(id int32) dag.Look { return looks[id] },
		Classes: map[string]dag.Style{
			"ready":  {Fill: "#ddffdd"},
			"failed": {Fill: "#ffdddd", Line: "red", Text: "black", Dashed: true},
			"unused": {Fill: "blue"},
		},
	}
}

func TestWriteDOT(t *testing.T) {
	g, d := order(t)
	var buf bytes.Buffer
	require.NoError(t, g.WriteDOT(&buf, d))
	require.Equal(t, `digraph {
  label="an \"order\""; labelloc=t;
  rankdir=LR;
  node [shape=box, style="rounded,filled", fillcolor=white];
  n0 [label="check", class="ready", fillcolor="#ddffdd"];
  n1 [label="enough?", shape=diamond, style=filled, class="failed", fillcolor="#ffdddd", color="red", fontcolor="black", style="filled,dashed"];
  n4 [label="join", shape=point];
  n5 [label="report"];
  subgraph cluster_1 {
    label="money";
    n2 [label="pay\nslowly", class="failed", fillcolor="#ffdddd", color="red", fontcolor="black", style="rounded,filled,dashed"];
    subgraph cluster_2 {
      label="back";
      n3 [label="refund \"all\"", shape=box3d, style=filled, class="plain"];
    }
  }
  n0 -> n1;
  n0 -> n5 [style=dotted];
  n1 -> n2 [label="if total > 0"];
  n1 -> n3 [label="unless total > 0\nif who == \"me\""];
  n2 -> n4;
  n3 -> n4;
  n4 -> n5;
}
`, buf.String())
	requireDOT(t, buf.Bytes())
}

func TestWriteMermaid(t *testing.T) {
	g, d := order(t)
	var buf bytes.Buffer
	require.NoError(t, g.WriteMermaid(&buf, d))
	require.Equal(t, `---
title: "an \"order\""
---
flowchart LR
  n0["check"]:::ready
  n1{"enough?"}:::failed
  n4((" "))
  n5["report"]
  subgraph g1["money"]
    n2["pay<br/>slowly"]:::failed
    subgraph g2["back"]
      n3[["refund #quot;all#quot;"]]:::plain
    end
  end
  n0 --> n1
  n0 -.-> n5
  n1 -->|"if total #gt; 0"| n2
  n1 -->|"unless total #gt; 0<br/>if who == #quot;me#quot;"| n3
  n2 --> n4
  n3 --> n4
  n4 --> n5
  classDef failed fill:#ffdddd,stroke:red,color:black,stroke-dasharray:4
  classDef ready fill:#ddffdd
`, buf.String())
}

func TestDrawingHidesNodesAndLeadsEdgesAroundThem(t *testing.T) {
	g, _ := order(t)
	gate, _ := g.Node("gate")
	join, _ := g.Node("join")
	var buf bytes.Buffer
	require.NoError(t, g.WriteMermaid(&buf, dag.Drawing{Hidden: func(id int32) bool { return id == gate || id == join }}))
	require.Equal(t, `flowchart TB
  n0["check"]
  n2["pay"]
  n3["refund #quot;all#quot;"]
  n5["report"]
  n0 -->|"if total #gt; 0"| n2
  n0 -->|"unless total #gt; 0<br/>if who == #quot;me#quot;"| n3
  n0 -.-> n5
  n2 --> n5
  n3 --> n5
`, buf.String())
}

func TestDrawingsOfCallGraphsTellEdgesForObserversApart(t *testing.T) {
	b := dag.NewBuilder(dag.CallGraph)
	p, c, d := b.AddNode("p"), b.AddNode("c"), b.AddNode("d")
	b.AddEdge(p, c, triggered)
	b.AddEdge(d, c, dependsOn)
	g, err := b.Build()
	require.NoError(t, err)
	var dot, mermaid bytes.Buffer
	require.NoError(t, g.WriteDOT(&dot, dag.Drawing{}))
	require.NoError(t, g.WriteMermaid(&mermaid, dag.Drawing{}))
	require.Contains(t, dot.String(), "  n0 -> n1;\n  n2 -> n1 [style=dashed];\n")
	require.Contains(t, mermaid.String(), "  n0 --> n1\n  n2 -.-> n1\n")
}

func TestNoTextEndsWhatItIsIn(t *testing.T) {
	hostile := "\"]; x [label=\"\\N\\\" <b>`*#35;\r\n\x00]\\"
	b := dag.NewBuilder(dag.TemplateGraph)
	b.AddEdge(b.AddNode(hostile), b.AddNode("b"), when(hostile))
	g, err := b.Build()
	require.NoError(t, err)
	d := dag.Drawing{Title: hostile, Node: func(int32) dag.Look { return dag.Look{Group: []string{hostile}} }}

	var dot, mermaid bytes.Buffer
	require.NoError(t, g.WriteDOT(&dot, d))
	const escaped = `\"]; x [label=\"\\N\\\" <b>` + "`" + `*#35;\n]\\`
	require.Contains(t, dot.String(), `n0 [label="`+escaped+`"];`)
	require.Contains(t, dot.String(), `[label="if `+escaped+`"];`)
	requireDOT(t, dot.Bytes())

	require.NoError(t, g.WriteMermaid(&mermaid, d))
	const entities = "#quot;]; x [label=#quot;#92;N#92;#quot; #lt;b#gt;#96;#42;#35;35;<br/>]#92;"
	require.Contains(t, mermaid.String(), `n0["`+entities+`"]`)
	require.Contains(t, mermaid.String(), `|"if `+entities+`"|`)
}

func TestDrawingsRefuseClassesAndColoursThatAreCode(t *testing.T) {
	g := chain(t, "a")
	tests := []struct {
		name  string
		class string
		style dag.Style
		want  string
	}{
		{"class with a space", "a b", dag.Style{}, `draw node "a": bad class "a b"`},
		{"colour that ends the rule", "c", dag.Style{Fill: "red;stroke:blue"}, `draw class "c": bad colour "red;stroke:blue"`},
		{"short colour, which DOT does not know", "c", dag.Style{Line: "#fff"}, `draw class "c": bad colour "#fff"`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := dag.Drawing{
				Node:    func(int32) dag.Look { return dag.Look{Class: test.class} },
				Classes: map[string]dag.Style{test.class: test.style},
			}
			var buf bytes.Buffer
			require.EqualError(t, g.WriteDOT(&buf, d), test.want)
			require.EqualError(t, g.WriteMermaid(&buf, d), test.want)
			require.Empty(t, buf.Bytes())
		})
	}
}

// requireDOT checks that Graphviz, if it is installed, can read the drawing.
func requireDOT(t *testing.T, drawing []byte) {
	path, err := exec.LookPath("dot")
	if err != nil {
		return
	}
	cmd := exec.Command(path, "-Tcanon")
	cmd.Stdin = bytes.NewReader(drawing)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
