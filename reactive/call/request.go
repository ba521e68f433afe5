package call

import (
	"strconv"

	"github.com/sluiceflow/sluice/reactive/journal"
)

// Request is a call to be made, as plain data: any process that has the operation can carry it out. It
// survives a round trip through value.Encode and value.DecodeInto, as Result does.
type Request struct {
	Run         string            // the run's id
	Node        string            // the step's key, such as `check[3]`
	Operation   string            // name
	Participant string            // participant of the call; "": none
	Attempt     int32             // of the step, from 1
	Decision    int32             // number of a call to the step's decision source; 0: a call of the step itself
	Making      int32             // of the attempt's call, from 1: one more than the newest making that has reported
	Input       any               // a value of package value, value.Raw, or the plain Go value another step returned; shared: it must not be changed
	Identity    *journal.Identity // identity that started the run; nil: none. Shared, like Input
	Asked       string            // replaces Node in the idempotency key, as a cell or a retry requested; "": Node
	Dir         string            // folder in which a program starts, and to which files are relative; "": the folder of the process
	Secrets     []string          // marks of secrets in Input; the secrets replace them when the call is made
}

// Key returns the idempotency key of the step, which is the same for its automatic retries and after a crash, until a
// retry replaces it.
func (r *Request) Key() string {
	if r.Decision != 0 {
		return r.Run + "/" + r.Node + "/?" + strconv.Itoa(int(r.Decision))
	}
	of := r.Node
	if r.Asked != "" {
		of = r.Asked
	}
	if r.Participant != "" {
		return r.Run + "/" + of + "/" + r.Participant
	}
	return r.Run + "/" + of
}
