package plan

import (
	"github.com/sluiceflow/sluice/signals"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/advice"
	"github.com/sluiceflow/sluice/template/document"
)

// Plan is a compiled workflow. It is immutable and safe for concurrent use.
//
// Invariants:
//  1. Rows of authored nodes ascend in template order; joins are between them.
//  2. A map's body, and everything inside a gate's branches, is the contiguous range of rows (row, End).
//  3. An edge stays within one body; an edge from outside into a body leads to the map itself.
//  4. Every edge leads to a higher rank. A map ranks above all rows of its body, and they above its predecessors.
type Plan struct {
	Workflow   *template.Workflow // that of Checked
	Checked    *template.Checked  // source of the plan
	Hash       string             // of the canonical document
	Nodes      []Node             // the rows
	Rows       []Row              // the parts of Nodes that every event needs, close together
	Keys       []string           // names of the nodes in journals: their keys, or #n for a conditional without id that a Go function decides
	Groups     []Group            // limits on slots, the run's first
	Operations []Operation        // each that is called, once
	Wiring     *signals.Wiring    // the edges as counts of gates, for any number of runs
	Edges      []Edge             // sorted by From, then To; parallel to Wiring's rows
	incoming   []int32            // rows with an edge to each row, row by row; see Predecessors
	firstIn    []int32
	rows       map[string]int32
	Functions  []string // names of the Go functions it needs, sorted
}

// Kind is the kind of a row.
type Kind uint8

// The kinds of rows.
const (
	Step Kind = iota // calls an operation
	Gate             // a conditional's decision
	Map              // placeholder of a map's items
	Join             // meeting point inside a sequence; has no status
)

// Node is one row.
type Node struct {
	Item     *template.Item        // nil for a join
	Key      string                // id; "" for a join and an unnamed conditional
	Kind     Kind                  // of the row
	Branch   Branch                // which branch of Gate holds it
	Tested   bool                  // a test reads its status or error, or that of a map around it
	Testers  []int32               // the gates whose tests read its status or error, and the maps around such gates
	Feeds    bool                  // a gate is among its successors, or among those of a join after it
	Gate     int32                 // innermost gate around it within its body; -1: none
	Map      int32                 // map whose body contains it; -1: none
	Group    int32                 // innermost limited group around it; -1: none
	Op       int32                 // Step: index into Operations
	Decision int32                 // Step: index into Operations of its decision source's operation; -1: none
	End      int32                 // Gate, Map: the rows (row, End) are inside it
	Slots    [2]int32              // Map: groups [0] to [1), exclusive, belong to its body
	Inside   []int32               // Gate: rows directly inside its branches, joins left out
	Source   int32                 // Step: row whose output is its whole input, unchanged; -1: none
	Timing   *template.Timing      // Step: nil when it has none
	Step     *template.Step        // Step
	Cond     *template.Conditional // Gate
	Func     string                // Gate, Map: the Go function that decides; "": an expression decides
	Over     *template.Map         // Map
}

// DocumentKind returns the kind of the document that the plan was made of: Workflow, Playbook or World.
func (p *Plan) DocumentKind() string {
	if routing := p.Workflow.Routing; routing != nil {
		return routing.Kind()
	}
	return template.Kind
}

// Row is the part of a Node that every event reads: 28 bytes, so that the events of a run touch little memory.
type Row struct {
	Gate, Map, Group, Op, Source int32  // as in Node
	Kind                         Kind   // as in Node
	Branch                       Branch // as in Node
	OpKind                       OpKind // Step: of its operation
	Feeds                        bool   // as in Node
	Timed                        bool   // Step: has a timing, or the workflow has a deadline
	Asks                         bool   // Step: has a target, so that participants are asked
	Decides                      bool   // Step: has a fulfillment, so that its output is decided about
	Func                         bool   // a Go function computes its input, its test or its list
}

