package routed

import "github.com/sluiceflow/sluice/template/value"

// WaitKind is the kind of a Wait.
type WaitKind string

// The kinds of waits.
const (
	AtGate   WaitKind = "gate"  // a token is denied until the context changes
	AtJoin   WaitKind = "join"  // tokens have arrived and others may still
	ForTurn  WaitKind = "turn"  // a token is admitted, and its step-run not yet scheduled
	ForCall  WaitKind = "call"  // a task's call: its node says more
	ForDelay WaitKind = "delay" // a task without a call is tried again later
	ForItems WaitKind = "items" // a loop's iterations
)

// Wait is something that a step waits for. Only the fields that its kind uses are set.
type Wait struct {
	Kind  WaitKind // determines the fields that are set
	Step  string   // name of the step that waits
	Since uint64   // sequence of the event that made it wait; 0: the call's node knows

	Token uint64                 // gate, turn
	Rule  int                    // gate: index of the rule that denies; -1: none holds
	Err   string                 // gate: why the rule could not be evaluated
	Reads map[string]value.Value // gate: what the rules read, as it is now

	Mode    string   // join
	FanOut  string   // join: the step-run whose fan-out it answers to
	Arrived []string // join: the steps that tokens have come from
	Live    int      // join: tokens and step-runs of that fan-out that may still arrive, those of fan-outs within it too

	Run       string // call, delay, items: key of the step-run
	Task      string // call, delay: label
	Iteration int    // from 0; -1: the step has no loop
	Node      int32  // call: its node
	Due       int64  // delay, Unix nanoseconds
	Done      int    // items: iterations that have ended
	Failed    int    // items: of those, how many have failed
	Total     int    // items
}
