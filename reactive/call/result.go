package call

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Result is the ending of a call as plain data: an output or a failure.
type Result struct {
	Output      any              // a value of package value, value.Raw, or a plain Go value; see operation.Settle
	About       map[string]any   // metadata of the output, such as the status of an HTTP answer; nil: nothing
	Failure     *journal.Failure // nil: the call was answered
	RetryAt     int64            // Unix nanoseconds; earliest instant of another attempt; 0: by the step's timing
	Unreachable bool             // the participant could not be asked
}

// AboutSignature is the key of Result.About for the signature of an answer.
const AboutSignature = "signature"

// Codes of failures that are not an operation's own.
const (
	CodeError           = "error" // of a failure without a code
	CodeAborted         = "aborted"
	CodeDeadline        = "deadline_exceeded"
	CodeInputResolution = "input_resolution"
)

// Bounds of a failure's code and of its message, in bytes.
const (
	CodeMax    = 256
	MessageMax = 64 << 10
)

// NewFailure returns a failure that is not retried. It cuts a code or message that is too long, and replaces invalid UTF-8.
func NewFailure(code, message string) *journal.Failure {
	return &journal.Failure{Code: clip(cmp.Or(code, CodeError), CodeMax), Message: clip(message, MessageMax)}
}

func clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= limit {
		return text
	}
	for !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit] + "…"
}
