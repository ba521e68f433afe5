package feed

import (
	"github.com/sluiceflow/sluice/coordinator"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// state is an observed run after an event, with the parts that snapshots show.
type state struct {
	Run, Workflow, Hash, Status string
	Seq, Revision               uint64

	steps entries[StepStatus]
	maps  entries[MapCount]
	net   entries[NetStep]
}

// entries is a list in which each key has one entry, in the order in which they came.
type entries[T any] struct {
	list  []T
	in    []string // of each entry: key of the map in whose item it is; "": none
	place map[string]int
}

func (e *entries[T]) put(key, in string, entry T) {
	if e.place == nil {
		e.place = map[string]int{}
	}
	at, known := e.place[key]
	if !known {
		at = len(e.list)
		e.place[key], e.list, e.in = at, append(e.list, entry), append(e.in, in)
	}
	e.list[at] = entry
}

// shown returns the entries that an observer receives.
func (e *entries[T]) shown(w *wants) []T {
	list := []T{}
	for i := range e.list {
		if w.shows(e.in[i]) {
			list = append(list, e.list[i])
		}
	}
	return list
}

func newState(run string) state { return state{Run: run} }

// apply applies an update to the state.
func (s *state) apply(u *coordinator.Update) {
	s.Seq, s.Status = u.Event.Seq, string(u.Status)
	if d := u.Event.Detail; d != nil && d.Start != nil {
		s.Workflow, s.Hash = d.Start.Name, d.Start.Workflow
	}
	if u.Event.Type == journal.RunMoved {
		s.begin(u)
	}
	for _, list := range [2][]coordinator.StepChange{u.Changes, u.Again} {
		for i := range list {
			s.steps.put(list[i].Step, list[i].Map, statusOfStep(&list[i]))
		}
	}
	maps, in := mapsOf(u)
	for i := range maps {
		s.maps.put(maps[i].Map, in[i], maps[i])
	}
	for i := range u.Net {
		s.net.put(u.Net[i].Step, "", netStepOf(&u.Net[i]))
	}
	if u.Revised {
		s.Revision = u.Event.Seq
	}
}

// begin forgets the parts that the update of a move replaces: all steps that are not idle, or the whole net.
func (s *state) begin(u *coordinator.Update) {
	if len(u.Changes) > 0 {
		s.steps, s.maps = entries[StepStatus]{}, entries[MapCount]{}
	}
	if len(u.Net) > 0 {
		s.net = entries[NetStep]{}
	}
}

// shown returns the data of a snapshot.
func (s *state) shown(w *wants) any {
	if w.view == Net {
		return NetSnapshot{Run: s.Run, Seq: s.Seq, Workflow: s.Workflow, Hash: s.Hash, Status: s.Status, Net: s.net.shown(w), Revision: s.Revision}
	}
	return Snapshot{Run: s.Run, Seq: s.Seq, Workflow: s.Workflow, Hash: s.Hash, Status: s.Status, Steps: s.steps.shown(w), Maps: s.maps.shown(w)}
}
