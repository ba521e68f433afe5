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

// unreturnedMax bounds the names that Unreturned returns.
const unreturnedMax = 20

// Unreturned names the program's code that has not returned: the calls whose runs have left memory, and what the given runs have
// called themselves. Those beyond unreturnedMax are counted.
func (p *Pool) Unreturned(runs []string) []string {
	names := p.leftCalls()
	for _, id := range runs {
		names = append(names, fmt.Sprintf("run %s: Go code that the run itself has called", id))
	}
	if more := len(names) - unreturnedMax; more > 0 {
		names = append(names[:unreturnedMax], fmt.Sprintf("%d more", more))
	}
	return names
}

// leftCalls names the calls that have not returned though their runs have left memory.
func (p *Pool) leftCalls() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.left {
		name := fmt.Sprintf("run %s: step %s, attempt %d", c.run.id, c.Step, c.Of.Attempt)
		if c.Of.Participant != "" {
			name += ", participant " + c.Of.Participant
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
