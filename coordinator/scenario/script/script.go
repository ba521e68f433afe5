package script

import (
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// Script holds answers by name.
type Script map[string]answers

// answers holds the answers of one name: a list, or one for each participant.
type answers struct {
	list         []Answer
	participants map[string][]Answer // nil: list is for every participant
}

// Answer is the scripted end of one call.
type Answer struct {
	After       time.Duration    // since the call was first made
	Output      value.Value      // nil: null
	Failure     *journal.Failure // nil: Output is the answer
	Never       bool             // the call gets no answer
	Unreachable bool             // the participant cannot be reached
	Deliver     int              // number of times that the answer arrives
	About       map[string]any   // metadata
	Frames      []Frame          // reports before the answer
}

// DeliverMax bounds Answer.Deliver.
const DeliverMax = 1_000

// Frame is a report of a call in progress.
type Frame struct {
	After   time.Duration // since the call was made
	Kind    string        // of the report
	Payload value.Value   // of the report
}
