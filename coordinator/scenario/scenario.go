package scenario

import (
	"time"

	"github.com/sluiceflow/sluice/coordinator/scenario/script"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template"
	"github.com/sluiceflow/sluice/template/document"
	"github.com/sluiceflow/sluice/template/value"
)

// Kind is the kind of the documents that this package reads.
const Kind = "Scenario"

// Scenario is one document of kind Scenario. It is immutable and safe for concurrent use, and can be run any number of times.
type Scenario struct {
	Name string       // as in the document
	Pos  document.Pos // of its document

	workflow  *document.Node // inline, or the path of its file
	input     value.Value
	start     time.Time
	until     time.Duration
	answers   script.Script // by the names in operations
	decisions script.Script // by step
	directory *template.Directory
	given     []givenCell
	timeline  []entry
	expect    *expectation
}

// entry is a command or an expectation of the timeline.
type entry struct {
	pos       document.Pos
	at        time.Duration   // since the start
	kind      string          // the key of the entry
	commands  []journal.Event // of an entry that is a command; several only of messages
	refused   []string        // texts in the error that refuses each command; nil: no refusal is expected
	down      time.Duration   // of a crash: time until the engine is back
	directory *template.Directory
	expect    *expectation
}

// The defaults of a scenario.
var startDefault = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const untilDefault = 30 * 24 * time.Hour
