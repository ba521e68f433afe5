package scenario

import "github.com/sluiceflow/sluice/coordinator/scenario/script"

// responder answers requests from the script of a running scenario.
//
// A request has one answer, fixed when it is first made; a repetition of the request, after a crash, takes no further
// answer.
type responder struct {
	operations script.Parts
	decisions  script.Parts
	asked      map[string]bool // by request id
}

func newResponder(s *Scenario) *responder {
	return &responder{operations: s.answers.Parts(), decisions: s.decisions.Parts(), asked: map[string]bool{}}
}

// first reports whether a request is new, and records it.
func (r *responder) first(request string) bool {
	known := r.asked[request]
	r.asked[request] = true
	return !known
}
