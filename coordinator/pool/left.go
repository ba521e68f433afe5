package pool

import (
	"fmt"
	"slices"
)

// Calls are left if their functions have not returned when their runs leave memory.

func (p *Pool) leave(calls []*Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range calls {
		if c != nil && !c.returned.Load() {
			p.left[c] = true
		}
	}
}

// found removes calls that have returned after all.
func (p *Pool) found(calls []*Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range calls {
		delete(p.left, c)
	}
}

// Left names the calls that have not returned though their runs have left memory.
func (p *Pool) Left() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.left {
		name := fmt.Sprintf("run %s: step %s, attempt %d", c.run.ID, c.Step, c.Of.Attempt)
		if c.Of.Participant != "" {
			name += ", participant " + c.Of.Participant
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
