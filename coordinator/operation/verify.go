package operation

import (
	"github.com/sluiceflow/sluice/reactive/call"
	"github.com/sluiceflow/sluice/reactive/journal"
	"github.com/sluiceflow/sluice/template/value"
)

// AboutSignature is the key in Reply.About of the signature of an answer. The receipt of the answer has the same signature.
const AboutSignature = call.AboutSignature

// CodeBadSignature is the failure code of a call after a Verifier has refused the answer.
const CodeBadSignature = "bad_signature"

// Verifier verifies the signatures of answers to the effects of worlds before the answers are taken. If it refuses an answer, only
// the refusal is journaled. It verifies the answers of called operations and bindings, and the answer of each participant separately.
// Failures, reports, decisions and results of the engine itself (sleep, wait, value) have no signatures.
//
// Verify is called from many goroutines at once: on the goroutine that made the call, and within the time of the attempt. It is not
// called when a run is recovered: a taken answer stays taken.
type Verifier interface {
	// Verify returns nil to accept the answer. A non-nil error fails the call with code bad_signature and the text and the details
	// of the error; the call is retried as after other failures, unless the error is Permanent. A panic fails the call with code
	// panic.
	//
	// c is the call of the operation, with its context, key and input. The verifier may keep the answer, but must change neither the
	// answer nor the input.
	Verify(c *Call, a *Answer) error
}

// Answer is an answer to an effect of a world, for a Verifier.
type Answer struct {
	World     string      // name of the world; the call has the id of its run
	Manifest  string      // hash of the world's document, sha256:…
	Effect    string      // name of the effect
	Payload   []byte      // the receipt's payload in its canonical encoding, whose SHA-256 names it; of a participant, its output
	Signature value.Value // as the operation returned it, a text for []byte; nil: the answer has none
}

// Verdict returns the failure of a call after a Verifier has refused its answer with err.
func Verdict(err error) *journal.Failure {
	f := ResultOf(nil, settledError(err)).Failure
	return &journal.Failure{Code: CodeBadSignature, Message: f.Message, Details: f.Details, Retryable: f.Retryable}
}
