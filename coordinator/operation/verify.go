package operation

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// AboutSignature is the key of Reply.About for the signature of an answer. A receipt has it as its signature.
const AboutSignature = call.AboutSignature

// CodeBadSignature is the code of a call whose answer a Verifier has refused.
const CodeBadSignature = "bad_signature"

// Verifier judges the answers to the effects of worlds, by their signatures, before they are taken: of an answer that it
// refuses, only the refusal is journaled. It judges only the answers of operations and bindings that are called, each participant's
// by itself. Failures, reports, decisions and results of the engine itself (sleep, wait, value) have no signatures.
//
// Verify is called from many goroutines at once, on the goroutine that has made the call and within the time of the attempt. It is
// never called when a run is recovered: a taken answer stays taken.
type Verifier interface {
	// Verify returns nil for an answer that may be taken. Any other error is the call's failure bad_signature, with the text and
	// the details of the error; it is tried again like other failures, unless it is Permanent. A panic fails the call with the
	// code panic.
	//
	// The call is that of the operation: its context, its key and its input. The verifier may keep the answer, but neither it nor
	// the call's input may be changed.
	Verify(c *Call, a *Answer) error
}

// Answer is an answer to an effect of a world, to be judged by a Verifier.
type Answer struct {
	World     string      // name of the world; the call has the id of its run
	Manifest  string      // hash of the world's document, sha256:…
	Effect    string      // name of the effect
	Payload   []byte      // the receipt's payload in its canonical encoding, whose SHA-256 names it; of a participant, its output
	Signature value.Value // as the operation returned it, a text for []byte; nil: the answer has none
}

// Verdict returns the failure of a call whose answer a Verifier has refused with an error.
func Verdict(err error) *journal.Failure {
	f := ResultOf(nil, settledError(err)).Failure
	return &journal.Failure{Code: CodeBadSignature, Message: f.Message, Details: f.Details, Retryable: f.Retryable}
}
