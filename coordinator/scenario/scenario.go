package scenario

import (
	"time"

	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Kind is the kind of the documents that this package reads.
const Kind = "Scenario"

// Scenario is one document of kind Scenario. It is immutable, can be run any number of times and is safe for concurrent
// use.
type Scenario struct {
	Name string
	Pos  document.Pos // where its document begins

	workflow  *document.Node // inline, or the path of its file
	input     value.Value
	start     time.Time
	until     time.Duration
	answers   map[string]answers // by the name they are scripted under
	decisions map[string]answers // by step
	directory *template.Directory
	timeline  []entry
	expect    *expectation
}

// answers is what is scripted under one name: a list of answers, or one for each participant.
type answers struct {
	list         []answer
	participants map[string][]answer // nil: list serves whoever is asked
}

// answer is how one call ends.
type answer struct {
	after       time.Duration
	output      value.Value
	failure     *journal.Failure // nil: output is the answer
	never       bool             // there is none
	unreachable bool             // the participant cannot be asked at all
	deliver     int              // how often the answer comes in
	about       map[string]any   // what it tells beside its output
	frames      []frame          // what it reports before
}

// frame is a report of a call that is under way.
type frame struct {
	after   time.Duration // since the call was made
	kind    string
	payload value.Value
}

// entry is something that happens, or is expected, at an instant of the timeline.
type entry struct {
	pos       document.Pos
	at        time.Duration // since the start
	kind      string        // the key that says what happens
	wish      journal.Event // what is put before the run, for the kinds that do
	down      time.Duration // of a crash: how long the engine is away
	directory *template.Directory
	expect    *expectation
}

// Where a scenario takes place unless it says otherwise.
var startDefault = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const untilDefault = 30 * 24 * time.Hour
