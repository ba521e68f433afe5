package script

import (
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Script holds answers by name.
type Script map[string]answers

// answers are those of one name: a list of answers, or one for each participant.
type answers struct {
	list         []Answer
	participants map[string][]Answer // nil: list serves every participant
}

// Answer is how one call ends.
type Answer struct {
	After       time.Duration    // since the call was first made
	Output      value.Value      // nil: null
	Failure     *journal.Failure // nil: Output is the answer
	Never       bool             // there is none
	Unreachable bool             // the participant cannot be reached
	Deliver     int              // how often the answer comes in
	About       map[string]any   // metadata beside its output
	Frames      []Frame          // what it reports before
}

// DeliverMax is how often an answer may come in.
const DeliverMax = 1_000

// Frame is a report of a call that is under way.
type Frame struct {
	After   time.Duration // since the call was made
	Kind    string        // of the report
	Payload value.Value   // of the report
}
