package expr

// Field is a readable field of a step.
type Field uint8

// The fields of a step, as written in the language: status, output, error, fulfillment and reports.
const (
	Status      Field = iota // its status, a string
	Output                   // its output; an error unless it has completed
	Failure                  // `error`: code, message and details of its failure, or null
	Fulfillment              // whether its task is done, or null
	Reports                  // the last reports of its newest attempt: number, kind, payload and participant of each
)

var fieldNames = []string{Status: "status", Output: "output", Failure: "error", Fulfillment: "fulfillment", Reports: "reports"}

// String returns the field's name in the language.
func (f Field) String() string { return fieldNames[f] }

// fieldOf returns the field called name.
func fieldOf(name string) (Field, bool) {
	for f, known := range fieldNames {
		if name == known {
			return Field(f), true
		}
	}
	return 0, false
}

// Read is one read of a step's field in a template.
type Read struct {
	Step      string // id
	Field     Field  // of the step that is read
	Defaulted bool   // on the left of ??, which replaces a missing output
	Optional  bool   // a from pointer that is not required: the output of a skipped step is null
	Bare      bool   // on the left of ??, with no member of the output: the default can only replace a missing output
	Pointer   string // JSON pointer to the string within the value that was compiled; "" for the value itself
	Offset    int    // in bytes, from the beginning of that string
	Text      string // as written, for example steps.split.output
}
