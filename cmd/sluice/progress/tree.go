package progress

import (
	"fmt"
	"strings"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/inspect"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/machine"
)

// Tree is the state of one run for drawing. Make it with New.
//
// Invariants, checked by check:
//  1. The counts of a node are the sums of the counts of the steps in it.
//  2. busy and bad hold exactly the nodes for which isBusy and isBad return true.
//  3. A node's children are in (node, end), and the ancestors of every node with a line have lines.
type Tree struct {
	name     string
	routed   bool   // of a playbook: steps may run more than once
	cells    *cells // of a world, which has only the root node; else nil
	nodes    []node // in the order of the document; 0 is the root
	byID     map[string]int32
	lines    int    // of the whole tree, without failed items and the root
	busy     bitset // running nodes
	bad      bitset // nodes with failures
	cursor   int32  // node of the last change
	retrying map[string]bool
	begun    map[string]int64 // start of running steps of items, Unix nanoseconds
	failures failures
	awaits   inspect.Awaiting
	status   reactive.RunStatus
	started  int64 // Unix nanoseconds; 0: not yet
	ended    int64 // Unix nanoseconds; 0: not yet
}

type kind uint8

const (
	group kind = iota // sequential, parallel, conditional, and the root
	branch
	step
	each // a map
)

// node is one element of the document.
type node struct {
	label   string
	kind    kind
	own     Word // of a step, map or conditional outside all maps
	attempt int32
	parent  int32
	end     int32 // of the nodes inside: (node, end)
	line    int32 // the node with the line that shows this one: itself, or the map that has it as its only step
	inMap   bool
	counts  counts
	begun   int64 // Unix nanoseconds; 0: not yet
	ended   int64
	failure string
	items   []failedItem // of a map: the first failed items
	runs    *runs        // of a playbook's step; else nil
}

// failedItem is a step in a map that has failed.
type failedItem struct {
	key     string
	attempt int32
	took    int64 // nanoseconds
	failure string
}

// New returns the tree of a run that has not started. The workflow must have been checked, and must not change afterwards.
func New(w *template.Workflow) *Tree {
	t := &Tree{name: w.Name, byID: map[string]int32{}, retrying: map[string]bool{}, begun: map[string]int64{}, awaits: inspect.Awaiting{}}
	b := builder{t: t}
	steps := w.Steps
	if _, isWorld := w.Routing.(*machine.World); isWorld {
		steps, t.cells = nil, newCells()
	} else if w.Routing != nil {
		steps, t.routed = routed(w.Routing.StepNames()), true
	}
	b.container(node{kind: group, label: w.Name}, steps)
	n := len(t.nodes)
	t.busy, t.bad = makeBitset(n), makeBitset(n)
	for i := range t.nodes {
		if t.routed && t.nodes[i].kind == step {
			t.nodes[i].runs = &runs{}
		}
	}
	for i := n - 1; i > 0; i-- {
		parent := &t.nodes[t.nodes[i].parent]
		parent.counts.add(&t.nodes[i].counts)
		t.lines += b.height(int32(i))
	}
	return t
}

// builder makes the nodes of a workflow's tree.
type builder struct {
	t      *Tree
	parent int32
	inMap  bool
}

func (b *builder) add(n node) int32 {
	i := int32(len(b.t.nodes))
	n.parent, n.end, n.line, n.inMap = b.parent, i+1, i, b.inMap
	if i == 0 {
		n.parent = -1
	}
	b.t.nodes = append(b.t.nodes, n)
	return i
}

// container adds a node and the nodes inside.
func (b *builder) container(n node, steps []template.Node) int32 {
	i := b.add(n)
	outer := b.parent
	b.parent = i
	for _, s := range steps {
		b.node(s)
	}
	b.parent = outer
	b.t.nodes[i].end = int32(len(b.t.nodes))
	return i
}

func (b *builder) node(n template.Node) {
	switch n := n.(type) {
	case *template.Step:
		i := b.add(node{kind: step, label: n.ID})
		if !b.inMap {
			b.t.nodes[i].counts[Idle] = 1
		}
		b.t.byID[n.ID] = i
	case *template.Sequential:
		b.container(node{kind: group, label: "sequential"}, n.Steps)
	case *template.Parallel:
		label := "parallel"
		if n.MaxConcurrency > 0 {
			label = fmt.Sprintf("parallel, %d at a time", n.MaxConcurrency)
		}
		b.container(node{kind: group, label: label}, n.Steps)
	case *template.Conditional:
		b.conditional(n)
	case *template.Map:
		b.each(n)
	}
}

func (b *builder) conditional(c *template.Conditional) {
	label := "if " + test(c)
	if c.ID != "" {
		label = c.ID + ": " + label
	}
	i := b.add(node{kind: group, label: label})
	if c.ID != "" {
		b.t.byID[c.ID] = i
	}
	outer := b.parent
	b.parent = i
	b.container(node{kind: branch, label: "then"}, c.Then)
	b.container(node{kind: branch, label: "else"}, c.Else)
	b.parent = outer
	b.t.nodes[i].end = int32(len(b.t.nodes))
}

// test returns a conditional's test as text.
func test(c *template.Conditional) string {
	if c.Func != nil {
		return c.Func.Name
	}
	text := strings.TrimSpace(c.Test)
	inner, isExpression := strings.CutPrefix(text, "{{")
	if !isExpression {
		return text + " completed"
	}
	return Clean(strings.TrimSuffix(inner, "}}"))
}

func (b *builder) each(m *template.Map) {
	outer := b.inMap
	i := b.add(node{kind: each, label: m.ID})
	b.t.byID[m.ID] = i
	inner := builder{t: b.t, parent: i, inMap: true}
	for _, s := range m.Steps {
		inner.node(s)
	}
	b.inMap = outer
	n := &b.t.nodes[i]
	n.end = int32(len(b.t.nodes))
	if body := i + 1; n.end == body+1 && b.t.nodes[body].kind == step {
		b.t.nodes[body].line = i
	}
}

// height returns the number of a node's own lines in an unfolded tree.
func (b *builder) height(i int32) int {
	n := &b.t.nodes[i]
	if n.line != i || !b.t.hasSteps(i) {
		return 0
	}
	return 1
}

// leaf reports whether a node is a step or map with a line of its own.
func (t *Tree) leaf(i int32) bool {
	n := &t.nodes[i]
	return n.line == i && (n.kind == step || n.kind == each)
}

// hasSteps reports whether a node is or contains a step or map. An empty branch has no line.
func (t *Tree) hasSteps(i int32) bool {
	for j := i; j < t.nodes[i].end; j++ {
		if k := t.nodes[j].kind; k == step || k == each {
			return true
		}
	}
	return false
}
