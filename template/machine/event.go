package machine

import (
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/expr"
	"github.com/sluiceflow/sluice/template/value"
)

// EventKind is the kind of an event that a cell takes.
type EventKind uint8

// The kinds of events.
const (
	Message  EventKind = iota // from outside or raised by a machine
	Receipt                   // the outcome of a call
	Rejected                  // the outcome of a call whose answer did not fit
	Frame                     // a report of a call under way
	Timer                     // a timer
)

// String returns the name of the kind in messages.
func (k EventKind) String() string {
	return [...]string{"message", "receipt", "rejection", "frame", "timer"}[k]
}

// Event is the event of one activation.
type Event struct {
	Kind  EventKind   // decides the meaning of Name and Value
	Name  string      // a message's type, or the type of its arm; a timer's name; else the effect
	Value value.Value // that rules see as event
}

// Delivery is an event on its way to a cell.
type Delivery struct {
	Machine *Machine    // of the cell
	Key     value.Value // in normal form; nil: the machine has no key
	Event   Event       // that the cell takes
}

// Routed is a message that fits: in normal form, with the cells it goes to.
type Routed struct {
	Name    string      // as it was sent
	Payload value.Value // in normal form, of the type of that name
	To      []Delivery  // in the order of the subscriptions; each cell once
}

// Input is all that an activation depends on.
type Input struct {
	Machine *Machine    // of the cell
	Key     value.Value // of the cell; nil: it has none
	State   value.Value // in normal form; nil: none
	Event   Event       // that the cell takes
	Now     int64       // nanoseconds since 1970
	Seq     uint64      // of the activation's own event in the journal
	Seed    [32]byte    // of the world
}

// Output is the output of an activation. It takes effect as a whole.
type Output struct {
	Ignored   bool        // no rule for the event holds; nothing else is set
	Changed   bool        // the state is another than before
	State     value.Value // if Changed: the new state in normal form; nil: deleted
	Raised    []Raised    // in order
	Emitted   []Emission  // in order
	Dropped   []Drop      // in order
	Completed bool        // the cell has ended
	Note      value.Value // if Noted: in normal form
	Noted     bool        // there is a note, possibly null
}

// Raised is a message that an activation sends.
type Raised struct {
	Name  string      // a type
	Value value.Value // in normal form
	To    []Delivery  // in the order of the subscriptions
}

// Emission is an effect, or a timer, that an activation asks for.
type Emission struct {
	Effect *Effect     // nil: a timer
	Params value.Value // of an effect, in normal form
	Issuer string      // named in its receipt; "": none
	Key    string      // idempotency key that the machine asks for; "": none
	Timer  string      // name of the timer
	Due    int64       // of a timer: nanoseconds since 1970
}

// Drop names open intents of the cell that it no longer waits for.
type Drop struct {
	Effect string // timer for timers
	Issuer string // "": all of the effect; of a timer: its name
}

// String returns the drop as it is written.
func (d Drop) String() string {
	if d.Issuer == "" {
		return d.Effect
	}
	return d.Effect + "." + d.Issuer
}

// Failure is the reason why an activation, and so its cell, fails.
type Failure struct {
	Code    string // see below
	Message string // for people
	Stack   string // of a panic; "": none
}

// Error returns the code and the message.
func (f *Failure) Error() string {
	if f.Message == "" {
		return f.Code
	}
	return f.Code + ": " + f.Message
}

// The codes of failures.
const (
	CodeEffectUndeclared = "effect_undeclared"  // an effect that the machine does not declare
	CodeParamsInvalid    = "params_invalid"     // params that do not fit
	CodeOutputInvalid    = "output_invalid"     // a state, message, timer or note that does not fit
	CodeLimitExceeded    = "limit_exceeded"     // more than an activation may return, or than its work may cost
	CodeStepFailed       = "step_failed"        // an expression that fails, or a step in Go that returns an error
	CodeStepPanicked     = "step_panicked"      // a step in Go that panics or ends its goroutine
	CodeStepImpure       = "step_impure"        // the result of a step in Go differs the second time
	CodeTimeout          = "activation_timeout" // a step in Go that takes too long
)

// Limits of one activation.
const (
	EmittedMax = 64      // effects and timers
	RaisedMax  = 256     // messages
	OutputMax  = 1 << 20 // bytes of the encodings of its output
)

// KeyBytesMax bounds the encoding of a cell's key, in bytes: each event about the cell holds its address.
const KeyBytesMax = 4 << 10

// Rule is one line of a machine: its events, its condition, and its consequences.
type Rule struct {
	On       On             // its event
	When     *expr.Template // nil: always
	Set      []Field        // laid over the state
	SetAll   *expr.Template // in place of Set: the fields, or a state that has none
	Raise    []RaiseRule    // messages
	Emit     []EmitRule     // effects and timers
	Drop     []Drop         // before emissions
	Complete bool           // the cell has ended
	Delete   bool           // the state goes
	Fail     *FailRule      // the cell fails; nothing else follows
	Note     *expr.Template // nil: none
	Pos      document.Pos   // where it was written

	doc map[string]any // in canonical form
}

// On selects the events of a rule.
type On struct {
	Kind   EventKind // of the event
	Name   string    // a message's type, an effect, or timer; "": any
	Issuer string    // of a receipt, or the name of a timer; "": any
	Whole  bool      // a message named as the variant: the rule sees the arm too
}

// RaiseRule raises a message.
type RaiseRule struct {
	Event string         // a type
	Value *expr.Template // null if left out
}

// EmitRule emits an effect or arms a timer.
type EmitRule struct {
	Effect string         // "": a timer
	Params *expr.Template // null if left out
	Issuer *expr.Template // nil: none
	Key    *expr.Template // nil: none
	Timer  string         // name of the timer
	For    *expr.Template // a duration from now; nil: Until
	Until  *expr.Template // an instant
}

// FailRule fails the cell.
type FailRule struct {
	Code    *expr.Template // a text
	Message *expr.Template // a text; nil: none
}