// Stands reports whether a row is directly in a branch of a gate or, with gate -1, directly in the body of a map. A join is
// in none.
func (r *Row) Stands(inMap, gate int32, branch Branch) bool {
	return r.Map == inMap && r.Gate == gate && r.Branch == branch && r.Kind != Join
}

// Branch is a gate's choice.
type Branch uint8

// The choices. Undecided is also the branch of a row outside all branches.
const (
	Undecided Branch = iota
	Then
	Else
)

// Group is a limit on slots: of a parallel, of a map's items together, or of the run (the first one, if it has a limit).
type Group struct {
	Parent int32 // next limited group around it; -1: none
	Max    int32 // at least 1
	Map    int32 // map whose body contains the group, so that every item has its own; -1: none
}

// Class determines the status of its source for which an edge's target waits, and whether a failure of its source blocks it.
type Class uint8

// The classes of edges.
const (
	Needs   Class = iota // the source must be completed or skipped; its failure blocks
	Settles              // the source must be settled: the target, a conditional or a map around one, reads how it ended
	Sees                 // the source must be settled; its failure does not block, and is caught elsewhere
)

// Edge leads from a row to one that waits for it.
type Edge struct {
	From, To int32 // rows
	Class    Class // the status for which To waits
	Data     bool  // To's input names From's output
	Read     bool  // only an expression needs it, not the tree or a `needs`
	Guard    bool  // From is the gate around To
}

// OpKind is the way in which an operation is carried out.
type OpKind uint8

// The kinds of operations. The engine itself carries out all except Call, from the plan and the journal alone.
const (
	Call  OpKind = iota // carried out outside the engine: a binding or a registered operation
	Value               // returns its input
	Fail                // fails
	Sleep               // completes at an instant
	Wait                // completes with a message
)

// Operation is an operation that steps call by name.
type Operation struct {
	Name  string          // as steps call it
	Kind  OpKind          // how it is carried out
	Bound *template.Bound // nil when it is not bound in the document
}

// Row returns the row of a step, map or named conditional by its id. It reports false if there is none.
func (p *Plan) Row(id string) (int32, bool) {
	row, ok := p.rows[id]
	return row, ok
}

// Predecessors returns the rows with an edge to row, ascending. The slice belongs to the plan.
func (p *Plan) Predecessors(row int32) []int32 {
	return p.incoming[p.firstIn[row]:p.firstIn[row+1]]
}

// Outgoing returns the edges that leave row. The slice belongs to the plan.
func (p *Plan) Outgoing(row int32) []Edge {
	return p.Edges[p.Wiring.First[row]:p.Wiring.First[row+1]]
}

// Depth returns the number of maps around row, which is the number of indexes in an instance's key.
func (p *Plan) Depth(row int32) int {
	n := 0
	for m := p.Nodes[row].Map; m >= 0; m = p.Nodes[m].Map {
		n++
	}
	return n
}

// StepNames returns the names of the document's own steps, or of a world's machines, in the order written. A step in a map counts once.
func (p *Plan) StepNames() (names []string) {
	if routing := p.Workflow.Routing; routing != nil {
		return routing.StepNames()
	}
	for i := range p.Nodes {
		if n := &p.Nodes[i]; n.Kind == Step {
			names = append(names, n.Key)
		}
	}
	return names
}

// OnBlocked returns the policy for a blocked run: the document's, else usual; "" for a tree of steps, which never blocks.
func (p *Plan) OnBlocked(usual string) string {
	if routing := p.Workflow.Routing; routing != nil {
		return string(routing.OnBlocked(template.OnBlocked(usual)))
	}
	return ""
}

// Warnings returns the parts of the document that are valid, but probably mistakes.
func (p *Plan) Warnings() document.Errors {
	own := p.Checked.Warnings
	if routing := p.Workflow.Routing; routing != nil {
		own = routing.Lints()
	}
	list, _ := document.Join(own.Err(), advice.Of(p.Checked).Err()).(document.Errors)
	return list
}
