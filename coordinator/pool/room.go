package pool

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
)

// What a call that leaves the process counts as is its room: of the calls, or of the calls to decision sources, and besides of the
// programs of either. Child runs and pure operations need none: what they wait for would otherwise be held up by their own room.
// Decision sources have room of their own, because what they decide may be what holds the calls up.
const (
	inCalls = iota
	inPrograms
	inDeciders
	inDecidingPrograms
	roomKinds
)

// programsMax is how many programs run at a time where Config does not say.
const programsMax = 256

// counts are what a call counts in, a bit each.
type counts uint8

const (
	asCall     counts = 1 << inCalls
	asProgram  counts = 1 << inPrograms
	asDecider  counts = 1 << inDeciders
	asDeciding counts = 1 << inDecidingPrograms // program
)

// countsAs says what a step's call counts in.
var countsAs = [reactive.NoRoom]counts{reactive.CallRoom: asCall, reactive.ProgramRoom: asCall | asProgram}

// take takes room for a call wherever it counts, or nowhere.
func (p *Pool) take(in counts, r *Run) bool {
	for i := range p.room {
		if in>>i&1 != 0 && !p.room[i].take(r) {
			p.release(in&(1<<i-1), 1)
			return false
		}
	}
	return true
}

// release returns the room of n calls.
func (p *Pool) release(in counts, n int) {
	for i := range p.room {
		if in>>i&1 != 0 {
			p.room[i].release(n)
		}
	}
}

// bounds reports whether there may be no room for calls of a workflow.
func (p *Pool) bounds(of *registry.Entry) bool {
	if p.room[inCalls].max > 0 {
		return true
	}
	return p.room[inPrograms].max > 0 && slices.ContainsFunc(of.Performers, func(p *registry.Performer) bool { return p != nil && p.Program })
}

// rooms says, by operation, what room its calls need.
func rooms(e *registry.Entry) []reactive.Room {
	list := make([]reactive.Room, len(e.Performers))
	for i, p := range e.Performers {
		switch {
		case p == nil || p.Roomless():
			list[i] = reactive.NoRoom
		case p.Program:
			list[i] = reactive.ProgramRoom
		}
	}
	return list
}

// Return returns the room of calls that have ended, and that of their answers. A call that was given up keeps its room until then.
func (p *Pool) Return(ended []*Call) {
	var n [roomKinds]int
	for _, c := range ended {
		for i := range n {
			n[i] += int(c.room >> i & 1)
		}
		c.room = 0 // it may be put back, and come again
		p.answers.putBack(c)
	}
	for i := range n {
		p.room[i].release(n[i])
	}
}
