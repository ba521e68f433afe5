package pool

import (
	"slices"

	"github.com/sluiceflow/sluice/coordinator/registry"
	"github.com/sluiceflow/sluice/reactive"
)

// A call that leaves the process counts towards the room of calls or that of calls to decision sources, and, if it runs a
// program, also towards the room of programs of either kind. Child runs and pure operations need no room: otherwise a child
// run's calls could wait for room that its own call holds. Decision sources have separate room, because calls may wait for
// their decisions.
const (
	inCalls = iota
	inPrograms
	inDeciders
	inDecidingPrograms
	roomKinds
)

// programsMax is the default bound of concurrent programs.
const programsMax = 256

// counts is the set of bounds that a call counts towards, a bit each.
type counts uint8

const (
	asCall     counts = 1 << inCalls
	asProgram  counts = 1 << inPrograms
	asDecider  counts = 1 << inDeciders
	asDeciding counts = 1 << inDecidingPrograms // program
)

// countsAs maps the room of a step's call to the bounds it counts towards.
var countsAs = [reactive.NoRoom]counts{reactive.CallRoom: asCall, reactive.ProgramRoom: asCall | asProgram}

// acquire acquires room for a call under all its bounds, or under none.
func (p *Pool) acquire(in counts, r *Run) bool {
	for i := range p.room {
		if in>>i&1 != 0 && !p.room[i].acquire(r) {
			p.release(in&(1<<i-1), 1)
			return false
		}
	}
	return true
}

// release releases the room of n calls.
func (p *Pool) release(in counts, n int) {
	for i := range p.room {
		if in>>i&1 != 0 {
			p.room[i].release(n)
		}
	}
}

// bounds reports whether calls of a workflow may have to wait for room.
func (p *Pool) bounds(of *registry.Entry) bool {
	programs := p.room[inPrograms].max > 0
	return p.room[inCalls].max > 0 || slices.ContainsFunc(of.Performers, func(p *registry.Performer) bool {
		return p != nil && (p.Worker || programs && p.Program)
	})
}

// rooms returns the kind of room that calls of each operation need.
func rooms(e *registry.Entry) []reactive.Room {
	list := make([]reactive.Room, len(e.Performers))
	worker := reactive.WorkerRoom
	for i, p := range e.Performers {
		switch {
		case p != nil && p.Worker:
			list[i] = worker
			worker++
		case p == nil || p.Roomless():
			list[i] = reactive.NoRoom
		case p.Program:
			list[i] = reactive.ProgramRoom
		}
	}
	return list
}

// ReleaseRoom releases the room of calls that have ended, and of their answers. An abandoned call keeps its room until it ends.
func (p *Pool) ReleaseRoom(ended []*Call) {
	var n [roomKinds]int
	for _, c := range ended {
		for i := range n {
			n[i] += int(c.room >> i & 1)
		}
		c.room = 0 // the call may be put back and returned again
		p.answers.putBack(c)
	}
	for i := range n {
		p.room[i].release(n[i])
	}
}
