package routed

import "github.com/sluiceflow/sluice/template/value"

// WaitKind is the kind of a Wait.
type WaitKind string

// The kinds of waits.
const (
	AtGate   WaitKind = "gate"  // a token is denied until the context changes
	AtJoin   WaitKind = "join"  // tokens have arrived and more may follow
	ForTurn  WaitKind = "turn"  // a token is admitted, but its step-run is not scheduled yet
	ForCall  WaitKind = "call"  // a task's call: see its node
	ForDelay WaitKind = "delay" // the retry of a task without a call
	ForItems WaitKind = "items" // a loop's iterations
)

// Wait describes one wait of a step. Only the fields that its kind uses are set.
type Wait struct {
	Kind  WaitKind // determines the fields that are set
	Step  string   // name of the step that waits
	Since uint64   // sequence of the event that began the wait; 0: see the node of the call

	Token uint64                 // gate, turn
	Rule  int                    // gate: index of the denying rule; -1: no rule holds
	Err   string                 // gate: error of the rule's evaluation
	Reads map[string]value.Value // gate: the current values that the rules read

	Mode    string   // join
	FanOut  string   // join: key of the step-run whose fan-out the join belongs to
	Arrived []string // join: the source steps of the arrived tokens
	Live    int      // join: tokens and step-runs of that fan-out, nested fan-outs included, that may still arrive

	Run       string // call, delay, items: key of the step-run
	Task      string // call, delay: label
	Iteration int    // from 0; -1: the step has no loop
	Node      int32  // call: its node
	Due       int64  // delay, Unix nanoseconds
	Done      int    // items: iterations that have ended
	Failed    int    // items: number of these that have failed
	Total     int    // items
}

// CodeBlocked is the code of the failure of a run in which tokens are left but none can move.
const CodeBlocked = "blocked"
