package dag_test

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/sluiceflow/sluice/dag"
)

// orders returns the graph of most examples.
func orders() *dag.Graph {
	b := dag.NewBuilder(dag.TemplateGraph)
	check, pay, refund, report := b.AddNode("check"), b.AddNode("pay"), b.AddNode("refund"), b.AddNode("report")
	b.AddEdge(check, pay, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: "ok"}}})
	b.AddEdge(check, refund, dag.Attributes{Type: dag.Conditional, Guards: []dag.Guard{{Condition: "ok", Negated: true}}})
	b.AddEdge(pay, report, dag.Attributes{Type: dag.Sequential, DataFlow: true})
	b.AddEdge(refund, report, dag.Attributes{Type: dag.Sequential})
	g, err := b.Build()
	if err != nil {
		panic(err)
	}
	return g
}

func Example() {
	b := dag.NewBuilder(dag.TemplateGraph)
	pay, fetch := b.AddNode("pay"), b.AddNode("fetch")
	b.AddEdge(fetch, pay, dag.Attributes{Type: dag.Sequential})
	g, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}
	for v := range g.Order() {
		fmt.Println(g.Key(v), "rank", g.Rank(v))
	}
	// Output:
	// fetch rank 0
	// pay rank 1
}

func ExampleGraph_Edges() {
	g := orders()
	for e := range g.Edges() {
		fmt.Printf("%s %q\n", g.EdgeKey(e), e.Attrs.Label())
	}
	// Output:
	// check->pay:conditional "if ok"
	// check->refund:conditional "unless ok"
	// pay->report ""
	// refund->report ""
}

func ExampleGraph_CheckAcyclic() {
	b := dag.NewBuilder(dag.TemplateGraph)
	a, c := b.AddNode("a"), b.AddNode("c")
	b.AddEdge(a, c, dag.Attributes{Type: dag.Sequential})
	b.AddEdge(c, a, dag.Attributes{Type: dag.Sequential})
	g, _ := b.Build()
	fmt.Println(g.CheckAcyclic())
	// Output: cycle: a -> c -> a
}

func ExampleGraph_Descendants() {
	g := orders()
	pay, _ := g.Node("pay")
	for v := range g.Descendants(pay) {
		fmt.Println(g.Key(v))
	}
	// Output: report
}

func ExampleGraph_Lineage() {
	b := dag.NewBuilder(dag.CallGraph)
	order, pay, charge := b.AddNode("order#1"), b.AddNode("pay#1"), b.AddNode("charge#1")
	b.AddEdge(order, pay, dag.Attributes{Type: dag.Triggered})
	b.AddEdge(pay, charge, dag.Attributes{Type: dag.Triggered})
	g, _ := b.Build()
	for v := range g.Lineage(charge) {
		fmt.Println(g.Key(v))
	}
	// Output:
	// pay#1
	// order#1
}

func ExampleGraph_MarshalJSON() {
	b := dag.NewBuilder(dag.CallGraph)
	b.AddEdge(b.AddNode("a"), b.AddNode("b"), dag.Attributes{Type: dag.Triggered})
	g, _ := b.Build()
	if err := g.WriteJSON(os.Stdout, nil); err != nil {
		fmt.Println(err)
	}
	// Output: {"kind":"call","nodes":[{"key":"a"},{"key":"b"}],"edges":[{"key":"a->b","source":"a","target":"b","attributes":{"edgeType":"triggered"}}]}
}

func ExampleParse() {
	_, err := dag.Parse([]byte(`{"kind":"template","nodes":[{"key":"a"}],"edges":[
		{"source":"a","target":"a","attributes":{"dataFlow":true}},
		{"source":"a","target":"b","attributes":{"edgeType":"data","dataFlow":true}}]}`), nil)
	fmt.Println(err)
	// Output:
	// parse graph: edges[0].attributes.edgeType: dag: bad edge type: missing
	// edges[1].target: dag: unknown node: "b"
}

func ExampleAttributes_UnmarshalJSON() {
	var attrs dag.Attributes
	err := json.Unmarshal([]byte(`{"edgeType":"sequential","condition":"ok","dataFlow":false}`), &attrs)
	fmt.Println(err)
	// Output: condition: dag: bad edge attributes: sequential edge has no such field
}

func ExampleGraph_WriteMermaid() {
	statuses := []string{"completed", "running", "skipped", "idle"}
	err := orders().WriteMermaid(os.Stdout, dag.Drawing{
		Node:    func(id int32) dag.Look { return dag.Look{Class: statuses[id]} },
		Classes: map[string]dag.Style{"running": {Fill: "#ffe08a"}, "completed": {Fill: "#b7e4c7"}},
	})
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// flowchart TB
	//   n0["check"]:::completed
	//   n1["pay"]:::running
	//   n2["refund"]:::skipped
	//   n3["report"]:::idle
	//   n0 -->|"if ok"| n1
	//   n0 -->|"unless ok"| n2
	//   n1 --> n3
	//   n2 --> n3
	//   classDef completed fill:#b7e4c7
	//   classDef running fill:#ffe08a
}

func ExampleGraph_WriteDOT() {
	if err := orders().WriteDOT(os.Stdout, dag.Drawing{Direction: dag.LeftRight}); err != nil {
		fmt.Println(err)
	}
	// Output:
	// digraph {
	//   rankdir=LR;
	//   node [shape=box, style="rounded,filled", fillcolor=white];
	//   n0 [label="check"];
	//   n1 [label="pay"];
	//   n2 [label="refund"];
	//   n3 [label="report"];
	//   n0 -> n1 [label="if ok"];
	//   n0 -> n2 [label="unless ok"];
	//   n1 -> n3;
	//   n2 -> n3;
	// }
}
