package script

import (
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Script holds answers by name.
type Script map[string]answers

// answers are the answers of one name: a list, or one list for each participant.
type answers struct {
	list         []Answer
	participants map[string][]Answer // nil: list serves every participant
}

// Answer is a scripted answer to one call.
type Answer struct {
	After       time.Duration
	Output      value.Value
	Failure     *journal.Failure // nil: Output is the answer
	Never       bool             // the call is never answered
	Unreachable bool             // the participant cannot be reached
	Deliver     int              // how often the answer is delivered
	About       map[string]any   // metadata beside its output
	Frames      []Frame          // its reports before the answer
}

// DeliverMax bounds how often an answer may be delivered.
const DeliverMax = 1_000

// Frame is a report of a call under way.
type Frame struct {
	After   time.Duration // since the call was made
	Kind    string
	Payload value.Value
}
