package scenario

import "github.com/sluiceflow/sluice/coordinator/scenario/script"

// cast is the script while it is performed: whose turn it is to answer, and with what.
//
// A request gets one answer, fixed when it is first made; repeating it, after a crash, takes nothing.
type cast struct {
	operations script.Parts
	decisions  script.Parts
	asked      map[string]bool // by request id
}

func newCast(s *Scenario) *cast {
	return &cast{operations: s.answers.Parts(), decisions: s.decisions.Parts(), asked: map[string]bool{}}
}

// first reports whether a request is made for the first time.
func (c *cast) first(request string) bool {
	known := c.asked[request]
	c.asked[request] = true
	return !known
}
