package scenario

import "github.com/sluiceflow/sluice/coordinator/scenario/script"

// answers records the used answers of the script.
//
// A request gets one answer, chosen when the run first makes the request. Repeating the request after a crash uses no further answer.
type answers struct {
	operations script.Parts
	decisions  script.Parts
	asked      map[string]bool // by request id
}

func newAnswers(s *Scenario) *answers {
	return &answers{operations: s.answers.Parts(), decisions: s.decisions.Parts(), asked: map[string]bool{}}
}

// first reports whether the request is new, and records it.
func (c *answers) first(request string) bool {
	known := c.asked[request]
	c.asked[request] = true
	return !known
}
