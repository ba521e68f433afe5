package playbook

// FanOutWork finds out again what the joins of a playbook answer to, and gives the number of steps that it has looked at.
func FanOutWork(p *Playbook) int { return p.findFanOuts().work }

// Invariants returns every invariant of a playbook that does not hold.
func Invariants(p *Playbook) error { return p.check() }
