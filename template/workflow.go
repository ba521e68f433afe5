package template

import (
	"time"

	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Workflow is a definition: a tree of steps and the settings of the whole run. It is plain data, isomorphic to a document of
// kind Workflow: the Go builder and the reader both make it, and its JSON is the document again. A program may also write it as
// a literal: Check replaces zero fields by the documented defaults. A Workflow must not change once it has been checked; from
// then on it is safe for concurrent use.
type Workflow struct {
	Name           string             // not empty
	Version        string             // shown to people; identity is the hash of the canonical document
	Input          value.Value        // JSON Schema of the run's input; nil accepts anything
	Deadline       time.Duration      // of the whole run, from its first call; 0: none
	FailurePolicy  FailurePolicy      // Default: ContinueRunning
	MaxConcurrency int                // slots of the whole run; 0: no limit
	Operations     map[string]Binding // the bindings by name; a name without one is registered in Go
	Directory      *Directory         // the participants; nil: none, or those that the program supplies
	Steps          []Node             // a sequence
	Output         value.Value        // the run's output, expressions anywhere in it
	HasOutput      bool               // distinguishes an output of null from no output

	Routing Routing // determines the order of the steps in place of the tree; nil: the tree does

	Pos document.Pos // where it was written: a document, or the Go code that built it

	funcs    map[string]*Function // the builder's functions, by the names in the tree's Funcs
	provided map[string]any       // implementations of operations, by name
	children map[string]*Workflow // workflows that bindings refer to by name
	input    *document.Node       // the schema as written, compiled on demand
	source   *document.Node       // the document, for the places of errors; nil when built in Go
	refused  map[string]bool      // paths the reader has reported, which Check does not report again
	moved    map[string]string    // paths in a document of another kind, by the path in the tree; see Reader.Moved
}

// Routing determines the order of a workflow's calls in place of its tree. The steps of the tree are then only the call sites,
// as for the routed steps of a playbook.
type Routing interface {
	// Kind returns the kind of the documents that the Routing is read from.
	Kind() string

	// Document returns the document that the Routing was read from, in canonical form. It is also the document of the workflow.
	Document() value.Value

	// Tools returns the names of the built-in operations of its documents, for suggestions.
	Tools() []string

	// Requires returns the operations that must be known even if no step of the workflow calls them, in the order written.
	Requires() []Requirement

	// StepNames returns the names of the document's own steps, in the order written.
	StepNames() []string

	// CallSite returns the call site of a step of the workflow, by the step's number in the order of the tree.
	CallSite(number int) CallSite

	// Lints returns warnings: parts of the document that are valid, but probably mistakes.
	Lints() document.Errors

	// OnBlocked returns the policy for a blocked run. usual applies if the document has none; "" means the default.
	OnBlocked(usual OnBlocked) OnBlocked
}

// CallSite describes a step of a routed workflow's tree.
type CallSite struct {
	Step, Task, Kind string // name of the step, label and kind of the task
	Input            any    // the input of its operation, as a template; nil: none
	Unread           bool   // no expression of the document can read the operation's answer
}

// OnBlocked is the effect on a routed run that is blocked: only work that the run itself holds back is left.
type OnBlocked string

// The effects of a blocked run.
const (
	BlockedWaits    OnBlocked = "wait"
	BlockedFails    OnBlocked = "fail"
	BlockedDiscards OnBlocked = "discard"
)

// Requirement is an operation that a workflow requires.
type Requirement struct {
	Operation string       // name
	Pos       document.Pos // of the requirement
}

// FailurePolicy is the effect of a final failure on steps that are already running.
type FailurePolicy string

// The failure policies.
const (
	ContinueRunning FailurePolicy = "continue-running" // only steps that have not started are aborted
	AbortDependents FailurePolicy = "abort-dependents" // running dependents are aborted, too
	AbortAll        FailurePolicy = "abort-all"        // the first uncaught failure ends the run
)

// Node is one of *Step, *Sequential, *Parallel, *Conditional, *Map.
type Node interface{ pos() document.Pos }

func (s *Step) pos() document.Pos        { return s.Pos }
func (s *Sequential) pos() document.Pos  { return s.Pos }
func (p *Parallel) pos() document.Pos    { return p.Pos }
func (c *Conditional) pos() document.Pos { return c.Pos }
func (m *Map) pos() document.Pos         { return m.Pos }

// Step calls an operation.
type Step struct {
	ID            string       // defaults to Operation
	Operation     string       // a name in Workflow.Operations, or one registered in Go
	Input         value.Value  // expressions anywhere in it; nil is null
	Func          *Func        // computes the input in Go, in place of Input; nil: none
	Needs         []string     // ids this step waits for, besides its place in the tree
	Target        *Target      // the participants to ask; nil: the operation itself
	FanIn         *FanIn       // combines the answers of several participants
	Timing        *Timing      // limits and retries; nil: none
	Fulfillment   *Fulfillment // decides whether the task is fulfilled; nil: an answer is enough
	NonIdempotent bool         // written `idempotent: false`: a call under way at a crash fails with `interrupted`

	Pos document.Pos // where it was written; zero: built in Go
}

// Sequential runs its steps one after the other.
type Sequential struct {
	Steps []Node       // each waits for the one before it
	Pos   document.Pos // where it was written; zero: built in Go
}

// Parallel runs its steps side by side.
type Parallel struct {
	Steps          []Node       // started together
	MaxConcurrency int          // slots of the group; 0: no limit
	Pos            document.Pos // where it was written; zero: built in Go
}

// Conditional runs Then or Else. It catches the failures that Test reads.
type Conditional struct {
	ID   string       // optional name; the decision can be looked up under it
	Test string       // a guard `{{ … }}` (see package expr), or a bare step id: “its status is completed”
	Func *Func        // decides in Go, in place of Test; nil: none
	Then []Node       // run if the test holds
	Else []Node       // run if it does not; nil: nothing
	Pos  document.Pos // where it was written; zero: built in Go
}

// Map runs Steps once for each item of a list that is known at run time.
type Map struct {
	ID             string       // not empty
	Over           value.Value  // an expression that returns a list, or a list with expressions in it
	Func           *Func        // returns the list in Go, in place of Over; nil: none
	As             string       // the item's name in expressions. Default: item
	Steps          []Node       // run for each item, at least one
	MaxConcurrency int          // slots of all items together; 0: no limit
	Pos            document.Pos // where it was written; zero: built in Go
}

// Func refers to a Go function, which decides a conditional, returns a list or computes an input if an expression does not
// suffice. The document contains its name, under which the program that builds the workflow registers the function.
type Func struct {
	Name string        // of a registered Function
	Args []value.Value // its arguments; expressions anywhere in them
	Pos  document.Pos  // where it was written; zero: built in Go
}
