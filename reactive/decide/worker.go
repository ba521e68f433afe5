package decide

import (
	"slices"

	"github.com/sluiceflow/sluice/reactive"
	"github.com/sluiceflow/sluice/reactive/journal"
)

// wants notes that there is no room for the call of a ready node, if a worker would have it.
func wants(s *Stepper, v int32, room reactive.Room) {
	if room >= reactive.WorkerRoom && len(s.wanting) < journal.WaitsMax {
		s.wanting = append(s.wanting, v)
	}
}

// Head returns the run's entry in a list of runs. The run's waits for workers follow from no event: the last step returned them.
func (s *Stepper) Head() journal.Head {
	h := HeadOf(s.root)
	s.said = forWorkers(s)
	h.Waits = append(h.Waits, s.said[:min(len(s.said), journal.WaitsMax-len(h.Waits))]...)
	return h
}

// Unsaid reports whether the run of a stepper waits for other workers than its last head says.
func Unsaid(s *Stepper) bool {
	return len(s.wanting)+len(s.said) > 0 && !slices.Equal(forWorkers(s), s.said)
}

// forWorkers returns the waits for workers as of the last step.
func forWorkers(s *Stepper) (list []journal.Wait) {
	if s.root.Finished() != nil || s.root.Paused() {
		return nil
	}
	for _, v := range s.wanting {
		if s.root.Status(v) != reactive.Absent {
			list = append(list, journal.Wait{Kind: journal.WaitWorker, Name: s.root.Operation(v).Name, Step: s.root.Key(v)})
		}
	}
	return list
}
