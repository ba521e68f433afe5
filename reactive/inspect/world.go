package inspect

import (
	"github.com/sluiceflow/sluice/reactive/world"
)

// CellsMax bounds the cells in the state of a world.
const CellsMax = 100

// World is the state of a world's run.
type World struct {
	Tally world.Tally          // since the start of the run
	Count int                  // number of cells
	By    map[world.Status]int // number of cells by status
	Held  int                  // number of paused cells
	Cells []world.CellState    // at most CellsMax: first the failed or paused ones, then the others, each by address
}

// worldState describes a world.
func worldState(w *world.World) *World {
	s := &World{Tally: w.Tally(), By: map[world.Status]int{}}
	var others []world.CellState
	for c := range w.Cells() {
		s.Count++
		s.By[c.Status]++
		if c.Paused {
			s.Held++
		}
		switch first := c.Paused || c.Status == world.Failed; {
		case first && len(s.Cells) < CellsMax:
			s.Cells = append(s.Cells, c)
		case !first && len(others) < CellsMax:
			others = append(others, c)
		}
	}
	s.Cells = append(s.Cells, others[:min(len(others), CellsMax-len(s.Cells))]...)
	return s
}
