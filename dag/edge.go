package dag

import (
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Kind is the kind of a graph. It determines the edge types of the graph and the primary type, whose edges have the short edge
// key.
type Kind uint8

// The kinds of graph. The zero value is no kind, so that a missing kind is detected.
const (
	// TemplateGraph has the steps of a workflow as nodes. Edges: Sequential (primary), Conditional, Data.
	TemplateGraph Kind = iota + 1
	// CallGraph has the calls of a run as nodes. Edges: Triggered (primary), DependsOn.
	CallGraph
)

// EdgeType is the type of an edge. It determines the attributes that the edge may have. Every edge has a type.
type EdgeType uint8

// The edge types, grouped by kind of graph. The zero value is no type.
const (
	// Sequential orders two steps: the target waits until the source is satisfied. It is the primary type of a
	// TemplateGraph and has no guards.
	Sequential EdgeType = iota + 1
	// Conditional orders two steps and runs the target only if its guards hold. It has at least one guard.
	Conditional
	// Data orders two steps only because the target reads the source's output. DataFlow must be set.
	Data

	// Triggered leads from a call to a call that it made. It is the primary type of a CallGraph.
	Triggered
	// DependsOn records for observers that a call had to wait for another. It never drives execution.
	DependsOn

	edgeTypeEnd // one past the last type
)

// Names as they appear in JSON and in edge keys; part of the format, do not change.
var (
	kindNames     = [...]string{TemplateGraph: "template", CallGraph: "call"}
	edgeTypeNames = [...]string{
		Sequential: "sequential", Conditional: "conditional", Data: "data",
		Triggered: "triggered", DependsOn: "depends_on",
	}
)

// Errors that Build, Parse and Attributes.Check wrap; test for them with errors.Is.
var (
	// ErrKey means that a node key is empty, not valid UTF-8 or longer than KeyBytesMax.
	ErrKey = errors.New("dag: bad node key")
	// ErrDuplicateNode means that two nodes have the same key.
	ErrDuplicateNode = errors.New("dag: duplicate node")
	// ErrUnknownNode means that an end of an edge is not a node of the graph.
	ErrUnknownNode = errors.New("dag: unknown node")
	// ErrDuplicateEdge means that an edge's key is taken by an edge with other attributes.
	ErrDuplicateEdge = errors.New("dag: duplicate edge")
	// ErrEdgeType means that the type of an edge is missing, unknown or not of the graph's kind: the first step of validation.
	ErrEdgeType = errors.New("dag: bad edge type")
	// ErrAttributes means that the type of an edge does not allow its attributes: the second step.
	ErrAttributes = errors.New("dag: bad edge attributes")
	// ErrTooLarge means more nodes, edges or bytes of keys than dense 32-bit ids can number.
	ErrTooLarge = errors.New("dag: graph too large")
)

// FieldError names the invalid field. Path is its path from the value that was read or checked: "edges[3].attributes.negated"
// for a whole graph, "negated" for attributes alone.
type FieldError struct {
	Path string // "" for the value itself
	Err  error  // wraps one of the sentinels
}

func (e *FieldError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the reason, which wraps one of the sentinels.
func (e *FieldError) Unwrap() error { return e.Err }

// Guard is one condition that a Conditional edge depends on.
type Guard struct {
	// Condition is an expression or the name of a registered function, valid UTF-8 and not empty. The package
	// neither parses nor evaluates it.
	Condition string
	// Negated marks an else branch: the edge is taken when the condition does not hold.
	Negated bool
}

// Attributes are the properties of an edge besides its ends. Which fields may be set depends on Type; see the types.
type Attributes struct {
	// Type is required.
	Type EdgeType
	// DataFlow records that the target's input is known to name the source's output. False means “not proved”.
	DataFlow bool
	// Guards are the conditions that the edge depends on, all of them, the outermost first. Only Conditional edges have
	// guards. Guards that a Graph returns are shared and must not be modified.
	Guards []Guard
}

// Edge is one edge of a graph with its ends as node ids.
type Edge struct {
	From, To int32      // ids of nodes
	Attrs    Attributes // its type, and the fields that the type allows
}

// String returns the name used in JSON, or kind(n) for an unknown kind.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind(%d)", uint8(k))
	}
	return kindNames[k]
}

// Primary returns the type whose edges have the bare key "source->target" in a graph of this kind.
func (k Kind) Primary() EdgeType {
	if k == CallGraph {
		return Triggered
	}
	return Sequential
}

// String returns the name used in JSON and edge keys, or edge type(n) for an unknown type.
func (t EdgeType) String() string {
	if !t.known() {
		return fmt.Sprintf("edge type(%d)", uint8(t))
	}
	return edgeTypeNames[t]
}

// Kind returns the kind of graph that has edges of this type, 0 for an unknown type.
func (t EdgeType) Kind() Kind {
	switch {
	case !t.known():
		return 0
	case t >= Triggered:
		return CallGraph
	default:
		return TemplateGraph
	}
}

func (t EdgeType) known() bool { return t > 0 && t < edgeTypeEnd }

// parseEdgeType returns the type with a name. The empty name is not valid.
func parseEdgeType(name string) (EdgeType, error) {
	if i := slices.Index(edgeTypeNames[1:], name); i >= 0 {
		return EdgeType(i + 1), nil
	}
	return 0, fmt.Errorf("%w: %q is none of %q", ErrEdgeType, name, edgeTypeNames[1:])
}

// Check validates attributes in two steps: first that the type is present and known, then that it allows the other fields. The
// error is a *FieldError that wraps ErrEdgeType or ErrAttributes.
func (a Attributes) Check() error {
	if a.Type == 0 {
		return &FieldError{"edgeType", fmt.Errorf("%w: missing", ErrEdgeType)}
	}
	if !a.Type.known() {
		return &FieldError{"edgeType", fmt.Errorf("%w: %s", ErrEdgeType, a.Type)}
	}
	return a.checkSchema()
}

// checkSchema is the second step of Check: a.Type is known.
func (a Attributes) checkSchema() error {
	refuse := func(field, why string) error {
		return &FieldError{field, fmt.Errorf("%w: %s edge %s", ErrAttributes, a.Type, why)}
	}
	switch {
	case a.Type == Conditional && len(a.Guards) == 0:
		return refuse("condition", "needs a condition")
	case a.Type != Conditional && len(a.Guards) > 0:
		return refuse("condition", "has no condition")
	case a.Type == Data && !a.DataFlow:
		return refuse("dataFlow", "carries data by definition")
	case a.Type.Kind() == CallGraph && a.DataFlow:
		return refuse("dataFlow", "has no data flow")
	}
	for i, guard := range a.Guards {
		field := "condition"
		if len(a.Guards) > 1 {
			field = fmt.Sprintf("guards[%d].condition", i)
		}
		if guard.Condition == "" {
			return refuse(field, "has an empty condition")
		}
		if !utf8.ValidString(guard.Condition) {
			return refuse(field, "has a condition that is not valid UTF-8")
		}
	}
	return nil
}

// Label describes the guards, one per line, outermost first: "if ready", "unless total > 100". It is empty for an edge
// without guards.
func (a Attributes) Label() string {
	var text []byte
	for i, guard := range a.Guards {
		if i > 0 {
			text = append(text, '\n')
		}
		word := "if "
		if guard.Negated {
			word = "unless "
		}
		text = append(append(text, word...), guard.Condition...)
	}
	return string(text)
}
