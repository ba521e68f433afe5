package playbook

// Invariants gives every invariant of a playbook that does not hold.
func Invariants(p *Playbook) error { return p.check() }
