package scenario

import "github.com/sluiceflow/sluice/coordinator/scenario/script"

// answers records the scripted answers that a run of the scenario has used.
//
// A request gets one answer, chosen when it is first made; repeating it, after a crash, uses none.
type answers struct {
	operations script.Parts
	decisions  script.Parts
	asked      map[string]bool // by request id
}

func newAnswers(s *Scenario) *answers {
	return &answers{operations: s.answers.Parts(), decisions: s.decisions.Parts(), asked: map[string]bool{}}
}

// first reports whether a request is made for the first time.
func (c *answers) first(request string) bool {
	known := c.asked[request]
	c.asked[request] = true
	return !known
}
