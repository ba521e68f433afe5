package playbook

// FanOutWork determines the fan-outs of a playbook's joins again, and returns the number of steps visited.
func FanOutWork(p *Playbook) int { return p.findFanOuts().work }

// Invariants returns every violated invariant of a playbook.
func Invariants(p *Playbook) error { return p.check() }
