package pool

import (
	"fmt"
	"slices"
)

// addUnreturned records the calls of a run leaving memory that have not returned.
func (p *Pool) addUnreturned(calls []*Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range calls {
		if c != nil && !c.returned.Load() {
			p.unreturned[c] = true
		}
	}
}

// removeUnreturned removes calls that have returned.
func (p *Pool) removeUnreturned(calls []*Call) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range calls {
		delete(p.unreturned, c)
	}
}

// unreturnedMax bounds the names that Unreturned returns.
const unreturnedMax = 20

// Unreturned names the program's code that has not returned: calls whose runs have left memory, steps that were abandoned, and
// code that the given runs have called on their own goroutines. It counts the names beyond unreturnedMax.
func (p *Pool) Unreturned(runs []string) []string {
	names := p.unreturnedCalls()
	for _, id := range runs {
		names = append(names, fmt.Sprintf("run %s: Go code that the run itself has called", id))
	}
	if more := len(names) - unreturnedMax; more > 0 {
		names = append(names[:unreturnedMax], fmt.Sprintf("%d more", more))
	}
	return names
}

// unreturnedCalls names the calls that have not returned though their runs have left memory, and the abandoned steps.
func (p *Pool) unreturnedCalls() (names []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.unreturned {
		name := fmt.Sprintf("run %s: step %s, attempt %d", c.run.ID, c.Step, c.Of.Attempt)
		if c.Of.Participant != "" {
			name += ", participant " + c.Of.Participant
		}
		names = append(names, name)
	}
	for _, name := range p.abandoned {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
